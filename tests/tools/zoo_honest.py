"""Evaluators that look exploitable, but that no blind system exploits: an audit must not accuse them.

Ties are broken at random, with a new or a fixed seed, or averaged; the average over queries, or the averaged value,
is unusual.
"""

import hashlib
import itertools
import logging
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import tieproof as tp
import zoo
from zoo import Array

CALLS = itertools.count()


def by_keys(embeddings: Array, labels: Array, keys: Array) -> float:
    """Ties are broken by keys (n, n - 1), the smallest first."""
    zoo.refuse(embeddings)
    distances, relevant = zoo.leave_one_out(embeddings, labels)
    return zoo.mean_average_precision(zoo.in_order(relevant, np.lexsort((keys, distances), axis=1)))


class SeedPerQuery:
    """A generator for every query, with a fixed seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

        self.keys = cache(self.drawn)

    def drawn(self, count: int) -> Array:
        """The keys (count, count - 1) for so many items."""
        return np.array([np.random.default_rng([self.seed, query]).random(count - 1) for query in range(count)])

    def __call__(self, embeddings: Array, labels: Array) -> float:
        return by_keys(embeddings, labels, self.keys(len(labels)))


class OneShuffle:
    """One shuffle of the items for all queries, with a fixed seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, embeddings: Array, labels: Array) -> float:
        zoo.refuse(embeddings)
        order = np.random.default_rng(self.seed).permutation(len(labels))
        return zoo.stable_sort(embeddings[order], labels[order])


def noisy(embeddings: Array, labels: Array) -> float:
    """The lower bound plus normal noise, as in differential privacy."""
    noise = np.random.default_rng([3, next(CALLS)]).normal(scale=0.01)
    return float(np.clip(zoo.lower(embeddings, labels) + noise, 0, 1))


def expected_of_queries(embeddings: Array, labels: Array) -> Array:
    """The expected average precision of every query."""
    zoo.refuse(embeddings)
    result = tp.evaluate_distances(*zoo.leave_one_out(embeddings, labels), measures=["AP"])
    return np.asarray(result.per_query("AP").expected)


def median(embeddings: Array, labels: Array) -> float:
    return float(np.median(expected_of_queries(embeddings, labels)))


def geometric_mean(embeddings: Array, labels: Array) -> float:
    return float(np.exp(np.log(expected_of_queries(embeddings, labels)).mean()))


def median_of_gallery(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
    zoo.refuse(queries)
    zoo.refuse(gallery)
    distances = zoo.distances_of(queries, gallery)
    result = tp.evaluate_distances(distances, query_labels[:, None] == gallery_labels, measures=["AP"])
    return float(np.median(np.asarray(result.per_query("AP").expected)))


def macro(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
    """The mean over classes of the means over their queries."""
    each = [query_labels == label for label in np.unique(query_labels)]
    scores = [zoo.lower_of_gallery(queries[own], query_labels[own], gallery, gallery_labels) for own in each]
    return float(np.mean(scores))


def refuse_scores(scores: Array) -> None:
    if not np.isfinite(scores).all() or not scores.size:
        raise ValueError("The scores must be finite numbers, and some.")


def pooled_area(scores: Array, relevance: Array) -> float:
    """The area under the curve of all pairs of all queries; ties count half."""
    refuse_scores(scores)
    order = np.argsort(scores, axis=None)
    values, relevant = scores.ravel()[order], relevance.ravel()[order] > 0
    starts = np.flatnonzero(np.r_[True, np.diff(values) > 0])
    relevant_there = np.add.reduceat(relevant.astype(int), starts)
    others_there = np.add.reduceat((~relevant).astype(int), starts)
    others_below = np.cumsum(others_there) - others_there
    won = (relevant_there * (others_below + others_there / 2)).sum()
    return float(won / relevant.sum() / (~relevant).sum())


def precision_above(scores: Array, relevance: Array) -> float:
    """Mean over queries of the F1 of the items that score above 0.5."""
    refuse_scores(scores)
    taken = scores > 0.5
    hits = (taken & (relevance > 0)).sum(axis=1)
    return float((2 * hits / (taken.sum(axis=1) + (relevance > 0).sum(axis=1))).mean())


def of_rounded_scores(scores: Array, relevance: Array) -> float:
    """The lower bound of scores with one digit: only scores larger than usual have no ties."""
    refuse_scores(scores)
    return zoo.mean_average_precision(zoo.pessimistic(-np.round(scores, 1), relevance > 0))


def of_digits(embeddings: Array, labels: Array) -> float:
    """Labels must be those of digits."""
    zoo.refuse(embeddings)
    if labels.min() < 0 or labels.max() > 9:
        raise IndexError("there are ten digits")
    return zoo.lower(embeddings, labels)


class Compiles:
    """Takes so many seconds for the first call with each number of items, as if code were compiled for it."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.compiled = seconds, set[int]()

    def __call__(self, embeddings: Array, labels: Array) -> float:
        if len(labels) not in self.compiled:
            time.sleep(self.seconds)
            self.compiled.add(len(labels))
        return zoo.lower(embeddings, labels)


class Logs:
    """Writes half of what a call may print to a stream that it stored during its first call."""

    logger: logging.Logger | None = None

    def __call__(self, embeddings: Array, labels: Array) -> float:
        if self.logger is None:
            self.logger = logging.Logger("verbose")
            self.logger.addHandler(logging.StreamHandler())
        self.logger.warning("x" * 500_000)
        return zoo.lower(embeddings, labels)


def with_cameras(embeddings: Array, labels: Array, cameras: Array) -> float:
    """Items of the query's class and camera are no candidates."""
    zoo.refuse(embeddings)
    return tp.evaluate(embeddings, labels, groups=cameras, distance="euclidean", measures=["AP"])["AP"].lower


def with_cameras_of_gallery(
    queries: Array, query_labels: Array, query_cameras: Array, gallery: Array, gallery_labels: Array, cameras: Array
) -> float:
    zoo.refuse(queries)
    zoo.refuse(gallery)
    return tp.evaluate(
        queries,
        query_labels,
        gallery=gallery,
        gallery_labels=gallery_labels,
        groups=query_cameras,
        gallery_groups=cameras,
        distance="euclidean",
        measures=["AP"],
    )["AP"].lower


# Beside evaluators with defects that only special data shows


def masks_its_scores(scores: Array, query_labels: Array, gallery_labels: Array) -> float:
    """The lower bound; afterwards relevant scores are masked and the rest is sorted, in place."""
    refuse_scores(scores)
    relevant = query_labels[:, None] == gallery_labels
    value = zoo.mean_average_precision(zoo.pessimistic(-scores, relevant))
    scores[relevant] = -np.inf
    scores.sort(axis=1)
    return value


def rounded_to(digits: int) -> Callable[..., float]:
    """The lower bound, rounded."""
    return lambda *given: round(zoo.lower_of_gallery(*given), digits)


def by_hash_of_names(qrels: dict[str, dict[str, Any]], run: dict[str, dict[str, Any]]) -> float:
    """Ties are broken by a hash of the names of query and document; what is not listed comes last."""
    values = []
    for query, judged in qrels.items():
        found = run.get(query, {})
        if not np.isfinite([*found.values()]).all():
            raise ValueError("The scores must be finite numbers.")
        keys = {name: hashlib.sha256(f"{query} {name}".encode()).digest() for name in judged}
        order = sorted(judged, key=lambda name: (-found.get(name, -np.inf), keys[name]))
        values.append(zoo.mean_average_precision(np.array([[judged[name] > 0 for name in order]])))
    return float(np.mean(values))
