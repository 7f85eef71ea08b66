"""Counting many items of a row at once: sorted into buckets between the thresholds, most need no comparison."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.compiled import kernel
from tieproof.engine.structures import CONTINUED, Counts, Places, Row, SmallIntArray, Thresholds, Tile, Work

BUCKETS = 8
"""Buckets per threshold (measured)."""

SOME = 256
"""Buckets beside these, so that a few thresholds touch few of them."""

MOST = 2**15 - 1
"""Thresholds up to which there are buckets: an entry of their table has 15 bits."""


class Scratch(NamedTuple):
    """A thread's room for one query."""

    entry: Row  # of the items that remain to be placed
    value: Row  # nearness of the items that are counted
    low: Row  # bounds of the thresholds
    high: Row
    table: npt.NDArray[np.uint16]  # one entry per bucket
    slots: SmallIntArray  # items in each gap
    position: Places  # buckets
    near: Places  # which items are in a bucket that a threshold touches
    close: Places  # columns of items that remain to be placed


@kernel
def make_scratch(row: Row, most: int) -> Scratch:
    """Room for a row of a tile and at most so many thresholds."""
    size = max(row.shape[0], most)
    return Scratch(
        np.empty_like(row),
        np.empty_like(row),
        np.empty(most, dtype=row.dtype),
        np.empty(most, dtype=row.dtype),
        np.empty(BUCKETS * most + SOME, dtype=np.uint16),
        np.empty(most + 1, dtype=np.int32),
        np.empty(size, dtype=np.uint32),
        np.empty(size + 1, dtype=np.uint32),
        np.empty(size + 8, dtype=np.uint32),
    )


@kernel
def count_by_buckets(tile: Tile, work: Work, query: int, found: int, scratch: Scratch) -> int:
    """Count the `found` items that scratch.close lists but those that may be equal to a threshold.

    Returns how many these are; they are listed in scratch.close then.
    """
    start, stop = work.thresholds.start[query], work.thresholds.stop[query]
    count = stop - start
    if count > MOST:
        return found
    form, factor, shift = tile.form, tile.form.factor, tile.form.shift
    raw, close, value = tile.entries[work.targets.row[query] - tile.row], scratch.close, scratch.value[:found]
    for i in range(found):
        c = close[i]
        value[i] = raw[c] * factor[c] - shift[c]
    low, high = scratch.low[:count], scratch.high[:count]
    widen(work.thresholds, query, form.ratio, low, high)
    if not -np.inf < low[count - 1] <= high[0] < np.inf:
        return found
    near = sort_into_buckets(value, low, high, form.weight, scratch)
    here = Counts(work.counts.gap[start:stop], work.counts.equal[start:stop])
    return look_closer(near, low, high, form.weight, tile.error.certain and not form.ratio, here, scratch)


@kernel
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


@kernel
def buckets_of(values: Row, origin: float, scale: float, top: float, bucket: Places) -> None:
    """The bucket of each value, 0 … top. It never falls as values grow: every operation rounds monotonically."""
    zero, one = values.dtype.type(0), values.dtype.type(1)
    for i in range(values.shape[0]):
        bucket[i] = np.uint32(min(max((values[i] - origin) * scale + one, zero), top))


@kernel
def sort_into_buckets(value: Row, low: Row, high: Row, weight: SmallIntArray, scratch: Scratch) -> int:
    """Count all items as their buckets suggest; list those that a threshold may be near to, return how many.

    An entry of the table is the number of thresholds above its bucket and, in the highest bit, whether a
    threshold's interval touches it.
    """
    one, touched, number = np.uint16(1), np.uint16(2**15), np.uint16(2**15 - 1)
    count = low.shape[0]
    size = BUCKETS * count + SOME
    table, slots = scratch.table, scratch.slots
    origin, top = low[count - 1], value.dtype.type(size - 1)
    extent = high[0] - origin
    scale = value.dtype.type(size - 3) / extent if extent > 0 else value.dtype.type(1)
    if not 0 < scale < np.inf:
        scale = value.dtype.type(1)
    table[:size] = 0
    first, last = scratch.position[:count], scratch.near[:count]
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
    position, near, close = scratch.position, scratch.near, scratch.close
    buckets_of(value, origin, scale, top, position[: value.shape[0]])
    found = np.uint32(0)
    for i in range(np.uint32(value.shape[0])):
        entry = table[position[i]]
        slots[entry & number] += weight[close[i]]
        near[found] = i
        found += np.uint32(entry >> np.uint16(15))
    return np.int64(found)


@kernel
def look_closer(
    found: int, low: Row, high: Row, weight: SmallIntArray, exact: bool, counts: Counts, scratch: Scratch
) -> int:
    """Compare the items in touched buckets with the thresholds next to them; list those that may be equal to one.

    exact: then they are equal, and counted so.
    """
    slots, close, table, position, near = scratch.slots, scratch.close, scratch.table, scratch.position, scratch.near
    values, gap = scratch.value, counts.gap
    kept = 0
    for j in range(found):
        i = near[j]
        base = np.int64(table[position[i]] & np.uint16(2**15 - 1))
        value, c = values[i], close[i]
        t = first_at_most(low, value, base)
        slots[base] -= weight[c]
        if t == low.shape[0] or high[t] < value:
            slots[t] += weight[c]
        elif exact:
            add_equal(counts, t, weight[c])
        else:
            close[kept] = c
            kept += 1
    for t in range(low.shape[0]):
        if slots[t]:
            gap[t] += slots[t]
    return kept


@kernel
def first_at_most(low: Row, value: float, t: int) -> int:
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


@kernel
def add_equal(counts: Counts, t: int, weight: int) -> None:
    """Count an item as equal to the tie that starts at `t`, and as nearer than the one behind it."""
    gap = counts.gap
    counts.equal[t] += weight
    t += 1
    while t < gap.shape[0] and gap[t] == CONTINUED:
        t += 1
    if t < gap.shape[0]:
        gap[t] += weight
