"""Counting many items of a row at once: sorted into buckets between the thresholds, most need no comparison."""

import numpy as np

from tieproof.compiled import kernel, part
from tieproof.engine.masks import hide
from tieproof.engine.structures import (
    CONTINUED,
    Counts,
    FloatArray,
    Int,
    Places,
    Room,
    Row,
    Scratch,
    SmallIntArray,
    Thresholds,
    Tile,
    Work,
)

BUCKETS = 8
"""Buckets per threshold (measured)."""

SOME = 256
"""Buckets beside these, so that a few thresholds touch few of them."""

MOST = 2**15 - 1
"""Thresholds up to which there are buckets: an entry of their table has 15 bits."""


LEVELS = 2**12
"""Whole numbers between the thresholds up to which each gets a count of its own."""


@kernel
def count_crowded(tile: Tile, work: Work, first: int, many: int, room: Room) -> tuple[int, int]:
    """Count all items for the crowded queries from the place `first` on, but those that may be equal to a threshold.

    Returns the place to go on with (`many` when done) and how many items are listed.
    """
    entries, factor, shift, targets = tile.entries, tile.form.factor, tile.form.shift, work.targets
    value, close = room.scratch.value, room.scratch.close
    near_query, near_row, near_item, near_entry, _, _, _, _ = room.near
    found = 0
    for i in range(first, many):
        if found + value.shape[0] > near_query.shape[0]:
            return i, found
        q = room.crowded[i]
        r = targets.row[q] - tile.row
        raw = entries[r]
        for c in range(raw.shape[0]):
            value[c] = raw[c] * factor[c] - shift[c]
        hide(targets, q, tile.column, value)
        for j in range(count_by_buckets(tile, work, q, room.scratch)):
            near_query[found], near_row[found], near_item[found] = q, r, close[j]
            near_entry[found] = raw[close[j]]
            found += 1
    return many, found


@part
def count_by_buckets(tile: Tile, work: Work, query: int, scratch: Scratch) -> Int:
    """Count the items by scratch.value, but those that may be equal to a threshold.

    Returns how many these are; they are listed in scratch.close.
    """
    start, stop = work.thresholds.start[query], work.thresholds.stop[query]
    low, high = scratch.low[: stop - start], scratch.high[: stop - start]
    here = Counts(work.counts.gap[start:stop], work.counts.equal[start:stop])
    form = tile.form
    widen(work.thresholds, query, form.ratio, low, high)
    lowest, highest = low[stop - start - 1], high[0]
    if form.whole and tile.error.certain and highest - lowest < LEVELS:
        count_levels(low, form.weight, here, scratch)
        return 0
    if not -np.inf < lowest <= highest < np.inf:
        value, close, kept = scratch.value, scratch.close, 0
        for c in range(value.shape[0]):
            close[kept] = c
            kept += value[c] > -np.inf  # what the query leaves out is there
        return kept
    near = sort_into_buckets(low, high, form.weight, scratch)
    if tile.error.certain:
        nearness_of(near, tile, tile.entries[work.targets.row[query] - tile.row], scratch)
        compare(near, work.thresholds.key[start:stop], form.weight, here, scratch)
        return 0
    return look_closer(near, low, high, form.weight, here, scratch)


@part
def count_levels(keys: Row, weight: SmallIntArray, counts: Counts, scratch: Scratch) -> None:
    """Count whole numbers: how many items there are at each, from the last threshold up."""
    value, slots, gap, equal = scratch.value, scratch.slots, counts.gap, counts.equal
    lowest = keys[keys.shape[0] - 1]
    top = keys[0] - lowest + value.dtype.type(1)
    levels = np.int64(top) + 1
    slots[:levels] = 0
    below = value.dtype.type(-1)
    for c in range(value.shape[0]):
        scratch.position[c] = np.uint32(min(max(value[c] - lowest, below), top) + value.dtype.type(1))
    position = scratch.position
    slots[levels] = 0
    for c in range(value.shape[0]):
        slots[position[c]] += weight[c]
    nearer, level = 0, levels
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
def widen(thresholds: Thresholds, query: int, ratio: bool, low: Row, high: Row) -> None:
    """Intervals, in the tile's type, of all entries that may belong to the query's thresholds; both ends fall.

    For ratios s |s| / n the entries are their signed roots. The roundings here are covered by `margin`
    (exact/README.md, section 4).
    """
    reach, margin = thresholds.reach[query], thresholds.margin[query]
    start, keys = thresholds.start[query], thresholds.key
    for t in range(low.shape[0]):
        key = keys[start + t]
        near, far = key + reach, key - reach
        if ratio:
            near, far = np.copysign(np.sqrt(abs(near)), near), np.copysign(np.sqrt(abs(far)), far)
        low[t] = far - margin
        high[t] = near + margin


@part
def buckets_of(values: Row, origin: float, scale: float, top: float, bucket: Places) -> None:
    """The bucket of each value, 0 … top. It never falls as values grow: every operation rounds monotonically."""
    zero, one = values.dtype.type(0), values.dtype.type(1)
    for i in range(values.shape[0]):
        bucket[i] = np.uint32(min(max((values[i] - origin) * scale + one, zero), top))


@part
def sort_into_buckets(low: Row, high: Row, weight: SmallIntArray, scratch: Scratch) -> Int:
    """Count all items as their buckets suggest; list those that a threshold may be near to, return how many.

    An entry of the table is the number of thresholds above its bucket and, in the highest bit, whether a
    threshold's interval touches it.
    """
    one, touched, number = np.uint16(1), np.uint16(2**15), np.uint16(2**15 - 1)
    count = low.shape[0]
    size = BUCKETS * count + SOME
    value, table, slots, position, close = (
        scratch.value,
        scratch.table,
        scratch.slots,
        scratch.position,
        scratch.close,
    )
    origin, top = low[count - 1], value.dtype.type(size - 1)
    extent = high[0] - origin
    scale = value.dtype.type(size - 3) / extent if extent > 0 else value.dtype.type(1)
    if not 0 < scale < np.inf:
        scale = value.dtype.type(1)
    table[:size] = 0
    first, last = position[:count], close[:count]
    buckets_of(low, origin, scale, top, first)
    buckets_of(high, origin, scale, top, last)
    for t in range(count):
        table[first[t]] = (table[first[t]] + one) | touched
        for b in range(first[t] + np.uint32(1), last[t] + np.uint32(1)):
            table[b] |= touched
    above = np.uint16(0)
    for b in range(size - 1, -1, -1):
        entry = table[b]
        table[b] = above | (entry & touched)
        above += entry & number
    slots[: count + 1] = 0
    buckets_of(value, origin, scale, top, position[: value.shape[0]])
    found = np.uint32(0)
    for c in range(np.uint32(value.shape[0])):
        entry = table[position[c]]
        slots[entry & number] += weight[c]
        close[found] = c
        found += np.uint32(entry >> np.uint16(15))
    return np.int64(found)


@part
def look_closer(found: Int, low: Row, high: Row, weight: SmallIntArray, counts: Counts, scratch: Scratch) -> Int:
    """Compare the items in touched buckets with the thresholds next to them; list those that may be equal to one."""
    slots, close, table, position = scratch.slots, scratch.close, scratch.table, scratch.position
    values = scratch.value
    kept = 0
    for j in range(found):
        c = close[j]
        base = np.int64(table[position[c]] & np.uint16(2**15 - 1))
        value = values[c]
        t = first_at_most(low, value, base)
        slots[base] -= weight[c]
        if t == low.shape[0] or high[t] < value:
            slots[t] += weight[c]
        else:
            close[kept] = c
            kept += 1
    add_slots(slots, counts.gap)
    return kept


@part
def nearness_of(found: Int, tile: Tile, raw: Row, scratch: Scratch) -> None:
    """Nearness of the listed items, which has no error."""
    close, near, values, square = scratch.close, scratch.near, scratch.value, tile.form.square
    if tile.form.ratio:
        for j in range(found):
            c = close[j]
            near[j] = np.float64(raw[c]) * abs(np.float64(raw[c])) / square[c]
    else:
        for j in range(found):
            near[j] = values[close[j]]


@part
def compare(found: Int, keys: FloatArray, weight: SmallIntArray, counts: Counts, scratch: Scratch) -> None:
    """Compare the items in touched buckets with the keys next to them, and count them: nothing has an error."""
    slots, close, table, position = scratch.slots, scratch.close, scratch.table, scratch.position
    near, behind, gap, equal = scratch.near, scratch.behind, counts.gap, counts.equal
    next_tie = np.uint32(keys.shape[0])
    for t in range(keys.shape[0] - 1, -1, -1):
        behind[t] = next_tie
        if gap[t] != CONTINUED:
            next_tie = np.uint32(t)
    for j in range(found):
        c = close[j]
        base = np.int64(table[position[c]] & np.uint16(2**15 - 1))
        at = first_at_most(keys, near[j], base)
        slots[base] -= weight[c]
        if at < keys.shape[0] and keys[at] == near[j]:
            equal[at] += weight[c]
            slots[behind[at]] += weight[c]
        else:
            slots[at] += weight[c]
    add_slots(slots, gap)


@part
def add_slots(slots: SmallIntArray, gap: SmallIntArray) -> None:
    """Add what was counted before each threshold."""
    for t in range(gap.shape[0]):
        if slots[t]:
            gap[t] += slots[t]


@part
def first_at_most(low: Row, value: float, t: Int) -> Int:
    """The first of the falling bounds, from `t` on, that is at most `value`: mostly one of the next few."""
    stop = min(t + 8, low.shape[0])
    while t < stop:
        if low[t] <= value:
            return t
        t += 1
    stop = low.shape[0]
    while t < stop:
        middle = (t + stop) >> 1
        if low[middle] > value:
            t = middle + 1
        else:
            stop = middle
    return t
