"""All ties of all rankings, with or without a relevant item, some queries at a time."""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from tieproof.engine.collisions.exact import decide
from tieproof.engine.collisions.kernels import (
    OrderedItems,
    Scale,
    judge_gaps,
    ties_of_rankings,
)
from tieproof.engine.stripes import stripe_by_stripe
from tieproof.problem import Problem, Watch
from tieproof.ties import IntArray, SmallIntArray

BYTES_PER_ITEM, BYTES_PER_RELEVANT = 128, 64
"""What a ranked item, and a relevant one besides, take at most while a ranking is looked at."""


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


def collisions_of(problem: Problem, epsilon: float, watch: Watch) -> Generator[FoundTies, None, None]:
    """The ties of all queries, with or without a relevant item.

    With epsilon 0 a tie is a set of items at exactly the same distance; else a run of neighbours in the ranking, each
    closer than epsilon to the next one, as real numbers.
    """
    gauge = problem.gauge()
    scale = Scale(gauge.curve(), *gauge.errors(), epsilon, gauge.certain)
    columns = slice(0, len(gauge.weight[1]))

    def ties_of(queries: IntArray, rows: IntArray) -> FoundTies:
        block = problem.relevance.block(queries)
        position = np.repeat(np.arange(len(queries)), np.diff(block.pointer))
        excluded = np.repeat(np.arange(len(queries)), np.diff(block.excluded_pointer))
        present = np.repeat(gauge.weight[1].astype(np.int32)[None], len(queries), axis=0)
        present -= counted(excluded, gauge.identity[1][block.excluded], present.shape)
        relevant = counted(position, gauge.identity[1][block.items], present.shape)
        values = gauge.wide_values(slice(int(rows[0]), int(rows[-1]) + 1), columns)[rows - rows[0]]
        values[present == 0] = np.inf
        ranking = np.argsort(values, axis=1)
        values = np.take_along_axis(values, ranking, axis=1)
        rankings = OrderedItems(
            ranking, np.zeros(values.shape, dtype=np.int8), np.count_nonzero(present, axis=1), present, relevant
        )
        if judge_gaps(values, rankings.ranked, scale, rankings.states):
            decide(gauge, rows, values, ranking, rankings.states, epsilon)
        found = FoundTies(queries, np.diff(block.pointer), *written_down(rankings))
        advance(values.size)
        return found

    with watch(problem.pairs) as advance:
        yield from stripe_by_stripe(problem, gauge, BYTES_PER_ITEM, BYTES_PER_RELEVANT, ties_of)


def counted(rows: IntArray, columns: IntArray, shape: tuple[int, ...]) -> SmallIntArray:
    """How often each place of a matrix is named."""
    counts = np.zeros(shape, dtype=np.int32)
    np.add.at(counts.reshape(-1), rows * shape[1] + columns, 1)
    return counts


def written_down(rankings: OrderedItems) -> tuple[IntArray, ...]:
    """The ties of rankings: query, k, n, l and m."""
    room = np.empty((5, 0), dtype=np.int64)
    room = np.empty((5, ties_of_rankings(rankings, *room)), dtype=np.int64)
    ties_of_rankings(rankings, *room)
    k, n, l, m, query = room
    return query, k, n, l, m
