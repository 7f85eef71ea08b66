"""Finding near items, item by item."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.engine.structures import Columns, Limits, NearEntries, Targets, Tile

IntArray = npt.NDArray[np.int64]


def left_out(targets: Targets, q: int, items: IntArray) -> npt.NDArray[np.bool_]:
    """Which items a query leaves out of the count."""
    runs = targets.run[targets.first[q] : targets.last[q]]
    return np.array(
        [any(start <= item < stop for start, stop in runs.tolist()) for item in items.tolist()], dtype=bool
    )


def near_in_row(tile: Tile, row: int, lowest: Any) -> npt.NDArray[np.bool_]:
    """Which items of a row reach the lowest nearness."""
    return np.asarray(tile.entries[row] * tile.form.factor - tile.form.shift >= lowest)


def find_in_rows(
    tile: Tile,
    targets: Targets,
    limits: Limits,
    query: int,
    stop: int,
    close: Any,
    crowded: IntArray,
    listed: NearEntries,
) -> tuple[int, int, int]:
    """The query to go on with, and how many items and crowded queries are listed.

    A query is crowded by items between those at both ends that it leaves out.
    """
    items = tile.column + np.arange(tile.entries.shape[1])
    found = many = 0
    for q in range(query, stop):
        out = left_out(targets, q, items)
        if limits.few[q] < 0 or out.all():
            continue
        row = int(targets.row[q]) - tile.row
        near = near_in_row(tile, row, limits.lowest[q])
        ends = np.flatnonzero(~out)[[0, -1]]
        reaching = np.count_nonzero(near[ends[0] : ends[1] + 1])
        if reaching > limits.few[q]:
            crowded[many] = q
            many += 1
            continue
        if found + reaching > len(listed.query):
            return q, found, many
        for c in np.flatnonzero(near & ~out):
            for column, value in zip(listed, (q, row, c, tile.entries[row, c]), strict=True):
                column[found] = value
            found += 1
    return stop, found, many


def find_in_columns(
    tile: Tile, targets: Targets, limits: Limits, columns: Columns, item: int, close: Any, listed: NearEntries
) -> tuple[int, int]:
    """The item to go on with, and how many are listed."""
    items, width = tile.entries.shape
    found = 0
    for i in range(item, items):
        if found + columns.first[width] - columns.first[0] > len(listed.query):
            return i, found
        nearness = tile.entries[i] * tile.form.factor[i] - tile.form.shift[i]
        for r in np.flatnonzero(nearness >= columns.lowest):
            for q in range(columns.first[r], columns.first[r + 1]):
                if limits.few[q] < 0 or left_out(targets, q, np.array([tile.column + i]))[0]:
                    continue
                for column, value in zip(listed, (q, r, i, tile.entries[i, r]), strict=True):
                    column[found] = value
                found += 1
    return items, found
