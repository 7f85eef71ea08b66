"""Votes of nearest items, and files of true neighbors, that are refused."""

from typing import Any

import numpy as np

import tieproof as tp
from refusals.case import Case

ROWS, LABELS = [[0.0], [1.0], [3.0]], ["a", "b", "b"]


def accuracy(*given: Any, **options: Any) -> Any:
    return lambda: tp.knn_accuracy(*(given or (ROWS, LABELS)), k=2, **options)


CASES: dict[str, Case] = {
    "test= without test_labels=": Case(accuracy(ROWS, LABELS, ROWS), r"test_labels is missing.*or neither"),
    "labels of several classes for a vote": Case(
        accuracy(ROWS, np.eye(3, dtype=int)), r"labels have the shape \(3, 3\): several classes.*one vote"
    ),
    "a temperature of 0": Case(accuracy(weights=0), r"weights must be None, 'distance' or a temperature.*not 0"),
    "a temperature that is too small": Case(
        accuracy(ROWS, LABELS, [[0.0]], ["a"], weights=1e-9, distance="euclidean"),
        r"temperature 1e-09 is too small.*Pass a larger one",
    ),
    "weights of 1 / distance for negative distances": Case(
        accuracy(weights="distance", distance="dot"), r"1 / distance, but a distance of query \d is -3\.0"
    ),
    "weights of distances that overflow float64": Case(
        accuracy([[1e200], [-1e200], [0.0]], LABELS, weights="distance", distance="sqeuclidean"),
        r"distances of query 0 overflow float64.*Scale the embeddings",
    ),
}
