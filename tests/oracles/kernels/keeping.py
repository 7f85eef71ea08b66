"""Keeping the near items of tiles, one query and one item after the other."""

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import NearnessForm
from tieproof.engine.keeping import Kept
from tieproof.engine.structures import Targets, Tile

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def rounded_down(number: float, dtype: np.dtype[np.floating]) -> np.floating:
    """A number of the type that is at most `number`."""
    kind = dtype.type
    if not number >= -np.finfo(np.float64).max:
        return kind(-np.inf)
    near = kind(number)
    if float(near) <= number:
        return near
    slack = kind(2.0**-22 if dtype == np.float32 else 2.0**-51)
    return near - kind(abs(float(near))) * slack - kind(np.finfo(np.float32).tiny)


def narrow(kept: Kept, q: int, k: int) -> None:
    """Raise the floor of a query, and drop its items below the limit."""
    count = int(kept.size[q])
    values, items = kept.value[q, :count].copy(), kept.item[q, :count].copy()
    if count >= k:
        kth = float(np.sort(values)[-k]) + 0.0
        kept.floor[q] = max(kept.floor[q], kth - (kept.margin[q] + kept.relative * abs(kth)))
        floor = float(kept.floor[q])
        kept.lowest[q] = rounded_down(floor - (kept.margin[q] + kept.relative * abs(floor)), kept.value.dtype)
    chosen = values >= kept.lowest[q]
    left = int(chosen.sum())
    kept.value[q, :left], kept.item[q, :left] = values[chosen], items[chosen]
    kept.size[q] = left
    kept.enough[q] = max(left + left // 2, k + k // 2) + 16


def narrow_all(kept: Kept, k: int) -> None:
    for q in range(len(kept.size)):
        narrow(kept, q, k)


def value_of(tile: Tile, row: int, column: int) -> np.floating:
    form: NearnessForm = tile.form
    entry = tile.entries[row, column]
    return entry * form.factor[column] - form.shift[column]  # type: ignore[no-any-return]


def near_columns(tile: Tile, targets: Targets, kept: Kept, q: int) -> list[int]:
    """The columns of the items that reach the limit of a query and are not left out."""
    runs = targets.run[targets.first[q] : targets.last[q]]
    left_out = {item for first, last in runs.tolist() for item in range(first, last)}
    row = int(targets.row[q]) - tile.row
    ranked = [column for column in range(tile.entries.shape[1]) if tile.column + column not in left_out]
    return [column for column in ranked if value_of(tile, row, column) >= kept.lowest[q]]


def has_kept(tile: Tile, targets: Targets, kept: Kept, q: int, columns: list[int], k: int) -> bool:
    """Keep the items of some columns; if there is no room for them, keep none of the tile."""
    if not columns:
        return True
    room = kept.item.shape[1] - len(columns)
    if kept.size[q] > room:
        narrow(kept, q, k)
    if kept.size[q] > room:
        for other, size in enumerate(kept.size.tolist()):
            items = kept.item[other, :size].copy()
            old = (items < tile.column) | (items >= tile.column + tile.entries.shape[1])
            kept.size[other] = old.sum()
            for part in (kept.item, kept.value):
                part[other, : kept.size[other]] = part[other, :size][old]
        return False
    for column in columns:
        kept.value[q, kept.size[q]] = value_of(tile, int(targets.row[q]) - tile.row, column)
        kept.item[q, kept.size[q]] = tile.column + column
        kept.size[q] += 1
    if kept.size[q] >= kept.enough[q]:
        narrow(kept, q, k)
    return True


def keep_near(tile: Tile, targets: Targets, kept: Kept, k: int) -> int:
    """Whole rows of the tile, query by query."""
    for q in range(len(kept.size)):
        if not has_kept(tile, targets, kept, q, near_columns(tile, targets, kept, q), k):
            return q
    return len(kept.size)


def list_nearest(kept: Kept, queries: IntArray, item: IntArray) -> None:
    """The items with the largest values; of equal ones, the first."""
    for i, q in enumerate(queries.tolist()):
        values, items = (part[q, : kept.size[q]] for part in (kept.value, kept.item))
        kth = np.sort(values)[-item.shape[1]]
        item[i] = np.concatenate([items[values > kth], items[values == kth]])[: item.shape[1]]


def floors(start: IntArray, value: FloatArray, k: int, floor: FloatArray) -> None:
    for q in range(len(floor)):
        values = np.sort(value[start[q] : start[q + 1]])
        floor[q] = values[-k] + 0.0 if len(values) >= k else -np.inf
