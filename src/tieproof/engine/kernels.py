"""The counting: into which gap between thresholds, or onto which threshold, does each item of a tile fall?"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.compiled import kernel
from tieproof.exact.space import Form

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]

FEW = 12
"""Up to so many thresholds, comparing with each of them beats searching."""


class Thresholds(NamedTuple):
    """The distinct distances of the relevant items of some queries, nearest first, as intervals of nearness.

    Query q has the thresholds pointer[q] … pointer[q+1]-1. `low` and `high` enclose the exact nearness; both fall.
    """

    pointer: IntArray
    low: FloatArray
    high: FloatArray


class Targets(NamedTuple):
    """The queries that a tile is counted for."""

    row: IntArray  # the distinct row of each query, ascending
    masked_pointer: IntArray  # distinct items left out of the count: masked_pointer[q] … masked_pointer[q+1]-1,
    masked: SmallIntArray  # ascending within a query


class Counts(NamedTuple):
    """What accumulates, by addition only, so that no order of tiles or threads can matter."""

    gap: SmallIntArray  # items whose nearest threshold farther away is this one
    equal: SmallIntArray  # items at exactly this threshold


class Undecided(NamedTuple):
    """Items whose interval of nearness meets thresholds first … last-1 of their query."""

    query: IntArray
    item: IntArray
    weight: IntArray
    first: IntArray
    last: IntArray


class Place(NamedTuple):
    """Where a tile stands: its first query, past its last query, its first distinct row, its first column."""

    query: int
    stop: int
    row: int
    column: int


@kernel
def nearer_than(thresholds: FloatArray, start: int, stop: int, value: float) -> int:
    """How many of the falling thresholds[start:stop] are larger than `value`."""
    base, count = start, stop - start
    while count > 1:
        half = count >> 1
        if thresholds[base + half - 1] > value:
            base += half
        count -= half
    if count == 1 and thresholds[base] > value:
        base += 1
    return base - start


@kernel
def read_row(entries: npt.NDArray[Any], form: Form, row_error: float, low: FloatArray, high: FloatArray) -> None:
    """Intervals of nearness of a tile's row."""
    for c in range(entries.shape[0]):
        entry = np.float64(entries[c])
        nearness = entry * abs(entry) / form.offset[c] if form.ratio else form.scale * entry + form.offset[c]
        error = form.relative * abs(nearness) + row_error * form.column[c] + form.constant[c]
        low[c] = nearness - error
        high[c] = nearness + error


@kernel
def mask(targets: Targets, query: int, column: int, low: FloatArray, high: FloatArray) -> None:
    """Send the query's masked items infinitely far away."""
    start, stop = targets.masked_pointer[query], targets.masked_pointer[query + 1]
    masked = targets.masked
    while start < stop:
        middle = (start + stop) >> 1
        if masked[middle] < column:
            start = middle + 1
        else:
            stop = middle
    stop = targets.masked_pointer[query + 1]
    while start < stop and masked[start] < column + low.shape[0]:
        low[masked[start] - column] = -np.inf
        high[masked[start] - column] = -np.inf
        start += 1


@kernel
def count_tile(
    tile: npt.NDArray[Any],
    form: Form,
    place: Place,
    targets: Targets,
    thresholds: Thresholds,
    weights: IntArray,
    counts: Counts,
    undecided: Undecided,
) -> tuple[int, int]:
    """Count a tile for the queries place.query … place.stop-1.

    Returns the query to go on with (place.stop when done) and the number of undecided items. It stops early
    where the next query might overflow `undecided`.
    """
    width = tile.shape[1]
    low, high = np.empty(width), np.empty(width)
    used = 0
    for query in range(place.query, place.stop):
        start, stop = thresholds.pointer[query], thresholds.pointer[query + 1]
        if start == stop:
            continue
        if used + width > undecided.query.shape[0]:
            return query, used
        row = targets.row[query] - place.row
        read_row(tile[row], form, form.row[row], low, high)
        mask(targets, query, place.column, low, high)
        if stop - start <= FEW:
            open_items = count_few(low, high, weights, thresholds, start, stop, form.certain, counts)
        else:
            open_items = count_many(low, high, weights, thresholds, start, stop, counts)
        if open_items:
            used = collect(query, low, high, weights, thresholds, place.column, undecided, used)
    return place.stop, used


@kernel
def count_few(
    low: FloatArray,
    high: FloatArray,
    weights: IntArray,
    thresholds: Thresholds,
    start: int,
    stop: int,
    certain: bool,
    counts: Counts,
) -> bool:
    """Compare all items with each threshold; whether any item is undecided."""
    before = 0
    open_items = False
    for t in range(start, stop):
        threshold_low, threshold_high = thresholds.low[t], thresholds.high[t]
        nearer = 0
        near_or_equal = 0
        for c in range(low.shape[0]):
            nearer += weights[c] if low[c] > threshold_high else 0
            near_or_equal += weights[c] if high[c] >= threshold_low else 0
        counts.gap[t] += nearer - before
        before = nearer
        if near_or_equal > nearer:
            if certain:
                counts.equal[t] += near_or_equal - nearer
            else:
                open_items = True
    if open_items:
        settle(low, high, weights, thresholds, start, stop, counts)
    return open_items


@kernel
def settle(
    low: FloatArray,
    high: FloatArray,
    weights: IntArray,
    thresholds: Thresholds,
    start: int,
    stop: int,
    counts: Counts,
) -> None:
    """After `count_few`: take back undecided items, and count as equal those that are without error."""
    for c in range(low.shape[0]):
        last = nearer_than_or_equal(thresholds.high, start, stop, low[c])
        first = nearer_than(thresholds.low, start, stop, high[c])
        if first == last:
            continue
        if is_equal(low[c], high[c], thresholds, start + first, start + last):
            counts.equal[start + first] += weights[c]
        elif start + last < stop:
            counts.gap[start + last] -= weights[c]


@kernel
def nearer_than_or_equal(thresholds: FloatArray, start: int, stop: int, value: float) -> int:
    """How many of the falling thresholds[start:stop] are at least `value`."""
    base, count = start, stop - start
    while count > 1:
        half = count >> 1
        if thresholds[base + half - 1] >= value:
            base += half
        count -= half
    if count == 1 and thresholds[base] >= value:
        base += 1
    return base - start


@kernel
def is_equal(low: float, high: float, thresholds: Thresholds, first: int, last: int) -> bool:
    """Whether an item meets one threshold only and neither has any error."""
    return last - first == 1 and low == high and thresholds.low[first] == thresholds.high[first]


@kernel
def count_many(
    low: FloatArray,
    high: FloatArray,
    weights: IntArray,
    thresholds: Thresholds,
    start: int,
    stop: int,
    counts: Counts,
) -> bool:
    """Search the place of each item; whether any is undecided."""
    farthest = thresholds.low[stop - 1]
    open_items = False
    for c in range(low.shape[0]):
        if high[c] < farthest:
            continue
        first = start + nearer_than(thresholds.low, start, stop, high[c])
        last = first
        while last < stop and thresholds.high[last] >= low[c]:
            last += 1
        if first == last:
            counts.gap[first] += weights[c]
        elif is_equal(low[c], high[c], thresholds, first, last):
            counts.equal[first] += weights[c]
            if last < stop:
                counts.gap[last] += weights[c]
        else:
            open_items = True
    return open_items


@kernel
def collect(
    query: int,
    low: FloatArray,
    high: FloatArray,
    weights: IntArray,
    thresholds: Thresholds,
    column: int,
    undecided: Undecided,
    used: int,
) -> int:
    """Append the undecided items of a row; return how many there are now."""
    start, stop = thresholds.pointer[query], thresholds.pointer[query + 1]
    for c in range(low.shape[0]):
        if high[c] < thresholds.low[stop - 1]:
            continue
        first = nearer_than(thresholds.low, start, stop, high[c])
        last = nearer_than_or_equal(thresholds.high, start, stop, low[c])
        if first == last or is_equal(low[c], high[c], thresholds, start + first, start + last):
            continue
        undecided.query[used] = query
        undecided.item[used] = column + c
        undecided.weight[used] = weights[c]
        undecided.first[used] = first
        undecided.last[used] = last
        used += 1
    return used


@kernel
def narrow(low: FloatArray, high: FloatArray, thresholds: Thresholds, undecided: Undecided) -> None:
    """Narrow first … last-1 by sharper intervals of nearness."""
    for i in range(low.shape[0]):
        origin = thresholds.pointer[undecided.query[i]]
        start, stop = origin + undecided.first[i], origin + undecided.last[i]
        undecided.last[i] = start - origin + nearer_than_or_equal(thresholds.high, start, stop, low[i])
        undecided.first[i] = start - origin + nearer_than(thresholds.low, start, stop, high[i])
