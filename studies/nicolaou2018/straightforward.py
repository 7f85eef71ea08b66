"""mAP as section 2.1 of the paper describes it, in double precision, with what the published code adds to it.

Footnote 3 names that code, https://github.com/anguelos/embedding_map. Its method is restated here from what it does
(`src/map.py` there): items are sorted by double distances; in leave-one-out the nearest item is taken for the query
and dropped; a constant of 1e-20 is subtracted from relevant distances ("optimistic") or added to them
("pessimistic"); the same constant is added to both sides of the fraction that recall is; and precision is sampled
where recall changes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

CONSTANT = 1e-20
"""The small number of the published code, added to both sides of a fraction and, by its modes, to distances."""

SHIFTS = {"optimistic": -CONSTANT, "unspecified": 0.0, "pessimistic": CONSTANT}
"""What its modes add to relevant distances."""


class Score(NamedTuple):
    """A mean average precision.

    per_query : (n,) the average precision of each item as a query; NaN where nothing relevant is left
    """

    mean: float
    queries: int
    per_query: FloatArray


def distance_matrix(embeddings: Any, distance: str, dimensions: Sequence[int] | None = None) -> FloatArray:
    """Distances between all rows, "cosine", "euclidean" or "cityblock", as a loop over `dimensions` computes them.

    Every operation is one of IEEE doubles, in that order, so the bits are the same on every machine. Shape (n, n).

    >>> distance_matrix([[0.0, 3.0], [4.0, 0.0]], "euclidean").tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    columns = np.ascontiguousarray(np.asarray(embeddings, dtype=np.float64).T)
    total = np.zeros((columns.shape[1],) * 2)
    term = np.empty_like(total)
    for place in range(len(columns)) if dimensions is None else dimensions:
        column = columns[place]
        if distance == "cosine":
            np.multiply(column[:, None], column, out=term)
        else:
            np.subtract(column[:, None], column, out=term)
            term = np.abs(term, out=term) if distance == "cityblock" else np.square(term, out=term)
        total += term
    if distance == "cosine":
        length = np.sqrt(total.diagonal())
        return np.asarray(1 - total / (length[:, None] * length))
    return np.sqrt(total) if distance == "euclidean" else total


def relevance_matrix(labels: npt.NDArray[Any]) -> BoolArray:
    """Equation 1, where every item is both a query and in the database."""
    return np.asarray(labels[:, None] == labels)


def average_precisions(correct: npt.NDArray[Any], constant: float = 0.0) -> FloatArray:
    """Average precision of rows of the "correct matrix" (section 2.1); NaN for a row without a relevant item.

    Precision is sampled where recall, (hits + constant) / (relevant + constant), changes. With a constant above 0,
    recall is above 0 at rank 1 even where the first item is wrong: that rank becomes one more sample, of precision 0,
    and the average precision of R relevant items is divided by R + 1.

    >>> average_precisions(np.array([[0, 1], [1, 0]])).tolist()
    [0.5, 1.0]
    >>> average_precisions(np.array([[0, 1], [1, 0]]), constant=1e-20).tolist()
    [0.25, 1.0]
    """
    hits = np.cumsum(correct, axis=1, dtype=np.float64)
    precision = hits / np.arange(1, correct.shape[1] + 1)
    relevant = hits[:, -1:]
    with np.errstate(invalid="ignore"):
        recall = (hits + constant) / (relevant + constant)
        changes = np.diff(recall, axis=1, prepend=0.0) > 0
        values = (precision * changes).sum(axis=1) / changes.sum(axis=1)
    return np.where(relevant[:, 0] > 0, values, np.nan)


def mean_score(per_query: FloatArray) -> Score:
    """The mean over the queries with a relevant item."""
    found = per_query[~np.isnan(per_query)]
    return Score(float(found.mean()), len(found), per_query)


def mean_average_precision(
    distances: FloatArray,
    labels: npt.NDArray[Any],
    *,
    shift: float = 0.0,
    by_index: bool = False,
    constant: float = 0.0,
) -> Score:
    """Leave-one-out mAP of a distance matrix; the earlier of two tied items comes first.

    shift : added to the distances of relevant items, the query among them
    by_index : drop the query itself; otherwise the nearest item, whatever it is
    constant : see `average_precisions`
    """
    relevant = relevance_matrix(labels)
    shifted = distances + shift * relevant
    if by_index:
        np.fill_diagonal(shifted, -np.inf)
    order = np.argsort(shifted, axis=1, kind="stable")[:, 1:]
    return mean_score(average_precisions(np.take_along_axis(relevant, order, axis=1), constant))


def estimate(distances: npt.NDArray[Any], labels: npt.NDArray[Any]) -> tp.Estimate[float]:
    """The mAP of a matrix by tieproof, which ranks by exactly these numbers; each query is left out by its index."""
    relevance = relevance_matrix(labels).astype(np.int64)
    np.fill_diagonal(relevance, -1)
    return tp.evaluate_distances(distances, relevance, measures=["AP"])["AP"]


def one_ranking(order: IntArray, labels: npt.NDArray[Any], *, by_index: bool = False, constant: float = 0.0) -> Score:
    """The score where everything is at one distance, and sorting gives every query the same `order` (n,)."""
    relevant = relevance_matrix(labels)
    if not by_index:
        return mean_score(average_precisions(relevant[:, order[1:]], constant))
    others = np.array([order[order != query] for query in range(len(order))])
    return mean_score(average_precisions(np.take_along_axis(relevant, others, axis=1), constant))
