"""The data sets on which changes that must not matter are tried, in the convention of an evaluator."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tieproof.data import load_digits
from tieproof.kit import Array, IntArray
from tieproof.trials.audit.cases import CLASSES, DIMENSIONS, Case
from tieproof.trials.audit.examination import Examination

Vectors = tuple[Array, IntArray]  # embeddings and labels


def _random_vectors(random: np.random.Generator, count: int) -> Vectors:
    """Normal vectors in overlapping classes, without ties."""
    labels = random.permutation(np.arange(count) % CLASSES)
    centers = random.normal(size=(CLASSES, DIMENSIONS))
    return (centers[labels] + random.normal(size=(count, DIMENSIONS))).astype(np.float32), labels


def _tied_vectors(random: np.random.Generator, count: int) -> Vectors:
    """Vectors of three small whole numbers that tell a little about the class; many vectors are equal."""
    labels = random.permutation(np.arange(count) % CLASSES)
    vectors = random.integers(0, 3, size=(count, 3)) + np.stack([labels % 2, labels % 3, labels % 5], axis=1)
    return (vectors + 1).astype(np.float32), labels


def _digits(random: np.random.Generator, count: int) -> Vectors:
    """The first `count` of the handwritten digits in the package, or all of them if there are fewer."""
    pixels, labels = load_digits()
    return pixels[:count].astype(np.float32), labels[:count].astype(np.int64)


BYTE = 255  # the largest number that fits into a byte


def _bytes(random: np.random.Generator, count: int) -> Vectors:
    """Vectors of whole numbers from 0 to 255 in overlapping classes."""
    labels = random.permutation(np.arange(count) % CLASSES)
    centers = random.integers(0, 156, size=(CLASSES, DIMENSIONS))
    return (centers[labels] + random.integers(0, 100, size=(count, DIMENSIONS))).astype(np.float32), labels


DATA: dict[str, Callable[[np.random.Generator, int], Vectors]] = {
    "tied": _tied_vectors,
    "random": _random_vectors,
    "digits": _digits,
}
"""The data on which the changes that must not matter are tried."""

WHOLE = {"whole-number": _bytes}  # the data of whole numbers, for changes that are exact only on these
MOST_QUERIES = 60  # the most queries, for evaluators that take queries: a change that matters shows on a few of them


def data_case(examination: Examination, name: str, sizes: tuple[int, int] | None = None) -> Case:
    """The case of one of `DATA`, in the evaluator's convention; `sizes` for other numbers of items and queries.

    Evaluators of distances are given squared Euclidean distances d, and evaluators of scores 1 / (1 + d), which are
    equal where distances are; or, of whole numbers, d or 255 - d, where d is a whole number of 255ths of the largest.
    """
    random = examination.random("data", name)
    convention, options = examination.convention, examination.options
    count, queries = sizes or (options.items, min(options.queries, MOST_QUERIES))
    vectors, labels = (DATA | WHOLE)[name](random, count + queries)
    items, asked = vectors[queries:], vectors[:queries]
    case = Case(items, labels[queries:])
    if convention.kind == "gallery":
        case = replace(case, queries=asked, query_labels=labels[:queries])
    elif convention.kind == "scores":
        differences = items[:, None].astype(np.float64) - asked[None]
        distances: Array = np.einsum("ijk,ijk->ij", differences, differences)
        if name in WHOLE:
            distances = np.floor(distances * (BYTE / distances.max()))
            scores = distances if convention.ascending else BYTE - distances
        else:
            scores = distances if convention.ascending else 1 / (1 + distances)
        case = Case(scores, labels[queries:], query_labels=labels[:queries])
    return case.with_groups(random) if convention.grouped else case
