"""Counting many items of a row at once where nothing has an error: each is compared, and none is left undecided."""

import numpy as np

from tieproof.engine.buckets import add_slots, first_at_most, list_counted, show, sort_into_buckets, widen
from tieproof.engine.masks import hide
from tieproof.engine.structures import (
    CONTINUED,
    Counts,
    ExactRoom,
    Int,
    NearEntries,
    Places,
    Row,
    Sorting,
    Targets,
    Thresholds,
    Tile,
)
from tieproof.native.compiled import kernel, part
from tieproof.ties import FloatArray, IntArray, SmallIntArray

WHOLE_NUMBERS = 2**12
"""Whole numbers between the thresholds up to which each gets a count of its own."""


@kernel
def count_exactly(
    tile: Tile,
    targets: Targets,
    thresholds: Thresholds,
    counts: Counts,
    crowded: IntArray,
    sorting: Sorting,
    exact: ExactRoom,
    listed: NearEntries,
) -> tuple[int, int]:
    """Count all items for the crowded queries; list them only where thresholds are beyond the tile's type.

    Returns how many of the queries are done and how many items are listed.
    """
    entries, (factor, shift, square, ratio, whole, weight) = tile.entries, tile.form
    start, stop = thresholds.start, thresholds.stop
    value, lows, highs, table, slots, position, close = sorting
    near_query, near_row, near_item, near_entry = listed
    found = 0
    for i in range(crowded.shape[0]):
        if found + value.shape[0] > near_query.shape[0]:
            return i, found
        q = crowded[i]
        r = targets.row[q] - tile.row
        raw = entries[r]
        show(raw, factor, shift, value)
        hide(targets.run, targets.first[q], targets.last[q], tile.column, value)
        here = slice(start[q], stop[q])
        key, gap, equal = thresholds.key[here], counts.gap[here], counts.equal[here]
        low, high = lows[: key.shape[0]], highs[: key.shape[0]]
        widen(key, thresholds.reach[q], thresholds.margin[q], ratio, low, high)
        lowest, highest = low[key.shape[0] - 1], high[0]
        if whole and highest - lowest < WHOLE_NUMBERS:
            count_levels(low, value, weight, slots, position, gap, equal)
        elif -np.inf < lowest and highest < np.inf:
            touched = sort_into_buckets(low, high, value, weight, table, slots, position, close)
            nearness_of(touched, raw, square, ratio, value, close, exact.near)
            ties_behind(gap, exact.behind)
            count_compared(touched, key, weight, table, slots, position, close, exact, equal)
            add_slots(slots, gap)
        else:
            for j in range(list_counted(value, close)):
                c = close[j]
                near_query[found], near_row[found], near_item[found], near_entry[found] = q, r, c, raw[c]
                found += 1
    return crowded.shape[0], found


@part
def count_levels(
    keys: Row,
    value: Row,
    weight: SmallIntArray,
    slots: SmallIntArray,
    position: Places,
    gap: SmallIntArray,
    equal: SmallIntArray,
) -> None:
    """Count whole numbers: how many items there are at each, from the last threshold up."""
    lowest, zero, one = keys[keys.shape[0] - 1], value.dtype.type(0), value.dtype.type(1)
    top = keys[0] - lowest + one + one
    for c in range(value.shape[0]):
        level = value[c] - lowest + one
        level = level if level > zero else zero
        position[c] = np.uint32(level if level < top else top)
    level = np.int64(top)
    slots[: level + 1] = 0
    for c in range(value.shape[0]):
        slots[position[c]] += weight[c]
    nearer = 0
    for t in range(keys.shape[0]):
        if gap[t] == CONTINUED:
            continue
        here = np.int64(keys[t] - lowest) + 1
        while level > here:
            nearer += slots[level]
            level -= 1
        gap[t] += nearer
        nearer = slots[here]
        equal[t] += nearer
        level = here - 1


@part
def nearness_of(
    touched: Int, raw: Row, square: FloatArray, ratio: bool, value: Row, close: Places, near: FloatArray
) -> None:
    """Nearness of the listed items, which has no error."""
    if ratio:
        for j in range(touched):
            c = close[j]
            near[j] = np.float64(raw[c]) * abs(np.float64(raw[c])) / square[c]
    else:
        for j in range(touched):
            near[j] = value[close[j]]


@part
def ties_behind(gap: SmallIntArray, behind: Places) -> None:
    """For each threshold the first of the next tie."""
    next_tie = np.uint32(gap.shape[0])
    for t in range(gap.shape[0] - 1, -1, -1):
        behind[t] = next_tie
        if gap[t] != CONTINUED:
            next_tie = np.uint32(t)


@part
def count_compared(
    touched: Int,
    keys: FloatArray,
    weight: SmallIntArray,
    table: Row,
    slots: SmallIntArray,
    position: Places,
    close: Places,
    exact: ExactRoom,
    equal: SmallIntArray,
) -> None:
    """Compare the items in touched buckets with the keys next to them, and count them."""
    near, behind = exact
    count = keys.shape[0]
    for j in range(touched):
        c = close[j]
        base = np.int64(table[position[c]] & np.uint16(2**15 - 1))
        at = first_at_most(keys, near[j], base)
        # Counted at its tie and as nearer than the next, or between two ties: without a branch, which nobody could
        # guess.
        place = at if at < count else count - 1
        is_equal = np.int64(keys[place] == near[j])
        slots[base] -= weight[c]
        slots[at + is_equal * (np.int64(behind[place]) - at)] += weight[c]
        equal[place] += is_equal * weight[c]
