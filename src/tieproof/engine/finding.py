"""Which items of a tile may be as near as a threshold of a query: mostly few, and only these are looked at further.

All others are farther than all thresholds and need no counting. They are passed over many at a time.
"""

import numpy as np

from tieproof.compiled import kernel, part
from tieproof.engine.buckets import MOST
from tieproof.engine.masks import counted, first_run, leave_out
from tieproof.engine.structures import Int, IntArray, Places, Room, Row, Thresholds, Tile, Work

FEW = 8
"""So many items of a row are placed one by one in any case."""

BLOCK = 64
"""Rows and columns that are transposed together (measured)."""


@kernel
def find_in_rows(tile: Tile, work: Work, query: int, stop: int, dense: float, room: Room) -> tuple[int, int, int]:
    """List the items near the queries `query` … stop-1, whose rows are those of the tile.

    dense: items per threshold, as near as the last, from which buckets pay. Returns the query to go on with (`stop`
    when done), how many items are listed, and how many queries are listed as crowded instead.
    """
    entries, factor, shift = tile.entries, tile.form.factor, tile.form.shift
    targets, thresholds = work.targets, work.thresholds
    flag, close, crowded = room.scratch.flag, room.scratch.close, room.crowded
    near_query, near_row, near_item, near_entry, _, _, _, _ = room.near
    width = entries.shape[1]
    found = many = 0
    for q in range(query, stop):
        count = thresholds.stop[q] - thresholds.start[q]
        left, right = counted(targets, q, tile.column, tile.column + width)
        if count == 0 or left == right:
            continue
        r = targets.row[q] - tile.row
        raw = entries[r]
        lowest = raw.dtype.type(lowest_entry(thresholds, q, tile.form.ratio))
        flag[:left] = 0
        flag[right:width] = 0
        here = slice(left, right)
        reaching = flag_near(raw[here], factor[here], shift[here], lowest, flag[here])
        if FEW + dense * count < reaching and count <= MOST:
            crowded[many] = q
            many += 1
            continue
        if found + reaching > near_query.shape[0]:
            return q, found, many
        for j in range(leave_out(targets, q, tile.column, list_flags(flag, width, close), close)):
            near_query[found], near_row[found], near_item[found] = q, r, close[j]
            near_entry[found] = raw[close[j]]
            found += 1
    return stop, found, many


@part
def flag_near(raw: Row, factor: Row, shift: Row, lowest: float, flag: Row) -> Int:
    """Which items reach `lowest`, and how many do; on its own, so that it is vectorised."""
    reaching = 0
    for c in range(raw.shape[0]):
        flag[c] = raw[c] * factor[c] - shift[c] >= lowest
        reaching += flag[c]
    return reaching


@kernel
def find_in_columns(tile: Tile, work: Work, item: int, query: int, stop: int, room: Room) -> tuple[int, int]:
    """List the items of a transposed tile, whose rows are items, from `item` on, near the queries `query` … stop-1.

    Returns the item to go on with and how many are listed.
    """
    items, width = tile.entries.shape
    tile_entries, factors, shifts = tile.entries, tile.form.factor, tile.form.shift
    _, first_mask, last_mask, run = work.targets
    start, end = work.thresholds.start, work.thresholds.stop
    lowest, first = lowest_entries(tile, work, query, stop)
    flag, close = room.scratch.flag, room.scratch.close
    near_query, near_row, near_item, near_entry, _, _, _, _ = room.near
    found = 0
    for i in range(item, items):
        if found + stop - query > near_query.shape[0]:
            return i, found
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
    return items, found


@part
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


@part
def lowest_entry(thresholds: Thresholds, query: int, ratio: bool) -> float:
    """What an entry must reach to be as near as the query's last threshold, perhaps."""
    far = thresholds.key[thresholds.stop[query] - 1] - thresholds.reach[query]
    if ratio:
        far = np.copysign(np.sqrt(abs(far)), far)
    lowest: float = far - thresholds.margin[query]
    return lowest


@part
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


@part
def list_flags(flag: Row, width: int, close: Places) -> Int:
    """List the places below `width` that are set; eight at a time are looked at, and few mostly are."""
    whole = (width + 7) // 8 * 8
    flag[width:whole] = 0
    words = flag[:whole].view(np.uint64)
    found = np.uint32(0)
    for word in range(words.shape[0]):
        if words[word]:
            for c in range(8 * word, 8 * word + 8):
                close[found] = c
                found += np.uint32(flag[c])
    return np.int64(found)


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
