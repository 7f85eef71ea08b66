"""The counting: how many items of a tile fall into each gap between thresholds, and onto each threshold.

Items farther than all thresholds need no counting. They are passed over many at a time; what remains is placed item
by item (`intervals.py`), or, where much remains, by buckets (`buckets.py`).
"""

import numpy as np

from tieproof.compiled import kernel
from tieproof.engine.buckets import MOST, count_by_buckets, make_scratch
from tieproof.engine.guide import bracket
from tieproof.engine.intervals import first_below
from tieproof.engine.structures import (
    Candidates,
    Int,
    IntArray,
    Places,
    Row,
    SmallIntArray,
    Targets,
    Thresholds,
    Tile,
    Work,
)

FEW = 8
"""So many items of a row are placed one by one in any case."""

BLOCK = 64
"""Rows and columns that are transposed together (measured)."""

LIST = 2**12
"""Items of a transposed tile that are listed before they are placed."""


@kernel
def count_rows(tile: Tile, work: Work, query: int, stop: int, dense: float) -> tuple[int, int]:
    """Count a tile for the queries `query` … stop-1.

    dense: items per threshold, as near as the last, from which buckets pay. Returns the query to go on with (`stop`
    when done) and the number of undecided items. It stops early where the next query might have more than there is
    room for.
    """
    entries, factor, shift = tile.entries, tile.form.factor, tile.form.shift
    targets, thresholds = work.targets, work.thresholds
    width, room = entries.shape[1], work.undecided.query.shape[0]
    most = 1
    for q in range(query, stop):
        most = max(most, thresholds.stop[q] - thresholds.start[q])
    scratch = make_scratch(entries[0], most)
    value, close = scratch.value, scratch.close
    flag = np.zeros(width + 8, dtype=np.uint8)
    near = make_candidates(width, value)
    near_query, near_row, near_item, near_entry, _, _, _, _ = near
    used = 0
    for q in range(query, stop):
        count = thresholds.stop[q] - thresholds.start[q]
        if count == 0:
            continue
        if used + width > room:
            return q, used
        r = targets.row[q] - tile.row
        left, right = counted(targets, q, tile.column, tile.column + width)
        if left == right:
            continue
        raw = entries[r]
        lowest = raw.dtype.type(lowest_entry(thresholds, q, tile.form.ratio))
        flag[:left] = 0
        flag[right:] = 0
        here = slice(left, right)
        reaching = flag_near(raw[here], factor[here], shift[here], lowest, value[here], flag[here])
        if FEW + dense * count < reaching and count <= MOST:
            hide(targets, q, tile.column, value)
            found: Int = count_by_buckets(tile, work, q, scratch)
        else:
            found = leave_out(targets, q, tile.column, list_flags(flag, width, close), close)
        if found:
            for i in range(found):
                near_query[i], near_row[i], near_item[i], near_entry[i] = q, r, close[i], raw[close[i]]
            used = place(tile, work, near, found, used)
    return stop, used


@kernel
def flag_near(raw: Row, factor: Row, shift: Row, lowest: float, value: Row, flag: Row) -> Int:
    """Nearness of some items, which of them reach `lowest`, and how many do; on its own, so that it is vectorised."""
    reaching = 0
    for c in range(raw.shape[0]):
        value[c] = raw[c] * factor[c] - shift[c]
        flag[c] = value[c] >= lowest
        reaching += flag[c]
    return reaching


@kernel
def counted(targets: Targets, query: int, start: int, stop: int) -> tuple[Int, Int]:
    """Places of the items `start` … `stop`-1 but those at both ends that the query leaves out."""
    runs, first, end = targets.run, targets.first[query], targets.last[query]
    left, right = np.int64(start), np.int64(stop)
    run = first_run(runs, first, end, start)
    if run < end and runs[run, 0] <= start:
        left = np.int64(min(runs[run, 1], stop))
    run = first_run(runs, first, end, stop - 1)
    if run < end and runs[run, 0] < stop <= runs[run, 1]:
        right = max(np.int64(runs[run, 0]), left)
    return left - start, right - start


@kernel
def hide(targets: Targets, query: int, column: int, value: Row) -> None:
    """Send the items that the query leaves out of the count infinitely far away."""
    width, runs, end = value.shape[0], targets.run, targets.last[query]
    run = first_run(runs, targets.first[query], end, column)
    while run < end and runs[run, 0] < column + width:
        value[max(runs[run, 0] - column, 0) : min(runs[run, 1] - column, width)] = -np.inf
        run += 1


@kernel
def make_candidates(size: int, row: Row) -> Candidates:
    """Room for `size` entries of the type of `row`."""
    return Candidates(
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=row.dtype),
        np.empty(size),
        np.empty(size),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
    )


@kernel
def count_columns(tile: Tile, work: Work, item: int, query: int, stop: int) -> tuple[int, int]:
    """Count a transposed tile, whose rows are items, from `item` on, for the queries `query` … stop-1.

    Returns the item to go on with and the number of undecided ones, as `count_rows` does.
    """
    items, width = tile.entries.shape
    tile_entries, factors, shifts = tile.entries, tile.form.factor, tile.form.shift
    _, first_mask, last_mask, run = work.targets
    start, end = work.thresholds.start, work.thresholds.stop
    lowest, first = lowest_entries(tile, work, query, stop)
    flag, close = np.zeros(width + 8, dtype=np.uint8), np.empty(width + 1, dtype=np.uint32)
    size = max(LIST, stop - query)
    near = make_candidates(size, lowest)
    near_query, near_row, near_item, near_entry, _, _, _, _ = near
    room = work.undecided.query.shape[0]
    used = found = 0
    for i in range(item, items):
        if found + stop - query > size:
            used = place(tile, work, near, found, used)
            found = 0
        if used + found + stop - query > room:
            return i, place(tile, work, near, found, used)
        entries, factor, shift = tile_entries[i], factors[i], shifts[i]
        flag_reaching(entries, factor, shift, lowest, flag)
        for j in range(list_flags(flag, width, close)):
            r = close[j]
            for q in range(first[r], first[r + 1]):
                if end[q] == start[q]:
                    continue
                mask = first_run(run, first_mask[q], last_mask[q], tile.column + i)
                if mask == last_mask[q] or tile.column + i < run[mask, 0]:
                    near_query[found], near_row[found], near_item[found] = q, r, i
                    near_entry[found] = entries[r]
                    found += 1
    return items, place(tile, work, near, found, used)


@kernel
def flag_reaching(entries: Row, factor: float, shift: float, lowest: Row, flag: Row) -> None:
    """For which queries an item is as near as their lowest entries; on its own, so that it is vectorised."""
    for r in range(entries.shape[0]):
        flag[r] = entries[r] * factor - shift >= lowest[r]


@kernel
def is_crowded(tile: Tile, work: Work, query: int, stop: int, share: float) -> bool:
    """Whether more than a share of a transposed tile is nearer than the last thresholds, by its first rows."""
    entries, factor, shift = tile.entries, tile.form.factor, tile.form.shift
    rows, width = min(16, entries.shape[0]), entries.shape[1]
    lowest, _ = lowest_entries(tile, work, query, stop)
    near = 0
    for i in range(rows):
        for r in range(width):
            near += entries[i, r] * factor[i] - shift[i] >= lowest[r]
    return bool(near > share * rows * width)


@kernel
def lowest_entry(thresholds: Thresholds, query: int, ratio: bool) -> float:
    """What an entry must reach to be as near as the query's last threshold, perhaps."""
    far = thresholds.key[thresholds.stop[query] - 1] - thresholds.reach[query]
    if ratio:
        far = np.copysign(np.sqrt(abs(far)), far)
    lowest: float = far - thresholds.margin[query]
    return lowest


@kernel
def lowest_entries(tile: Tile, work: Work, query: int, stop: int) -> tuple[Row, IntArray]:
    """For each query row of a transposed tile, the lowest `lowest_entry` of its queries and its first query."""
    width = tile.entries.shape[1]
    lowest = np.full(width, np.inf, dtype=tile.entries.dtype)
    first = np.zeros(width + 1, dtype=np.int64)
    for q in range(query, stop):
        r = work.targets.row[q] - tile.row
        first[r + 1] += 1
        if work.thresholds.stop[q] > work.thresholds.start[q]:
            lowest[r] = min(lowest[r], lowest.dtype.type(lowest_entry(work.thresholds, q, tile.form.ratio)))
    first[0] = query
    for r in range(width):
        first[r + 1] += first[r]
    return lowest, first


@kernel
def list_flags(flag: Row, width: int, close: Places) -> Int:
    """List the places below `width` that are set; eight at a time are looked at, and few mostly are."""
    words = flag[: (width + 7) // 8 * 8].view(np.uint64)
    found = np.uint32(0)
    for word in range(words.shape[0]):
        if words[word]:
            for c in range(8 * word, 8 * word + 8):
                close[found] = c
                found += np.uint32(flag[c])
    return np.int64(found)


@kernel
def leave_out(targets: Targets, query: int, column: int, found: Int, close: Places) -> Int:
    """Drop the items that the query leaves out of the count from the ascending list; return how many remain."""
    if not found:
        return 0
    runs, end = targets.run, targets.last[query]
    run = first_run(runs, targets.first[query], end, column + np.int64(close[0]))
    if run == end or runs[run, 0] > column + np.int64(close[found - 1]):
        return found
    kept = 0
    for i in range(found):
        item = column + np.int64(close[i])
        while run < end and runs[run, 1] <= item:
            run += 1
        close[kept] = close[i]
        kept += run == end or item < runs[run, 0]
    return kept


@kernel
def first_run(runs: SmallIntArray, start: int, stop: int, item: Int) -> int:
    """The first of the runs start … stop-1 of left-out items that ends beyond `item`."""
    while start < stop:
        middle = (start + stop) >> 1
        if runs[middle, 1] <= item:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def place(tile: Tile, work: Work, near: Candidates, found: Int, used: int) -> int:
    """Count items by their own errors, or note them as undecided; return how many are undecided then."""
    # Arrays are taken out of their tuples before the loops: a reference is counted each time.
    near_query, near_row, near_item, near_entry, lows, highs, firsts, ends = near
    factor, shift, square, ratio, _, weight = tile.form
    relative, of_row, of_column, constant, _ = tile.error
    start, stop, key, reach, _, guide, scale = work.thresholds
    gap, equal = work.counts
    query, item, weights, first_met, last_met = work.undecided
    longest = 0
    for i in range(found):
        q, c, entry = near_query[i], near_item[i], near_entry[i]
        if ratio:
            nearness = np.float64(entry) * abs(np.float64(entry)) / square[c]
        else:
            nearness = np.float64(entry * factor[c] - shift[c])
        bound = relative * abs(nearness) + of_row[near_row[i]] * of_column[c] + constant[c]
        lows[i], highs[i] = nearness - bound, nearness + bound + reach[q]
        firsts[i], ends[i] = bracket(guide, scale[q], key[start[q]], start[q], stop[q], q, highs[i])
        longest = max(longest, ends[i] - firsts[i])
    # All items advance by the same step together: their searches overlap in the processor.
    step = 1
    while 2 * step <= longest:
        step *= 2
    while step:
        for i in range(found):
            ahead = firsts[i] + step
            firsts[i] = ahead if ahead <= ends[i] and key[ahead - 1] > highs[i] else firsts[i]
        step >>= 1
    for i in range(found):
        q, c, first = near_query[i], near_item[i], firsts[i]
        last = first_below(key, first, stop[q], reach[q], lows[i])
        is_equal = first < last and reach[q] == 0.0 and lows[i] == highs[i]
        if is_equal or first == last:
            if last < stop[q]:
                gap[last] += weight[c]
            if is_equal:
                equal[first] += weight[c]
        else:
            query[used], item[used], weights[used] = q, tile.column + c, weight[c]
            first_met[used], last_met[used] = first - start[q], last - start[q]
            used += 1
    return used


@kernel
def transposed(entries: Row) -> Row:
    """A contiguous transpose, made in blocks that the cache holds."""
    out = np.empty((entries.shape[1], entries.shape[0]), dtype=entries.dtype)
    for left in range(0, entries.shape[1], BLOCK):
        for top in range(0, entries.shape[0], BLOCK):
            block = entries[top : top + BLOCK, left : left + BLOCK]
            turned = out[left : left + BLOCK, top : top + BLOCK]
            for j in range(block.shape[1]):
                for i in range(block.shape[0]):
                    turned[j, i] = block[i, j]
    return out
