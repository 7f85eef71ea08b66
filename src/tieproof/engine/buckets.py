"""Counting many items of a row at once: sorted into buckets between the thresholds, most need no comparison."""

import numpy as np

from tieproof.engine.masks import hide
from tieproof.engine.structures import Counts, Int, NearEntries, Places, Row, Sorting, Targets, Thresholds, Tile
from tieproof.native.compiled import kernel, part
from tieproof.ties import FloatArray, IntArray, SmallIntArray

BUCKETS = 8
"""Buckets per threshold (measured)."""

SOME = 256
"""Buckets beside these, so that a few thresholds touch few of them."""

MOST = 2**15 - 1
"""Thresholds up to which there are buckets: an entry of their table has 15 bits."""


@kernel
def count_crowded(
    tile: Tile,
    targets: Targets,
    thresholds: Thresholds,
    counts: Counts,
    crowded: IntArray,
    sorting: Sorting,
    listed: NearEntries,
) -> tuple[int, int]:
    """Count all items for the crowded queries, but list those that may be equal to a threshold.

    Returns how many of the queries are done and how many items are listed.
    """
    entries, weight = tile.entries, tile.form.weight
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
        show(raw, tile.form.factor, tile.form.shift, value)
        hide(targets.run, targets.first[q], targets.last[q], tile.column, value)
        here = slice(start[q], stop[q])
        low, high = lows[: stop[q] - start[q]], highs[: stop[q] - start[q]]
        widen(thresholds.key[here], thresholds.reach[q], thresholds.margin[q], tile.form.ratio, low, high)
        if -np.inf < low[low.shape[0] - 1] and high[0] < np.inf:
            touched = sort_into_buckets(low, high, value, weight, table, slots, position, close)
            kept = look_closer(touched, low, high, value, weight, table, slots, position, close)
            add_slots(slots, counts.gap[here])
        else:
            kept = list_counted(value, close)
        for j in range(kept):
            c = close[j]
            near_query[found], near_row[found], near_item[found], near_entry[found] = q, r, c, raw[c]
            found += 1
    return crowded.shape[0], found


@part
def show(raw: Row, factor: Row, shift: Row, value: Row) -> None:
    """The nearness that a tile shows of each item."""
    for c in range(raw.shape[0]):
        value[c] = raw[c] * factor[c] - shift[c]


@part
def list_counted(value: Row, close: Places) -> Int:
    """List all items but those that the query leaves out, which are infinitely far away."""
    kept = np.uint32(0)
    for c in range(value.shape[0]):
        close[kept] = c
        kept += np.uint32(value[c] > -np.inf)
    return np.int64(kept)


@part
def widen(keys: FloatArray, reach: float, margin: float, ratio: bool, low: Row, high: Row) -> None:
    """Intervals, in the tile's type, of all entries that may belong to a query's thresholds; both ends fall.

    For ratios s |s| / n the entries are their signed roots. The roundings here are covered by `margin`
    (exact/README.md, section 4).
    """
    for t in range(keys.shape[0]):
        near, far = keys[t] + reach, keys[t] - reach
        if ratio:
            near = np.copysign(np.sqrt(abs(near)), near)
            far = near if reach == 0.0 else np.copysign(np.sqrt(abs(far)), far)
        low[t] = far - margin
        high[t] = near + margin


@part
def buckets_of(values: Row, origin: float, scale: float, top: float, bucket: Places) -> None:
    """The bucket of each value, 0 … top. It never falls as values grow: every operation rounds monotonically."""
    zero, one = values.dtype.type(0), values.dtype.type(1)
    for i in range(values.shape[0]):
        place = (values[i] - origin) * scale + one
        place = place if place > zero else zero
        bucket[i] = np.uint32(place if place < top else top)


@part
def sort_into_buckets(
    low: Row,
    high: Row,
    value: Row,
    weight: SmallIntArray,
    table: Row,
    slots: SmallIntArray,
    position: Places,
    close: Places,
) -> Int:
    """Count all items as their buckets suggest; list those that a threshold may be near to, return how many.

    An entry of the table is the number of thresholds above its bucket and, in the highest bit, whether a
    threshold's interval touches it.
    """
    one, touched, number = np.uint16(1), np.uint16(2**15), np.uint16(2**15 - 1)
    count = low.shape[0]
    size = BUCKETS * count + SOME
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
def look_closer(
    touched: Int,
    low: Row,
    high: Row,
    value: Row,
    weight: SmallIntArray,
    table: Row,
    slots: SmallIntArray,
    position: Places,
    close: Places,
) -> Int:
    """Compare the items in touched buckets with the thresholds next to them; list those that may be equal to one."""
    kept = 0
    for j in range(touched):
        c = close[j]
        base = np.int64(table[position[c]] & np.uint16(2**15 - 1))
        t = first_at_most(low, value[c], base)
        slots[base] -= weight[c]
        if t == low.shape[0] or high[t] < value[c]:
            slots[t] += weight[c]
        else:
            close[kept] = c
            kept += 1
    return kept


@part
def add_slots(slots: SmallIntArray, gap: SmallIntArray) -> None:
    """Add what was counted before each threshold."""
    for t in range(gap.shape[0]):
        if slots[t]:
            gap[t] += slots[t]


@part
def first_at_most(low: Row, value: float, t: Int) -> Int:
    """The first of the falling bounds, from `t` on, that is at most `value`: mostly one of the next two.

    These are counted, since a processor could not guess which.
    """
    stop = low.shape[0]
    second = t + 1 if t + 1 < stop else stop - 1
    if t < stop:
        t += np.int64(low[t] > value) + np.int64(low[second] > value)
        t = t if t < stop else stop
    if t < stop and low[t] > value:
        while t < stop:
            middle = (t + stop) >> 1
            if low[middle] > value:
                t = middle + 1
            else:
                stop = middle
    return t
