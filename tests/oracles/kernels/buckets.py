"""Counting all items of crowded rows, item by item."""

from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.finding import left_out
from kernels.placing import nearness_of
from tieproof.engine.structures import CONTINUED, Counts, ExactRoom, NearEntries, Sorting, Targets, Thresholds, Tile

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def bounds(
    key: FloatArray, reach: float, margin: float, ratio: bool, dtype: npt.DTypeLike
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Lowest and highest entries of each threshold, in the type of tiles."""
    near, far = key + reach, key - reach
    if ratio:
        near, far = np.copysign(np.sqrt(np.abs(near)), near), np.copysign(np.sqrt(np.abs(far)), far)
    with np.errstate(over="ignore"):
        return (far - margin).astype(dtype), (near + margin).astype(dtype)


def bounds_of(tile: Tile, thresholds: Thresholds, q: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Those of a query's thresholds."""
    key = thresholds.key[thresholds.start[q] : thresholds.stop[q]]
    reach, margin = float(thresholds.reach[q]), float(thresholds.margin[q])
    return bounds(key, reach, margin, tile.form.ratio, tile.entries.dtype)


def list_items(listed: NearEntries, tile: Tile, q: int, row: int, items: list[int], found: int) -> int:
    """List some items of a row."""
    for item in items:
        for column, value in zip(listed, (q, row, item, tile.entries[row, item]), strict=True):
            column[found] = value
        found += 1
    return found


def counted(tile: Tile, targets: Targets, q: int) -> list[int]:
    """The items that a query counts."""
    items = tile.column + np.arange(tile.entries.shape[1])
    return [int(item) for item in np.flatnonzero(~left_out(targets, q, items))]


def count_crowded(
    tile: Tile,
    targets: Targets,
    thresholds: Thresholds,
    crowded: IntArray,
    sorting: Sorting,
    tally: Counts,
    listed: NearEntries,
) -> tuple[int, int]:
    """How many queries are done, and how many items are listed."""
    width = tile.entries.shape[1]
    found = used = 0
    for i, q in enumerate(crowded.tolist()):
        count = int(thresholds.stop[q] - thresholds.start[q])
        if found + width > len(listed.query) or used + count >= len(tally.gap):
            return i, found
        gap = tally.gap[used : used + count]
        used += count + 1
        gap[:] = 0
        row = int(targets.row[q]) - tile.row
        low, high = bounds_of(tile, thresholds, q)
        known = low[-1] > -np.inf and high[0] < np.inf
        for item in counted(tile, targets, q):
            value = tile.entries[row, item] * tile.form.factor[item] - tile.form.shift[item]
            place = int(np.count_nonzero(low > value))
            if not known or (place < count and high[place] >= value):
                found = list_items(listed, tile, q, row, [item], found)
            elif place < count:
                gap[place] += tile.form.weight[item]
    return len(crowded), found


def count_exactly(
    tile: Tile,
    targets: Targets,
    thresholds: Thresholds,
    gap: npt.NDArray[np.int32],
    crowded: IntArray,
    sorting: Sorting,
    exact: ExactRoom,
    tally: Counts,
    listed: NearEntries,
) -> tuple[int, int]:
    """How many queries are done, and how many items are listed."""
    width = tile.entries.shape[1]
    found = used = 0
    for i, q in enumerate(crowded.tolist()):
        start, stop = int(thresholds.start[q]), int(thresholds.stop[q])
        if found + width > len(listed.query) or used + stop - start >= len(tally.gap):
            return i, found
        nearer, equal = (part[used : used + stop - start] for part in tally)
        used += stop - start + 1
        nearer[:] = equal[:] = 0
        row, key = int(targets.row[q]) - tile.row, thresholds.key[start:stop]
        low, high = bounds_of(tile, thresholds, q)
        if low[-1] == -np.inf or high[0] == np.inf:
            found = list_items(listed, tile, q, row, counted(tile, targets, q), found)
            continue
        for item in counted(tile, targets, q):
            nearness = nearness_of(tile.form, tile.entries[row, item], item)
            place = int(np.count_nonzero(key > nearness))
            if place < len(key) and key[place] == nearness:
                equal[place] += tile.form.weight[item]
                place += 1
                while place < len(key) and gap[start + place] == CONTINUED:
                    place += 1
            if place < len(key):
                nearer[place] += tile.form.weight[item]
    return len(crowded), found


def add_tally(queries: IntArray, thresholds: Thresholds, tally: Counts, exact: bool, counts: Counts) -> None:
    """Add up; behind the counts of each query one is left over."""
    used = 0
    for q in queries:
        for t in range(thresholds.start[q], thresholds.stop[q]):
            counts.gap[t] += tally.gap[used]
            counts.equal[t] += tally.equal[used] if exact else 0
            used += 1
        used += 1
