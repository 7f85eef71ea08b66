"""Data that an evaluator can learn something from: tied, random, and handwritten digits."""

from collections.abc import Callable

import numpy as np

from tieproof.audit.cases import CLASSES, DIMENSIONS, ITEMS, QUERIES, Case
from tieproof.audit.conventions import Convention
from tieproof.audit.examination import Examination
from tieproof.data import load_digits
from tieproof.ties import Array, IntArray

Vectors = tuple[Array, IntArray]
"""Embeddings and labels of ITEMS items and then QUERIES queries."""

COUNT = ITEMS + QUERIES


def random_vectors(random: np.random.Generator) -> Vectors:
    """Overlapping classes of normal vectors, without ties."""
    labels = random.permutation(np.arange(COUNT) % CLASSES)
    centres = random.normal(size=(CLASSES, DIMENSIONS))
    return (centres[labels] + random.normal(size=(COUNT, DIMENSIONS))).astype(np.float32), labels


def tied_vectors(random: np.random.Generator) -> Vectors:
    """Vectors of three small whole numbers that tell a little of the class; many are the same."""
    labels = random.permutation(np.arange(COUNT) % CLASSES)
    vectors = random.integers(0, 3, size=(COUNT, 3)) + np.stack([labels % 2, labels % 3, labels % 5], axis=1)
    return (vectors + 1).astype(np.float32), labels


def digits(random: np.random.Generator) -> Vectors:
    """The first of the handwritten digits that the package carries."""
    pixels, labels = load_digits()
    return pixels[:COUNT].astype(np.float32), labels[:COUNT].astype(np.int64)


DATA: dict[str, Callable[[np.random.Generator], Vectors]] = {
    "tied": tied_vectors,
    "random": random_vectors,
    "digits": digits,
}
"""The data on which nothing may change that must not matter."""


def data_case(examination: Examination, name: str) -> Case:
    """One of `DATA` as the evaluator takes it.

    For evaluators of scores they are squared Euclidean distances d, or 1 / (1 + d), equal where distances are.
    """
    vectors, labels = DATA[name](examination.random("data", name))
    convention = examination.convention
    items, queries = vectors[:ITEMS], vectors[ITEMS:]
    if convention.kind == "leave-one-out":
        return Case(items, labels[:ITEMS])
    if convention.kind == "gallery":
        return Case(items, labels[:ITEMS], queries, labels[ITEMS:])
    return Case(scores(convention, items, queries), labels[:ITEMS], query_labels=labels[ITEMS:])


def scores(convention: Convention, items: Array, queries: Array) -> Array:
    """Distances or scores (items, queries) in float64."""
    differences = items[:, None].astype(np.float64) - queries[None]
    distances: Array = np.einsum("ijk,ijk->ij", differences, differences)
    return distances if convention.ascending else 1 / (1 + distances)
