"""Resolve the items that a tile could not decide: by float64 for each pair, then by exact integers, in batches.

Near-duplicates, of which tiles decide almost nothing, are counted without tiles: all pairs are undecided.
"""

from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Space
from tieproof.engine.ends import Ends, Together
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Progress
from tieproof.engine.ranked import Ranked
from tieproof.engine.structures import Counts, Undecided
from tieproof.native.calls import Output, native
from tieproof.native.threads import cut, for_each, stripes
from tieproof.ties import FloatArray, IntArray, SmallIntArray

PAIRS = 2**17  # the number of items and thresholds whose keys are computed together
SAMPLE = 2**8  # the number of items that are tried in float64 first; if it decides less than half, the others skip it


def resolve(space: Space, ranked: Ranked, undecided: Undecided, lock: Lock) -> None:
    """Find the place of each undecided item among the thresholds and count it there."""
    if (quick := space.quick_keys(ranked.targets.row[undecided.query], undecided.item)) is not None:
        undecided = undecided.where(slice(0, _settle(ranked, undecided, *quick, lock)))
    end = min(SAMPLE, len(undecided.query))
    rest = _by_float64(space, ranked, undecided.where(slice(0, end)), lock)
    # Move the undecided items of the sample next to the others.
    start = end - rest
    for column in undecided:
        column[start:end] = column[:rest].copy()
    if end < len(undecided.query):
        others = undecided.where(slice(end, None))
        end += _by_float64(space, ranked, others, lock) if 2 * rest <= SAMPLE else len(others.query)
    rest_items = undecided.where(slice(start, end))
    if start == end:
        return
    if isinstance(ranked, Together):
        of_relevant, of_ends = ranked.divide(rest_items, lock)
        _by_exact_keys(space, ranked.ranked, of_relevant, lock)
        rest = _by_float64(space, ranked.ends, of_ends, lock)
        ranked.ends.place(of_ends.where(slice(0, rest)), lock)
    elif isinstance(ranked, Ends):
        ranked.place(rest_items, lock)
    else:
        _by_exact_keys(space, ranked, rest_items, lock)


def _by_exact_keys(space: Space, ranked: Ranked, items: Undecided, lock: Lock) -> None:
    """Find the places of items in any order of queries, by sharp and by exact keys, in batches."""
    if (items.query[1:] < items.query[:-1]).any():  # items from a tile's columns are in no order of queries
        order = np.argsort(items.query, kind="stable")
        items = items.where(order)
    for batch in batches(items):
        _by_later_keys(space, ranked, batch, lock)


def _by_float64(space: Space, ranked: Ranked, items: Undecided, lock: Lock) -> int:
    """Count the items that float64 decides; move the rest to the front, and return their number."""
    return _settle(ranked, items, *space.keys(ranked.targets.row[items.query], items.item), lock)


def _settle(ranked: Ranked, items: Undecided, keys: FloatArray, errors: FloatArray, lock: Lock) -> int:
    """Count the items that these keys decide; move the rest to the front, and return their number."""
    with lock:
        start, stop, key, reach, *_ = ranked.thresholds
        return settle(keys - errors, keys + errors, start, stop, key, reach, ranked.counts, items)


@native
def settle(
    low: FloatArray,
    high: FloatArray,
    starts: IntArray,
    stops: IntArray,
    key: FloatArray,
    reach: FloatArray,
    counts: Output[Counts],
    undecided: Output[Undecided],
) -> int:
    """Count items that these intervals of nearness decide; move the rest to the front, and return their number."""
    # The thresholds of query q are starts[q] … stops[q]-1.


def batches(items: Undecided) -> Iterator[Undecided]:
    """Batches of consecutive items that have, with the thresholds that they may meet, about `PAIRS` keys."""
    if not len(items.query):
        return
    starts, _, spread = _meetings(items)
    ends = np.append(starts[1:], len(items.query))
    for runs in cut(spread + ends - starts - 1, PAIRS):
        yield items.where(slice(starts[runs.start], ends[runs.stop - 1]))


def _meetings(items: Undecided) -> tuple[IntArray, IntArray, IntArray]:
    """Where runs of items of one query start, the lowest threshold that each may meet, and how many it may meet."""
    starts = np.flatnonzero(np.append(True, items.query[1:] != items.query[:-1]))
    lowest = np.minimum.reduceat(items.first, starts)
    return starts, lowest, np.maximum.reduceat(items.last, starts) - lowest


class PairsToCompare(NamedTuple):
    """Items, followed by the thresholds that they may meet, as pairs of distinct rows."""

    rows: IntArray
    columns: IntArray
    # For each item, the index among the pairs that the first threshold of its query has or would have.
    origin: IntArray
    query: IntArray  # the query of each threshold
    base: IntArray  # the first threshold of each pair's query


def pairs_of(ranked: Ranked, items: Undecided, lock: Lock) -> PairsToCompare:
    """Items and thresholds together, so that keys of the same query can be compared."""
    starts, lowest, spread = _meetings(items)
    query = items.query[starts]
    begins = np.cumsum(spread) - spread
    of_threshold = np.repeat(query, spread)
    number = np.repeat(ranked.thresholds.start[query] + lowest - begins, spread) + np.arange(len(of_threshold))
    with lock:
        representative = ranked.items(query)[number].astype(np.int64)
    length = np.diff(np.append(starts, len(items.query)))
    begins += len(items.query)
    return PairsToCompare(
        rows=ranked.targets.row[np.concatenate([items.query, of_threshold])],
        columns=np.concatenate([items.item, representative]),
        origin=np.repeat(begins - lowest, length),
        query=of_threshold,
        base=np.concatenate([np.repeat(begins, length), np.repeat(begins, spread)]),
    )


def _by_later_keys(space: Space, ranked: Ranked, items: Undecided, lock: Lock) -> None:
    """Count items by sharp keys, if the distance has them, and the remaining items by exact keys."""
    start, stop = ranked.thresholds.start, ranked.thresholds.stop
    pairs = pairs_of(ranked, items, lock)
    sharp = space.sharp_keys(pairs.rows, pairs.columns)
    if sharp is not None:
        low, high = sharp[0] - sharp[1], sharp[0] + sharp[1]
        make_falling(low[len(items.query) :], high[len(items.query) :], pairs.query)
        with lock:
            rest = place_intervals(low, high, pairs.origin, items, start, stop, ranked.counts.gap)
        if not rest:
            return
        items = items.where(slice(0, rest))
        pairs = pairs_of(ranked, items, lock)
    keys = space.exact_keys(pairs.rows, pairs.columns)
    common, lead = np.empty((2, len(keys)), dtype=np.int64)
    leading(keys, pairs.base, common, lead)
    with lock:
        place_by_keys(keys, lead, pairs.origin, items, start, stop, ranked.counts)


@native
def make_falling(low: Output[FloatArray], high: Output[FloatArray], query: IntArray) -> None:
    """Narrow overlapping intervals of neighboring thresholds: each is below the one before it."""


@native
def place_intervals(
    low: FloatArray,
    high: FloatArray,
    origin: IntArray,
    items: Output[Undecided],
    starts: IntArray,
    stops: IntArray,
    gap: Output[SmallIntArray],
) -> int:
    """Count each item whose interval decides its place; move the others to the front, and return their number."""


@native
def leading(keys: IntArray, base: IntArray, common: Output[IntArray], lead: Output[IntArray]) -> None:
    """Write the first digits of each key, as one number, minus the digits of the key `base` of its query.

    The number has as many digits as always fit into 63 bits. These numbers are in the order of the keys of a query;
    equal numbers do not decide the order.

    common : working memory for one number per key
    """


@native
def place_by_keys(
    keys: IntArray,
    lead: IntArray,
    origin: IntArray,
    items: Undecided,
    starts: IntArray,
    stops: IntArray,
    counts: Output[Counts],
) -> None:
    """Find each item's place among the thresholds that it may meet, by `lead` or by the whole key, and count it."""


Task = tuple[slice, slice, Lock]  # some queries, some items, and the lock held while the counts of the queries change


def count_pairs(
    space: Space, ranked: Ranked, plan: Plan, sides: list[tuple[slice, slice]], progress: Progress
) -> None:
    """Count items without tiles, faster for near-duplicates: `sides` are the query rows that count, and the items."""
    new_row = np.diff(ranked.targets.row, prepend=-1) > 0

    def count(task: Task) -> None:
        queries, items, lock = task
        resolve(space, ranked, open_pairs(space, ranked, queries, items), lock)
        progress(int(new_row[queries].sum()) * (items.stop - items.start))

    for rows, items in sides:
        queries = slice(*np.searchsorted(ranked.targets.row, (rows.start, rows.stop)).tolist())
        for_each(count, _tasks(ranked, queries, items, plan), plan.threads)


def _tasks(ranked: Ranked, queries: slice, items: slice, plan: Plan) -> Iterator[Task]:
    """Yield tasks with as many items as a tile has, and queries for as many pairs as are resolved at a time."""
    # A task has at least as many items as a query has thresholds, because their keys are computed for each task.
    most = int((ranked.thresholds.stop - ranked.thresholds.start).max())
    width = min(items.stop - items.start, max(plan.side, most), plan.undecided)
    height = plan.undecided // width
    parts = [(part, Lock()) for part in stripes(queries.start, queries.stop, height)]
    for columns in stripes(items.start, items.stop, width):
        for part, lock in parts:
            yield part, columns, lock


def open_pairs(space: Space, ranked: Ranked, queries: slice, items: slice) -> Undecided:
    """Pairs of queries and the items that they do not leave out, as undecided among all of their thresholds."""
    targets, thresholds = ranked.targets, ranked.thresholds
    length = thresholds.stop[queries] - thresholds.start[queries]
    nearness = np.zeros((len(length), items.stop - items.start), dtype=np.float32)
    nearness[length == 0] = -np.inf
    hide_in_rows(targets.run, targets.first[queries], targets.last[queries], items.start, nearness)
    query, item = np.nonzero(nearness == 0)
    weight = space.items.weight[items][item]
    return Undecided(queries.start + query, items.start + item, weight, np.zeros_like(item), length[query])


@native
def hide_in_rows(
    run: SmallIntArray, first: IntArray, last: IntArray, start: int, nearness: Output[npt.NDArray[np.float32]]
) -> None:
    """Set the nearness of the items, from `start` on, that each query leaves out to -inf; a row is a query's."""
