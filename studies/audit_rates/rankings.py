"""What simulated evaluators are made of: distances, what is relevant by rank, and what a ranking scores.

A `Search` is what one call of an evaluator ranks. Equal vectors have equal distances to the last bit, so ties are
ties whatever the arithmetic.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Search(NamedTuple):
    """The distances (q, n) of items to queries, the smallest nearest; what is relevant; and the labels of queries."""

    distances: Array
    relevant: Array
    query_labels: Array


def squared_distances(queries: Array, gallery: Array) -> Array:
    """Squared Euclidean distances (q, n) in float64."""
    with np.errstate(all="ignore"):
        rows, items = queries.astype(np.float64), gallery.astype(np.float64)
        return np.stack([((items - row) ** 2).sum(axis=1) for row in rows])


def without_diagonal(matrix: Array) -> Array:
    """A matrix (n, n) as (n, n - 1), each row without its own item.

    >>> without_diagonal(np.arange(9).reshape(3, 3)).tolist()
    [[1, 2], [3, 5], [6, 7]]
    """
    count = len(matrix)
    return matrix[~np.eye(count, dtype=bool)].reshape(count, count - 1)


def refuse(numbers: Array) -> None:
    """Refuse what no ranking follows from, as an evaluator should."""
    if numbers.size == 0 or not np.isfinite(numbers).all():
        raise ValueError("The numbers must be finite, and some.")


def leave_one_out(embeddings: Array, labels: Array) -> Search:
    """Every item queries all others."""
    refuse(embeddings)
    relevant = without_diagonal(labels[:, None] == labels)
    return Search(without_diagonal(squared_distances(embeddings, embeddings)), relevant, labels)


def of_gallery(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> Search:
    """Queries against a gallery."""
    refuse(queries)
    refuse(gallery)
    return Search(squared_distances(queries, gallery), query_labels[:, None] == gallery_labels, query_labels)


def of_scores(scores: Array, query_labels: Array, gallery_labels: Array) -> Search:
    """Given scores, of which the largest is nearest."""
    refuse(scores)
    return Search(-scores.astype(np.float64), query_labels[:, None] == gallery_labels, query_labels)


SEARCHES: dict[str, Callable[..., Search]] = {"embeddings": leave_one_out, "gallery": of_gallery, "scores": of_scores}
"""What the arguments of a convention search."""


def ranked(search: Search, keys: Array) -> Array:
    """What is relevant by rank, where of tied items the one with the smallest key comes first."""
    order = np.argsort(search.distances, axis=1)
    nearest = np.take_along_axis(search.distances, order, axis=1)
    if (nearest[:, 1:] == nearest[:, :-1]).any():  # keys are asked where they matter, as sorting by them is slow
        order = np.lexsort((keys, search.distances), axis=1)
    return np.take_along_axis(search.relevant, order, axis=1)


# What a ranking scores: from what is relevant by rank, (q, n), to a value for each query


@cache
def ranks(count: int) -> Array:
    """All ranks of so many items, from 1."""
    return np.arange(1.0, count + 1)


def average_precision(hits: Array) -> Array:
    """The mean over relevant items of the precision at their rank."""
    total = np.maximum(hits.sum(axis=1), 1)
    precision: Array = np.cumsum(hits, axis=1) / ranks(hits.shape[1])
    found: Array = (precision * hits).sum(axis=1) / total
    return found


def reciprocal_rank(hits: Array) -> Array:
    """1 / rank of the first relevant item."""
    return np.where(hits.any(axis=1), 1 / (hits.argmax(axis=1) + 1.0), 0.0)


def precision_at_10(hits: Array) -> Array:
    """The share of relevant items among the first ten."""
    found: Array = hits[:, :10].mean(axis=1)
    return found


def success_at_1(hits: Array) -> Array:
    """Whether the first item is relevant."""
    return hits[:, 0].astype(float)


def ndcg_at_10(hits: Array) -> Array:
    """Discounted gains of the first ten, over the most that is possible."""
    discounts = 1 / np.log2(ranks(10) + 1)
    best = np.cumsum(discounts)[np.clip(hits.sum(axis=1), 1, 10) - 1]
    found: Array = hits[:, :10] @ discounts / best
    return found


MEASURES: dict[str, Callable[[Array], Array]] = {
    "AP": average_precision,
    "RR": reciprocal_rank,
    "P@10": precision_at_10,
    "Success@1": success_at_1,
    "nDCG@10": ndcg_at_10,
}
"""By their names in tieproof."""


# What becomes of the values of queries: (values, labels of the queries) -> the score


def mean(values: Array, labels: Array) -> float:
    """The arithmetic mean."""
    return float(values.mean())


def median(values: Array, labels: Array) -> float:
    """The middle value."""
    return float(np.median(values))


def geometric_mean(values: Array, labels: Array) -> float:
    """The geometric mean, with at least 0.00001 for each query, as trec_eval has it."""
    return float(np.exp(np.log(np.maximum(values, 1e-5)).mean()))


def trimmed_mean(values: Array, labels: Array) -> float:
    """The mean without the lowest and the highest tenth."""
    cut = len(values) // 10
    return float(np.sort(values)[cut : len(values) - cut].mean())


def macro_average(values: Array, labels: Array) -> float:
    """The mean over classes of their means."""
    return float(np.mean([values[labels == label].mean() for label in np.unique(labels)]))
