"""All ties of all rankings, with or without a relevant item, some queries at a time."""

from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from tieproof.distances.gauge import Gauge
from tieproof.engine.collisions.exact import decide
from tieproof.engine.collisions.kernels import (
    OrderedItems,
    Scale,
    judge_gaps,
    ties_of_rankings,
)
from tieproof.engine.stripes import stripes
from tieproof.exact.blas import check_products, single_threaded
from tieproof.inputs.relevance import Relevance
from tieproof.native.threads import in_order
from tieproof.ties import FloatArray, IntArray, SmallIntArray

BYTES_PER_ITEM, BYTES_PER_RELEVANT = 128, 64
"""What a ranked item, and a relevant one besides, take at most while a ranking is looked at."""

COLUMNS = 2048
"""Item rows that are made ready at a time."""


class FoundTies(NamedTuple):
    """The ties of at least two items of some queries: arrays as in `ties.Ties`, but m may be 0.

    queries : (Q,) the queries
    n_relevant : (Q,) their relevant items
    place : (T,) the position of each tie's query in `queries`, ascending
    k, n, l, m : (T,) nearest first within a query
    """

    queries: IntArray
    n_relevant: IntArray
    place: IntArray
    k: IntArray
    n: IntArray
    l: IntArray
    m: IntArray


def all_ties(
    gauge: Gauge,
    relevance: Relevance,
    epsilon: float,
    limits: tuple[int, int],
    progress: Callable[[int], None],
) -> Generator[FoundTies, None, None]:
    """The ties of all queries, for limits of memory and of threads.

    With epsilon 0 a tie is a set of items at exactly the same distance; else a run of neighbours in the ranking, each
    closer than epsilon to the next one, as real numbers.
    """
    threads = 1 if gauge.stripe_rows else limits[1]  # a function need not be safe in threads
    scale = Scale(gauge.curve(), *gauge.errors(), epsilon, gauge.certain)
    order = np.argsort(gauge.identity[0], kind="stable")

    @single_threaded()
    def ties_of(span: slice) -> FoundTies:
        queries = order[span]
        rows = gauge.identity[0][queries]
        block = relevance.block(queries)
        position = np.repeat(np.arange(len(queries)), np.diff(block.pointer))
        excluded = np.repeat(np.arange(len(queries)), np.diff(block.excluded_pointer))
        present = np.repeat(gauge.weight[1].astype(np.int32)[None], len(queries), axis=0)
        present -= counted(excluded, gauge.identity[1][block.excluded], present.shape)
        relevant = counted(position, gauge.identity[1][block.items], present.shape)
        values = values_of(gauge, slice(int(rows[0]), int(rows[-1]) + 1))[rows - rows[0]]
        values[present == 0] = np.inf
        ranking = np.argsort(values, axis=1)
        values = np.take_along_axis(values, ranking, axis=1)
        rankings = OrderedItems(
            ranking, np.zeros(values.shape, dtype=np.int8), np.count_nonzero(present, axis=1), present, relevant
        )
        if judge_gaps(values, rankings.ranked, scale, rankings.states):
            decide(gauge, rows, values, ranking, rankings.states, epsilon)
        found = FoundTies(queries, np.diff(block.pointer), *written_down(rankings))
        progress(values.size)
        return found

    check_products()
    of_items, of_relevant = BYTES_PER_ITEM * len(gauge.weight[1]), BYTES_PER_RELEVANT * relevance.at_most()[order]
    yield from in_order(ties_of, stripes(gauge, of_items, of_relevant, limits[0] // 2 // threads), threads)


def counted(rows: IntArray, columns: IntArray, shape: tuple[int, ...]) -> SmallIntArray:
    """How often each place of a matrix is named."""
    counts = np.zeros(shape, dtype=np.int32)
    np.add.at(counts.reshape(-1), rows * shape[1] + columns, 1)
    return counts


def values_of(gauge: Gauge, rows: slice) -> FloatArray:
    """The values of some distinct query rows and all items."""
    width = len(gauge.weight[1])
    step = width if gauge.stripe_rows else COLUMNS
    values = np.empty((rows.stop - rows.start, width))
    for start in range(0, width, step):
        columns = slice(start, min(start + step, width))
        values[:, columns] = gauge.values(rows, columns)
    return values


def written_down(rankings: OrderedItems) -> tuple[IntArray, ...]:
    """The ties of rankings: query, k, n, l and m."""
    room = np.empty((5, 0), dtype=np.int64)
    room = np.empty((5, ties_of_rankings(rankings, *room)), dtype=np.int64)
    ties_of_rankings(rankings, *room)
    k, n, l, m, query = room
    return query, k, n, l, m
