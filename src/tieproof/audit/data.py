"""Data whose embeddings tell something about the labels: tied vectors, random vectors, and handwritten digits."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tieproof.audit.cases import CLASSES, DIMENSIONS, Case, groups_of
from tieproof.audit.conventions import Convention
from tieproof.audit.examination import Examination
from tieproof.data import load_digits
from tieproof.ties import Array, IntArray

Vectors = tuple[Array, IntArray]
"""Embeddings and labels."""

MOST_QUERIES = 60
"""The most queries, for evaluators that take queries: a change that matters shows on a few of them."""


def random_vectors(random: np.random.Generator, count: int) -> Vectors:
    """Normal vectors in overlapping classes, without ties."""
    labels = random.permutation(np.arange(count) % CLASSES)
    centres = random.normal(size=(CLASSES, DIMENSIONS))
    return (centres[labels] + random.normal(size=(count, DIMENSIONS))).astype(np.float32), labels


def tied_vectors(random: np.random.Generator, count: int) -> Vectors:
    """Vectors of three small whole numbers that tell a little about the class; many vectors are equal."""
    labels = random.permutation(np.arange(count) % CLASSES)
    vectors = random.integers(0, 3, size=(count, 3)) + np.stack([labels % 2, labels % 3, labels % 5], axis=1)
    return (vectors + 1).astype(np.float32), labels


def digits(random: np.random.Generator, count: int) -> Vectors:
    """The first `count` of the handwritten digits in the package, or all of them if there are fewer."""
    pixels, labels = load_digits()
    return pixels[:count].astype(np.float32), labels[:count].astype(np.int64)


DATA: dict[str, Callable[[np.random.Generator, int], Vectors]] = {
    "tied": tied_vectors,
    "random": random_vectors,
    "digits": digits,
}
"""The data on which the changes that must not matter are tried."""


def data_case(examination: Examination, name: str) -> Case:
    """The case of one of `DATA`, in the evaluator's convention.

    Evaluators of distances are given squared Euclidean distances d, and evaluators of scores 1 / (1 + d), which are
    equal where distances are.
    """
    random = examination.random("data", name)
    convention, options = examination.convention, examination.options
    queries = min(options.queries, MOST_QUERIES)
    vectors, labels = DATA[name](random, options.items + queries)
    items, asked = vectors[queries:], vectors[:queries]
    case = Case(items, labels[queries:])
    if convention.kind == "gallery":
        case = replace(case, queries=asked, query_labels=labels[:queries])
    elif convention.kind == "scores":
        case = Case(scores(convention, items, asked), labels[queries:], query_labels=labels[:queries])
    return with_groups(case, random) if convention.grouped else case


def with_groups(case: Case, random: np.random.Generator) -> Case:
    """The case with groups that tell nothing about the labels."""
    asked = None if case.query_labels is None else groups_of(case.query_labels, random)
    return replace(case, groups=groups_of(case.labels, random), query_groups=asked)


def scores(convention: Convention, items: Array, queries: Array) -> Array:
    """Distances or scores of shape (items, queries), in float64."""
    differences = items[:, None].astype(np.float64) - queries[None]
    distances: Array = np.einsum("ijk,ijk->ij", differences, differences)
    return distances if convention.ascending else 1 / (1 + distances)
