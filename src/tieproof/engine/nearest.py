"""The nearest items of some queries, in exact order."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.exact.bounds import ARITHMETIC, SAFETY, check_products, single_threaded
from tieproof.distances.exact.reals import rounded
from tieproof.distances.gauge import FunctionGauge, SpaceGauge
from tieproof.distances.space import Space
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Search
from tieproof.engine.ranked import RoomToSort
from tieproof.engine.ranking import exact_order
from tieproof.engine.rounded import RoundedSpace, nearness_of, target_of
from tieproof.ties import FloatArray, IntArray

COLUMNS = 2**14
"""How many items' keys are computed together, so that few of their rows are converted at a time."""


class NearestItems(NamedTuple):
    """The nearest items of each query with complete ties, nearest first, tied items in the order of the gallery.

    query : the position of each item's query among the requested ones, ascending
    item : the index of each item in the gallery
    tie : the number of each item's tie; all items of a tie are included
    """

    query: IntArray
    item: IntArray
    tie: IntArray


def nearest_of(space: Space, queries: IntArray, excluded: Sequence[IntArray], count: int) -> NearestItems:
    """The `count` nearest items of queries in a space with float64 tiles, and all items tied with the last one.

    excluded : the items that each of these queries does not rank
    """
    rows = space.queries.identity[queries]
    keys, errors = _all_keys(space, rows)
    keys = keys[:, space.items.identity]
    for row, items in zip(keys, excluded, strict=True):
        row[items] = -np.inf
    # Items that are or may be as near as the last one are ranked by exact keys, equal rows together.
    last = np.partition(keys, -count, axis=1)[:, -count]
    reach = np.where(
        errors > 0, 2 * (errors * SAFETY + ARITHMETIC * np.abs(np.where(last > -np.inf, last, 0.0))), 0.0
    )
    query, item = np.nonzero((keys >= (last - reach)[:, None]) & (keys > -np.inf))
    pairs, of_pair = np.unique(query * len(space.items) + space.items.identity[item], return_inverse=True)
    room = RoomToSort.of(len(space.items))
    ordered = exact_order(space, rows, pairs // len(space.items), pairs % len(space.items), room)
    tie = np.empty_like(ordered.order)
    tie[ordered.order] = np.cumsum(ordered.starts_tie) - 1
    tie = tie[of_pair]
    nearest_first = np.lexsort((item, tie))
    return NearestItems(query, item[nearest_first], tie[nearest_first])


def _all_keys(space: Space, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """`key_block` of some rows and all columns, computed in blocks of columns."""
    keys, errors = np.empty((len(rows), len(space.items))), np.zeros(len(rows))
    for start in range(0, len(space.items), COLUMNS):
        part = slice(start, min(start + COLUMNS, len(space.items)))
        keys[:, part], of_part = space.key_block(rows, part)
        np.maximum(errors, of_part, out=errors)
    return keys, errors


def nearest_of_numbers(nearness: FloatArray, excluded: IntArray, count: int) -> NearestItems:
    """The `count` nearest items of one query by numbers (larger is nearer), and all items tied with the last one.

    >>> nearest_of_numbers(np.array([0.5, 0.9, 0.5, 0.7, 0.1]), np.array([3]), 2).item.tolist()
    [1, 0, 2]
    """
    items = np.delete(np.arange(len(nearness)), excluded)
    ranked = items[np.lexsort((items, -nearness[items]))]
    keys = nearness[ranked]
    stop = np.searchsorted(-keys, -keys[min(count, len(keys)) - 1], side="right") if len(keys) else 0
    tie = np.cumsum(np.diff(keys[:stop], prepend=keys[:1]) != 0)
    return NearestItems(np.zeros(stop, dtype=np.int64), ranked[:stop], tie)


class Neighbors(NamedTuple):
    """The nearest items of one query, with complete ties.

    item, tie : (c,) as in `NearestItems`, with ties counted from 0
    distance : (t,) the distance of each tie, rounded once: to float64, or to the format that the problem ranks
    """

    item: IntArray
    tie: IntArray
    distance: FloatArray


def neighbors_of(problem: Search, queries: IntArray, count: int) -> Iterator[Neighbors]:
    """The `count` nearest items of each query, and all items tied with the last one."""
    gauge = problem.gauge()
    block = problem.excluded.block(queries)
    excluded = np.split(block.excluded, block.excluded_pointer[1:-1])
    if not isinstance(problem.distance, Distance):
        yield from _by_function(problem, cast(FunctionGauge, gauge), queries, excluded, count)
        return
    space = cast(SpaceGauge, gauge).space
    if problem.format is not None:
        space = RoundedSpace(cast(SpaceGauge, gauge), problem.format, Plan(problem.budget).undecided)
    check_products()
    count = min(count, problem.excluded.n_items)
    with single_threaded():
        for place, query in enumerate(queries):
            nearest = nearest_of(space, np.array([query]), [excluded[place]], count)
            if not len(nearest.item):
                yield Neighbors(nearest.item, nearest.tie, np.zeros(0))
                continue
            yield _with_distances(problem, cast(SpaceGauge, gauge), query, nearest)


def _with_distances(problem: Search, gauge: SpaceGauge, query: int, nearest: NearestItems) -> Neighbors:
    """The items of one query, with the distance of each tie."""
    numbers, first = np.unique(nearest.tie, return_index=True)
    columns = gauge.identity[1][nearest.item[first]]
    rows = np.full(len(columns), gauge.identity[0][query])
    rounding = rounded if problem.format is None else problem.format.rounded
    keys = gauge.exact(gauge.values_of_pairs(rows, columns), rows, columns)
    distances = np.array([gauge.distance(key * gauge.unit, rounding) for key in keys], dtype=np.float64)
    return Neighbors(nearest.item, np.searchsorted(numbers, nearest.tie), distances)


def _by_function(
    problem: Search, gauge: FunctionGauge, queries: IntArray, excluded: list[IntArray], count: int
) -> Iterator[Neighbors]:
    """The nearest items by a distance function, which is called with the same blocks as in an evaluation."""
    excluding = problem.excluded
    target = None if problem.format is None else target_of(problem.format)
    for place, query in enumerate(queries.tolist()):
        start = query // gauge.stripe_rows * gauge.stripe_rows
        stripe = slice(start, min(start + gauge.stripe_rows, excluding.n_queries))
        distances = gauge.values(stripe, slice(0, excluding.n_items))[query - start]
        nearness = -distances if target is None else nearness_of(distances[None], target)[0]
        _, item, tie = nearest_of_numbers(nearness, excluded[place], count)
        _, first = np.unique(tie, return_index=True)
        yield Neighbors(item, tie, distances[item[first]])
