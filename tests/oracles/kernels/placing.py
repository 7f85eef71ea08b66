"""Counting items among thresholds, one by one."""

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Error, NearnessForm
from tieproof.engine.structures import Counts, Targets, Thresholds, Tile, Undecided

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def nearness_of(form: NearnessForm, entry: np.floating[npt.NBitBase], item: int) -> float:
    """The nearness that an entry of a tile shows."""
    if form.ratio:
        return float(entry) * abs(float(entry)) / float(form.square[item])
    return float(entry * form.factor[item] - form.shift[item])


def meeting(key: FloatArray, reach: float, low: float, high: float) -> tuple[int, int]:
    """The numbers of keys that are certainly nearer than an interval, and of keys that are not certainly farther."""
    first = int(np.count_nonzero(key > high + reach))
    return first, max(first, int(np.count_nonzero(key + reach >= low)))


def count_item(counts: Counts, span: slice, weight: int, first: int, last: int, exact: bool) -> bool:
    """Count an item that may be equal to thresholds first … last-1 of a query, if there are none, or if it is equal.

    It is then counted before `last`, and at its tie, if there is one. The thresholds of the query have that span.
    """
    if first < last and not exact:
        return False
    if last < span.stop - span.start:
        counts.gap[span.start + last] += weight
    if first < last:
        counts.equal[span.start + first] += weight
    return True


def settle(
    low: FloatArray,
    high: FloatArray,
    starts: IntArray,
    stops: IntArray,
    key: FloatArray,
    reach: FloatArray,
    counts: Counts,
    undecided: Undecided,
) -> int:
    """Count the decided items, and keep the others in front; an item is compared with thresholds first … last-1."""
    rest = 0
    for i, (q, item, weight, first, last) in enumerate(zip(*(part.tolist() for part in undecided), strict=True)):
        start = int(starts[q])
        asked = key[start + first : start + last]
        met = meeting(asked, float(reach[q]), float(low[i]), float(high[i]))
        exact = bool(low[i] == high[i] and reach[q] == 0.0)
        if count_item(counts, slice(start, int(stops[q])), weight, first + met[0], first + met[1], exact):
            continue
        for part, value in zip(undecided, (q, item, weight, first + met[0], first + met[1]), strict=True):
            part[rest] = value
        rest += 1
    return rest


def left_out(targets: Targets, q: int, items: IntArray) -> npt.NDArray[np.bool_]:
    """The items that a query leaves out of the count."""
    runs = targets.run[targets.first[q] : targets.last[q]].tolist()
    return np.array([any(start <= item < stop for start, stop in runs) for item in items.tolist()], dtype=np.bool_)


def count_tile(
    tile: Tile, error: Error, targets: Targets, thresholds: Thresholds, counts: Counts
) -> list[tuple[int, ...]]:
    """Count each item of a tile for each query; return query, item, weight, first and last of undecided items."""
    undecided: list[tuple[int, ...]] = []
    items = np.arange(tile.entries.shape[1])
    for q, row in enumerate((targets.row - tile.row).tolist()):
        span = slice(int(thresholds.start[q]), int(thresholds.stop[q]))
        key, reach = thresholds.key[span], float(thresholds.reach[q])
        if not len(key):
            continue
        for item in items[~left_out(targets, q, tile.column + items)].tolist():
            weight = int(tile.form.weight[item])
            nearness = nearness_of(tile.form, tile.entries[row, item], item)
            bound = error.relative * abs(nearness) + error.row[row] * error.column[item] + error.constant[item]
            met = meeting(key, reach, nearness - bound, nearness + bound)
            if not count_item(counts, span, weight, *met, bool(bound == 0.0 and reach == 0.0)):
                undecided.append((q, tile.column + item, weight, *met))
    return undecided
