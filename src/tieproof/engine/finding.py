"""Which items of a tile may be as near as a threshold of a query: mostly few, and only these are looked at further.

All others are farther than all thresholds and need no counting. They are passed over many at a time.
"""

import numpy as np

from tieproof.engine.masks import counted, first_run, leave_out
from tieproof.engine.structures import (
    Columns,
    Int,
    Limits,
    NearEntries,
    NearOfRow,
    Places,
    Row,
    Targets,
    Thresholds,
    Tile,
)
from tieproof.native.compiled import kernel, part
from tieproof.ties import FloatArray, IntArray

FIRST_ROWS = 16
"""Rows of a transposed tile that tell whether it is crowded."""

PARTS = 8
"""A crowded row mostly shows it in the first of so many parts."""

BLOCK = 64
"""Rows and columns that are transposed together (measured)."""


def lowest_entries(thresholds: Thresholds, ratio: bool) -> FloatArray:
    """What a tile must show of an item for it to be as near as each query's last threshold, perhaps."""
    some = thresholds.stop > thresholds.start
    far = thresholds.key[thresholds.stop[some] - 1] - thresholds.reach[some]
    if ratio:
        far = np.copysign(np.sqrt(np.abs(far)), far)
    lowest = np.full(len(some), np.inf)
    lowest[some] = far - thresholds.margin[some]
    return lowest


def columns_of(targets: Targets, limits: Limits, rows: slice, start: int, stop: int) -> Columns:
    """What `find_in_columns` needs of query rows and of their queries start … stop-1."""
    row = targets.row[start:stop] - rows.start
    lowest = np.full(rows.stop - rows.start, np.inf, dtype=limits.lowest.dtype)
    np.minimum.at(lowest, row, limits.lowest[start:stop])
    return Columns(lowest, start + np.searchsorted(row, np.arange(len(lowest) + 1)))


@kernel
def find_in_rows(
    tile: Tile,
    targets: Targets,
    limits: Limits,
    query: int,
    stop: int,
    flags: NearOfRow,
    crowded: IntArray,
    listed: NearEntries,
) -> tuple[int, int, int]:
    """List the items near the queries `query` … stop-1, whose rows are those of the tile.

    Returns the query to go on with (`stop` when done), how many items are listed, and how many queries are listed as
    crowded instead.
    """
    # Arrays are taken out of their tuples before the loops: a reference is counted each time.
    entries, factor, shift = tile.entries, tile.form.factor, tile.form.shift
    rows, first, last, run = targets
    lowest, few = limits
    flag, words, close = flags
    near_query, near_row, near_item, near_entry = listed
    width, column = entries.shape[1], tile.column
    found = many = 0
    for q in range(query, stop):
        if few[q] < 0:
            continue
        left, right = counted(run, first[q], last[q], column, column + width)
        if left == right:
            continue
        r = rows[q] - tile.row
        raw = entries[r]
        flag[:left] = 0
        flag[right : 8 * words.shape[0]] = 0
        middle = left + (right - left) // PARTS
        reaching = np.int64(0)
        for here in (slice(left, middle), slice(middle, right)):
            if reaching <= few[q]:
                reaching += flag_near(raw[here], factor[here], shift[here], lowest[q], flag[here])
        if reaching > few[q]:
            crowded[many] = q
            many += 1
            continue
        if found + reaching > near_query.shape[0]:
            return q, found, many
        near = list_flags(flag, words, close)
        for j in range(leave_out(run, first[q], last[q], column, near, close)):
            c = close[j]
            near_query[found], near_row[found], near_item[found], near_entry[found] = q, r, c, raw[c]
            found += 1
    return stop, found, many


@part
def flag_near(raw: Row, factor: Row, shift: Row, lowest: float, flag: Row) -> Int:
    """Which items reach `lowest`, and how many do; on its own, so that it is vectorised."""
    reaching = np.uint32(0)  # no wider than an entry, so that as many are added up at once
    for c in range(raw.shape[0]):
        near = raw[c] * factor[c] - shift[c] >= lowest
        flag[c] = near
        reaching = np.uint32(reaching + np.uint32(near))
    return np.int64(reaching)


@kernel
def find_in_columns(
    tile: Tile, targets: Targets, limits: Limits, columns: Columns, item: int, flags: NearOfRow, listed: NearEntries
) -> tuple[int, int]:
    """List the items of a transposed tile, whose rows are items, from `item` on, near the queries of its columns.

    Returns the item to go on with and how many are listed.
    """
    entries, factor, shift = tile.entries, tile.form.factor, tile.form.shift
    _, first_mask, last_mask, run = targets
    lowest, first = columns
    few = limits.few
    flag, words, close = flags
    near_query, near_row, near_item, near_entry = listed
    items, width = entries.shape
    flag[width : 8 * words.shape[0]] = 0
    found = 0
    for i in range(item, items):
        if found + first[width] - first[0] > near_query.shape[0]:
            return i, found
        raw, own = entries[i], tile.column + i
        flag_reaching(raw, factor[i], shift[i], lowest, flag)
        for j in range(list_flags(flag, words, close)):
            r = close[j]
            for q in range(first[r], first[r + 1]):
                mask = first_run(run, first_mask[q], last_mask[q], own)
                if few[q] >= 0 and (mask == last_mask[q] or own < run[mask, 0]):
                    near_query[found], near_row[found], near_item[found], near_entry[found] = q, r, i, raw[r]
                    found += 1
    return items, found


@part
def flag_reaching(entries: Row, factor: float, shift: float, lowest: Row, flag: Row) -> None:
    """For which queries an item is as near as their lowest entries; on its own, so that it is vectorised."""
    for r in range(entries.shape[0]):
        flag[r] = entries[r] * factor - shift >= lowest[r]


def is_crowded(tile: Tile, columns: Columns, share: float) -> bool:
    """Whether more than a share of a transposed tile is nearer than the last thresholds, by its first rows."""
    factor, shift = tile.form.factor[:FIRST_ROWS, None], tile.form.shift[:FIRST_ROWS, None]
    return bool((tile.entries[:FIRST_ROWS] * factor - shift >= columns.lowest).mean() > share)


@part
def list_flags(flag: Row, words: Row, close: Places) -> Int:
    """List the places that are set; eight at a time are looked at, and few mostly are."""
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
