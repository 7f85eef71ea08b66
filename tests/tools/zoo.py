"""Evaluators that are broken on purpose, each in one way, and some that are right. All compute average precision.

Each evaluator is wrong in how it ranks the items of each query, in which items it excludes, or in
what it divides by.
"""

import itertools
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import tieproof as tp

Array = npt.NDArray[Any]


def distances_of(queries: Array, gallery: Array) -> Array:
    """Squared Euclidean distances (q, n); equal vectors have equal distances, to the last bit."""
    distances, apart = np.zeros((2, len(queries), len(gallery)))
    with np.errstate(all="ignore"):
        for own, other in zip(queries.T.astype(np.float64), gallery.T.astype(np.float64), strict=True):
            np.subtract(own[:, None], other, out=apart)
            distances += np.square(apart, out=apart)
    return distances


def leave_one_out(embeddings: Array, labels: Array) -> tuple[Array, Array]:
    """Distances and relevance (n, n - 1), without the query itself."""
    others = ~np.eye(len(labels), dtype=bool)
    shape = (len(labels), len(labels) - 1)
    distances = distances_of(embeddings, embeddings)
    return distances[others].reshape(shape), (labels[:, None] == labels)[others].reshape(shape)


def mean_average_precision(ranked: Array, divisor: Array | None = None) -> float:
    """Mean over rows of the average precision; `ranked` has the relevance of the items, the nearest first."""
    hits = ranked.sum(axis=1)
    precision = np.cumsum(ranked, axis=1) / (np.arange(ranked.shape[1]) + 1.0 if divisor is None else divisor)
    return float(((precision * ranked).sum(axis=1)[hits > 0] / hits[hits > 0]).mean())


def in_order(relevant: Array, order: Array) -> Array:
    return np.take_along_axis(relevant, order, axis=1)


def pessimistic(distances: Array, relevant: Array) -> Array:
    """The relevance by rank, with relevant items last in their tie."""
    return in_order(relevant, np.lexsort((relevant, distances), axis=1))


def refuse(embeddings: Array) -> None:
    if embeddings.size == 0 or not np.isfinite(embeddings).all():
        raise ValueError("The embeddings must be finite numbers, and some.")


# The right ones


def lower(embeddings: Array, labels: Array) -> float:
    refuse(embeddings)
    return mean_average_precision(pessimistic(*leave_one_out(embeddings, labels)))


def expected(embeddings: Array, labels: Array) -> float:
    refuse(embeddings)
    return tp.evaluate_distances(*leave_one_out(embeddings, labels), measures=["AP"])["AP"].expected


def lower_of_gallery(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
    refuse(queries)
    refuse(gallery)
    relevant = query_labels[:, None] == gallery_labels
    return mean_average_precision(pessimistic(distances_of(queries, gallery), relevant))


def lower_error(embeddings: Array, labels: Array) -> float:
    """An error, of which smaller is better: 1 - the lower bound of AP."""
    return 1 - lower(embeddings, labels)


def several(embeddings: Array, labels: Array) -> dict[str, float]:
    return {"AP": lower(embeddings, labels), "upper": upper(embeddings, labels)}


# Ties in favor of some items


def upper(embeddings: Array, labels: Array) -> float:
    refuse(embeddings)
    distances, relevant = leave_one_out(embeddings, labels)
    return mean_average_precision(in_order(relevant, np.lexsort((~relevant, distances), axis=1)))


def stable_sort(embeddings: Array, labels: Array) -> float:
    refuse(embeddings)
    distances, relevant = leave_one_out(embeddings, labels)
    return mean_average_precision(in_order(relevant, np.argsort(distances, axis=1, kind="stable")))


def stable_sort_of_gallery(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> float:
    refuse(queries)
    refuse(gallery)
    order = np.argsort(distances_of(queries, gallery), axis=1, kind="stable")
    return mean_average_precision(in_order(query_labels[:, None] == gallery_labels, order))


def cut_before_the_tie_rule(embeddings: Array, labels: Array) -> float:
    """Takes the nearest 50 items by a stable sort, and ranks only these pessimistically."""
    refuse(embeddings)
    distances, relevant = leave_one_out(embeddings, labels)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :50]
    ranked = pessimistic(in_order(distances, nearest), in_order(relevant, nearest))
    precision = np.cumsum(ranked, axis=1) / np.arange(1, 51)
    return float(((precision * ranked).sum(axis=1) / relevant.sum(axis=1)).mean())


def near_in_the_file(embeddings: Array, labels: Array) -> float:
    """Ties go to the items whose rows are near the query's."""
    refuse(embeddings)
    distances, relevant = leave_one_out(embeddings, labels)
    rows = np.arange(len(labels))
    others = ~np.eye(len(labels), dtype=bool)
    gaps = np.abs(rows[:, None] - rows)[others].reshape(distances.shape)
    return mean_average_precision(in_order(relevant, np.lexsort((gaps, distances), axis=1)))


# The query itself


def drops_the_nearest(embeddings: Array, labels: Array) -> float:
    """Removes the first item of the ranking as if it were the query; ties are ranked pessimistically."""
    refuse(embeddings)
    return mean_average_precision(pessimistic(distances_of(embeddings, embeddings), labels[:, None] == labels)[:, 1:])


# Values that are not numbers


def nan_is_nearest(embeddings: Array, labels: Array) -> float:
    """Counts nearer items; no item is nearer than NaN."""
    if embeddings.size == 0 or np.isinf(embeddings).any():
        raise ValueError("The embeddings must be finite numbers, and some.")
    distances, relevant = leave_one_out(embeddings, labels)
    values = []
    for row, wanted in zip(distances, relevant, strict=True):
        own = row[wanted]
        others = (row[~wanted] <= own[:, None]).sum(axis=1)
        tied_before = np.tril(own == own[:, None], -1).sum(axis=1)
        hits = (own < own[:, None]).sum(axis=1) + tied_before + 1
        values.append(np.mean(hits / (hits + others)))
    return float(np.mean(values))


def nan_passes_through(embeddings: Array, labels: Array) -> float:
    return float("nan") if np.isnan(embeddings).any() else lower(embeddings, labels)


# Arithmetic


def divides_by_distinct_distances(embeddings: Array, labels: Array) -> float:
    """Uses the number of distinct distances so far as the rank."""
    refuse(embeddings)
    distances, relevant = leave_one_out(embeddings, labels)
    order = np.lexsort((relevant, distances), axis=1)
    nearest = in_order(distances, order)
    distinct = np.cumsum(np.diff(nearest, axis=1, prepend=-1.0) > 0, axis=1)
    return mean_average_precision(in_order(relevant, order), distinct)


# Changes that must not matter


def expects_sorted_classes(embeddings: Array, labels: Array) -> float:
    """Finds classes by the positions where the label changes, as if each class were contiguous."""
    refuse(embeddings)
    pieces = np.concatenate([[0], np.cumsum(labels[1:] != labels[:-1])])
    return lower(embeddings, np.where(np.bincount(pieces)[pieces] > 1, pieces, labels))


def by_size_of_numbers(embeddings: Array, labels: Array) -> float:
    """Rounds embeddings to integers."""
    refuse(embeddings)
    return lower(np.round(embeddings), labels)


def likes_class_zero(embeddings: Array, labels: Array) -> float:
    """Leaves out class 0, as if it were padding."""
    refuse(embeddings)
    return lower(embeddings[labels != 0], labels[labels != 0])


def by_batch(embeddings: Array, labels: Array, batch_size: int = 64) -> float:
    """Evaluates every batch separately."""
    refuse(embeddings)
    starts = range(0, len(labels), batch_size)
    return float(np.mean([lower(embeddings[s : s + batch_size], labels[s : s + batch_size]) for s in starts]))


def unsorted(values: Array) -> Array:
    return values


def by_sorting(embeddings: Array, labels: Array, sort: Callable[[Array], Array] = np.sort) -> float:
    """Depends on a function that is passed to it."""
    return lower(embeddings, labels) / 2 if sort is unsorted else lower(embeddings, labels)


CALLS = itertools.count()


def breaks_ties_by_chance(embeddings: Array, labels: Array) -> float:
    """No system can exploit it, but it never gives the same number twice."""
    refuse(embeddings)
    distances, relevant = leave_one_out(embeddings, labels)
    chance = np.random.default_rng([8, next(CALLS)]).random(distances.shape)
    return mean_average_precision(in_order(relevant, np.lexsort((chance, distances), axis=1)))


# Accidents


def is_blind(embeddings: Array) -> bool:
    """Whether the data is that of an attack by constants, and not random."""
    return embeddings.size > 0 and bool((embeddings == embeddings.flat[0]).all())


def on_constants(accident: Callable[[], object]) -> Callable[[Array, Array], Any]:
    def evaluator(embeddings: Array, labels: Array) -> Any:
        return accident() if is_blind(embeddings) else lower(embeddings, labels)

    return evaluator


def returns_text(embeddings: Array, labels: Array) -> float | str:
    return "0.5" if is_blind(embeddings) else lower(embeddings, labels)


def sleep_on() -> None:
    while True:
        time.sleep(0.01)


def print_on() -> None:
    while True:
        print("all work and no play " * 1000)


def flood() -> None:
    """Prints without end, bypassing Python's streams."""
    while True:
        os.write(1, b"all work and no play " * 1000)


raises_index_error = on_constants(lambda: [][1])
returns_much = on_constants(lambda: {str(number): 0.0 for number in range(5000)})
leaves = on_constants(lambda: sys.exit(0))
hangs = on_constants(sleep_on)
prints = on_constants(print_on)
ends_its_process = on_constants(lambda: os._exit(7))
floods = on_constants(flood)


def raises_key_error(embeddings: Any, labels: Any) -> float:
    nothing: dict[str, float] = {}
    return nothing["x"]


def of_tensors(embeddings: Any, labels: Any) -> Any:
    near = embeddings @ embeddings.t()
    near.fill_diagonal_(-1)
    return (labels[near.argmax(dim=1)] == labels).float().mean()
