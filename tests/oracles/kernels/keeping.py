"""Keeping the near items of tiles, one query and one item after the other."""

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Form
from tieproof.engine.keeping import Kept
from tieproof.engine.structures import Places, Targets, Tile

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


def narrow(kept: Kept, q: int, k: int, relative: float) -> None:
    """Raise the floor of a query, and drop its items below the limit."""
    count = int(kept.size[q])
    values, items = kept.value[q, :count].copy(), kept.item[q, :count].copy()
    if count >= k:
        kth = float(np.sort(values)[-k])
        kept.floor[q] = max(kept.floor[q], kth - (kept.margin[q] + relative * abs(kth)))
        floor = float(kept.floor[q])
        kept.lowest[q] = rounded_down(floor - (kept.margin[q] + relative * abs(floor)), kept.value.dtype)
    chosen = values >= kept.lowest[q]
    left = int(chosen.sum())
    kept.value[q, :left], kept.item[q, :left] = values[chosen], items[chosen]
    kept.size[q] = left
    kept.enough[q] = max(left + left // 2, k + k // 2) + 16


def narrow_all(kept: Kept, k: int, relative: float) -> None:
    for q in range(len(kept.size)):
        narrow(kept, q, k, relative)


def value_of(tile: Tile, row: int, column: int) -> np.floating:
    form: Form = tile.form
    entry = tile.entries[row, column]
    return entry * form.factor[column] - form.shift[column]  # type: ignore[no-any-return]


def keep_near(
    tile: Tile, targets: Targets, kept: Kept, query: int, k: int, relative: float, plain: bool, close: Places
) -> int:
    width, room = tile.entries.shape[1], kept.item.shape[1]
    for q in range(query, len(kept.size)):
        row = int(targets.row[q]) - tile.row
        runs = targets.run[targets.first[q] : targets.last[q]]
        left_out = {item for first, last in runs.tolist() for item in range(first, last)}
        ranked = [column for column in range(width) if tile.column + column not in left_out]
        found = [column for column in ranked if value_of(tile, row, column) >= kept.lowest[q]]
        if not found:
            continue
        if kept.size[q] + len(found) > room:
            narrow(kept, q, k, relative)
            found = [column for column in found if value_of(tile, row, column) >= kept.lowest[q]]
            if kept.size[q] + len(found) > room:
                return q
        for column in found:
            kept.value[q, kept.size[q]] = value_of(tile, row, column)
            kept.item[q, kept.size[q]] = tile.column + column
            kept.size[q] += 1
        if kept.size[q] >= kept.enough[q]:
            narrow(kept, q, k, relative)
    return len(kept.size)


def floors(start: IntArray, value: FloatArray, k: int, floor: FloatArray) -> None:
    for q in range(len(floor)):
        values = np.sort(value[start[q] : start[q + 1]])
        floor[q] = values[-k] if len(values) >= k else -np.inf
