"""The counting: how many items of a tile fall into each gap between thresholds, and onto each threshold."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.compiled import kernel
from tieproof.exact.space import Error

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
Row = npt.NDArray[Any]

FEW = 12
"""Up to so many thresholds, comparing with each of them beats searching (measured)."""


class Thresholds(NamedTuple):
    """The distinct distances of the relevant items of some queries, nearest first, as intervals of nearness.

    Query q has the thresholds pointer[q] … pointer[q+1]-1. `low` and `high` enclose the exact nearness; `wide_low`
    and `wide_high` enclose, in the tile's type, every tile entry that its error allows to be equal. All four fall.
    """

    pointer: IntArray
    low: FloatArray
    high: FloatArray
    wide_low: Row
    wide_high: Row


class Targets(NamedTuple):
    """The queries that a tile is counted for."""

    row: IntArray  # the distinct row of each query, ascending
    masked_pointer: IntArray  # distinct items left out of the count: masked_pointer[q] … masked_pointer[q+1]-1,
    masked: SmallIntArray  # ascending within a query


class Counts(NamedTuple):
    """What accumulates, by addition only, so that no order of tiles or threads can matter."""

    gap: SmallIntArray  # items nearer than this threshold, but not nearer than the one before
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
def count_tile(
    tile: Row,
    error: Error,
    place: Place,
    targets: Targets,
    thresholds: Thresholds,
    weights: SmallIntArray,
    counts: Counts,
    undecided: Undecided,
) -> tuple[int, int]:
    """Count a tile of nearness for the queries place.query … place.stop-1.

    Returns the query to go on with (place.stop when done) and the number of undecided items. It stops early
    where the next query might overflow `undecided`.
    """
    width = tile.shape[1]
    row = np.empty_like(tile[0])
    position, close = np.empty(width, dtype=np.uint32), np.empty(width, dtype=np.uint32)
    used = 0
    for query in range(place.query, place.stop):
        start, stop = thresholds.pointer[query], thresholds.pointer[query + 1]
        if start == stop:
            continue
        if used + width > undecided.query.shape[0]:
            return query, used
        r = targets.row[query] - place.row
        for c in range(width):
            row[c] = tile[r, c]
        mask(targets, query, place.column, row)
        low, high = thresholds.wide_low[start:stop], thresholds.wide_high[start:stop]
        here = Counts(counts.gap[start:stop], counts.equal[start:stop])
        if stop - start <= FEW:
            found = compare(row, weights, low, high, here, error.certain, close)
        else:
            found = search(row, weights, low, high, here, error.certain, position, close)
        for i in range(found):
            c = close[i]
            nearness = np.float64(row[c])
            bound = error.relative * abs(nearness) + error.row[r] * error.column[c] + error.constant[c]
            first, last, is_equal = locate(
                nearness - bound, nearness + bound, thresholds.low[start:stop], thresholds.high[start:stop]
            )
            if is_equal or first == last:
                add(here, last, is_equal, weights[c])
            else:
                undecided.query[used], undecided.item[used] = query, place.column + c
                undecided.first[used], undecided.last[used] = first, last
                undecided.weight[used] = weights[c]
                used += 1
    return place.stop, used


@kernel
def mask(targets: Targets, query: int, column: int, row: Row) -> None:
    """Send the query's masked items infinitely far away."""
    start, stop = targets.masked_pointer[query], targets.masked_pointer[query + 1]
    end = stop
    masked = targets.masked
    while start < stop:
        middle = (start + stop) >> 1
        if masked[middle] < column:
            start = middle + 1
        else:
            stop = middle
    while start < end and masked[start] < column + row.shape[0]:
        row[masked[start] - column] = -np.inf
        start += 1


@kernel
def compare(row: Row, weights: SmallIntArray, low: Row, high: Row, counts: Counts, certain: bool, close: Row) -> int:
    """Compare all items with each of a few thresholds; return how many are `close` to one and not counted."""
    before = np.int32(0)
    found = 0
    for t in range(low.shape[0]):
        nearer = np.int32(0)
        near = np.int32(0)
        threshold_low, threshold_high = low[t], high[t]
        for c in range(row.shape[0]):
            nearer += weights[c] if row[c] > threshold_high else np.int32(0)
            near += weights[c] if row[c] >= threshold_low else np.int32(0)
        counts.gap[t] += nearer - before
        before = nearer
        if near == nearer:
            continue
        if certain:
            counts.equal[t] += near - nearer
            continue
        for c in range(row.shape[0]):
            if threshold_low <= row[c] <= threshold_high and not (t > 0 and low[t - 1] <= row[c]):
                close[found] = c
                found += 1
                # It was counted, and will be, as nearer than the thresholds beyond all that it is close to.
                beyond = t + 1
                while beyond < low.shape[0] and high[beyond] >= row[c]:
                    beyond += 1
                if beyond < low.shape[0]:
                    counts.gap[beyond] -= weights[c]
    return found


@kernel
def search(
    row: Row,
    weights: SmallIntArray,
    low: Row,
    high: Row,
    counts: Counts,
    certain: bool,
    position: Row,
    close: Row,
) -> int:
    """Search all items at once among many thresholds; return how many are `close` to one and not counted."""
    one = np.uint32(1)
    width, total = row.shape[0], np.uint32(low.shape[0])
    for c in range(width):
        position[c] = 0
    count = total
    while count > one:
        half = count >> one
        for c in range(width):
            p = position[c]
            position[c] = p + half if low[p + half - one] > row[c] else p
        count -= half
    for c in range(width):
        p = position[c]
        position[c] = p + one if low[p] > row[c] else p
    for c in range(width):
        p = min(position[c], total - one)
        close[c] = one if position[c] < total and high[p] >= row[c] else np.uint32(0)
    found = 0
    for c in range(width):
        touches = close[c]
        p = position[c]
        if touches and not certain:
            # Overwrites only what has been read.
            close[found] = c
            found += 1
        elif p < total:
            counts.equal[p] += weights[c] if touches else 0
            p += touches
            counts.gap[min(p, total - one)] += weights[c] if p < total else 0
    return found


@kernel
def locate(low: float, high: float, lows: FloatArray, highs: FloatArray) -> tuple[int, int, bool]:
    """Where an interval stands: nearer than all thresholds from `last` on, farther than those before `first`.

    True: it is equal to the one between, for neither has an error.
    """
    first = before_value(lows, high, False)
    last = before_value(highs, low, True)
    is_equal = last - first == 1 and low == high and lows[first] == highs[first]
    return first, last, is_equal


@kernel
def before_value(falling: FloatArray, value: float, or_equal: bool) -> int:
    """How many of the falling numbers are larger than `value`, or at least as large."""
    start, stop = 0, falling.shape[0]
    while start < stop:
        middle = (start + stop) >> 1
        if falling[middle] > value or (or_equal and falling[middle] == value):
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def add(counts: Counts, place: int, is_equal: bool, weight: int) -> None:
    """Count an item as nearer than the thresholds from `place` on, and as equal to the one before where so."""
    if place < counts.gap.shape[0]:
        counts.gap[place] += weight
    if is_equal:
        counts.equal[place - 1] += weight


@kernel
def settle(low: FloatArray, high: FloatArray, thresholds: Thresholds, counts: Counts, undecided: Undecided) -> int:
    """Count what sharper intervals of nearness decide; move the rest to the front and return how many they are."""
    rest = 0
    for i in range(low.shape[0]):
        query = undecided.query[i]
        start, stop = thresholds.pointer[query], thresholds.pointer[query + 1]
        near = slice(start + undecided.first[i], start + undecided.last[i])
        first, last, is_equal = locate(low[i], high[i], thresholds.low[near], thresholds.high[near])
        first += undecided.first[i]
        last += undecided.first[i]
        if is_equal or first == last:
            add(Counts(counts.gap[start:stop], counts.equal[start:stop]), last, is_equal, undecided.weight[i])
            continue
        for column in undecided:
            column[rest] = column[i]
        undecided.first[rest], undecided.last[rest] = first, last
        rest += 1
    return rest


@kernel
def transposed(tile: Row) -> Row:
    """A contiguous transpose, made in blocks that the cache holds."""
    size = 32
    out = np.empty((tile.shape[1], tile.shape[0]), dtype=tile.dtype)
    for top in range(0, tile.shape[0], size):
        for left in range(0, tile.shape[1], size):
            for j in range(left, min(left + size, tile.shape[1])):
                for i in range(top, min(top + size, tile.shape[0])):
                    out[j, i] = tile[i, j]
    return out
