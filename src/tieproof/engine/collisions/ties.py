"""All ties in all rankings, with or without a relevant item, computed in batches of queries."""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from tieproof.distances.gauge import Gauge
from tieproof.engine.collisions.exact import decide
from tieproof.engine.collisions.kernels import (
    Items,
    Listing,
    OrderedItems,
    RowRoom,
    Scale,
    rank_rows,
    write_ties,
)
from tieproof.engine.stripes import stripe_by_stripe
from tieproof.problem import Problem, Watch
from tieproof.ties import FloatArray, IntArray

BYTES_PER_ITEM, BYTES_PER_RELEVANT = 96, 64
"""The largest memory for a ranked item, and the additional memory for a relevant one, while a ranking is computed."""

TIES = 2**14
"""The number of ties that are written at a time."""


class FoundTies(NamedTuple):
    """The ties of at least two items of some queries: arrays as in `ties.Ties`, but m may be 0.

    queries : (Q,) the queries
    n_relevant : (Q,) the number of relevant items of each query
    place : (T,) the position of each tie's query in `queries`, ascending
    k, n, l, m : (T,) as in `ties.Ties`, nearest first within a query
    """

    queries: IntArray
    n_relevant: IntArray
    place: IntArray
    k: IntArray
    n: IntArray
    l: IntArray
    m: IntArray


def collisions_of(problem: Problem, epsilon: float, watch: Watch) -> Generator[FoundTies, None, None]:
    """Yield the ties of all queries, with or without a relevant item.

    With epsilon 0, a tie is a set of items at exactly the same distance. Otherwise it is a run of neighbours in the
    ranking whose distances each differ from the next by less than epsilon, as real numbers.
    """
    gauge = problem.gauge()
    scale = Scale(gauge.curve(), *gauge.errors(), epsilon, gauge.certain)
    weight = gauge.weight[1].astype(np.int32)
    columns = slice(0, len(weight))

    def ties_of(queries: IntArray, rows: IntArray) -> FoundTies:
        block = problem.relevance.block(queries)
        items = Items(
            weight,
            Listing(block.excluded_pointer, gauge.identity[1][block.excluded]),
            Listing(block.pointer, gauge.identity[1][block.items]),
        )
        values = gauge.wide_values(slice(int(rows[0]), int(rows[-1]) + 1), columns)
        if len(rows) > len(values):
            values = values[rows - rows[0]]
        rankings, room = make_rankings(values.shape), make_room(len(weight))
        if rank_rows(values, items, scale, rankings, room):
            decide_open(gauge, rows, values, rankings, epsilon)
        advance(values.size)
        del values
        return FoundTies(queries, np.diff(block.pointer), *written_down(rankings, items, room))

    with watch(problem.pairs) as advance:
        yield from stripe_by_stripe(problem, gauge, BYTES_PER_ITEM, BYTES_PER_RELEVANT, ties_of)


def make_rankings(shape: tuple[int, ...]) -> OrderedItems:
    """Empty rankings of this shape."""
    return OrderedItems(
        np.empty(shape, dtype=np.int32), np.zeros(shape, dtype=np.int8), *np.zeros((2, shape[0]), dtype=np.int64)
    )


def make_room(width: int) -> RowRoom:
    """Working memory for rows with `width` columns."""
    return RowRoom(
        np.empty(width),
        np.empty(width, dtype=np.int32),
        np.empty((2, width), dtype=np.uint64),
        *np.empty((2, width), dtype=np.int32),
    )


def decide_open(gauge: Gauge, rows: IntArray, values: FloatArray, rankings: OrderedItems, epsilon: float) -> None:
    """Decide the open gaps in the rankings that have any."""
    some = np.flatnonzero(rankings.open)
    order, states = rankings.order[some].astype(np.int64), rankings.states[some]
    decide(gauge, rows[some], values[some], order, states, epsilon)
    rankings.order[some], rankings.states[some] = order, states


def written_down(rankings: OrderedItems, items: Items, room: RowRoom) -> IntArray:
    """The ties of rankings as rows query, k, n, l and m."""
    count, width = rankings.order.shape
    single = bool(items.weight.max() == 1)
    ties = np.empty((5, max(width, TIES)), dtype=np.int64)
    parts, query = [ties[:, :0]], 0
    while query < count:
        query, found = write_ties(rankings, items, query, single, room, ties)
        parts.append(ties[:, :found].copy())
    return np.concatenate(parts, axis=1)
