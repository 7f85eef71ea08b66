"""Placing items among thresholds, one by one."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Error, Form
from tieproof.engine.structures import Counts, NearEntries, Placed, Thresholds, Undecided

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def nearness_of(form: Form, entry: np.floating[npt.NBitBase], item: int) -> float:
    """The nearness that an entry of a tile shows."""
    if form.ratio:
        return float(entry) * abs(float(entry)) / float(form.square[item])
    return float(entry * form.factor[item] - form.shift[item])


def meeting(key: FloatArray, reach: float, low: float, high: float) -> tuple[int, int]:
    """How many keys are nearer than an interval whatever their errors, and how many are not farther."""
    first = int(np.count_nonzero(key > high + reach))
    return first, max(first, int(np.count_nonzero(key + reach >= low)))


def where(key: FloatArray, reach: float, low: float, high: float, first: int, last: int) -> Iterator[int] | None:
    """What an item is to be added to: before a threshold, or at it as its complement; None where it is undecided."""
    is_equal = first < last and low == high and reach == 0.0
    if first < last and not is_equal:
        return None
    return iter([last] * (last < len(key)) + [~first] * is_equal)


def place_listed(
    listed: NearEntries,
    form: Form,
    error: Error,
    column: int,
    thresholds: Thresholds,
    placed: Placed,
    undecided: Undecided,
) -> tuple[int, int]:
    """How many additions are written down, and how many items are undecided."""
    done = rest = 0
    for q, row, item, entry in zip(*listed, strict=True):
        start, stop = thresholds.start[q], thresholds.stop[q]
        key, reach = thresholds.key[start:stop], float(thresholds.reach[q])
        nearness = nearness_of(form, entry, item)
        bound = error.relative * abs(nearness) + error.row[row] * error.column[item] + error.constant[item]
        low, high = nearness - bound, nearness + bound
        first, last = meeting(key, reach, low, high)
        places = where(key, reach, low, high, first, last)
        weight = form.weight[item]
        if places is None:
            for part, value in zip(undecided, (q, column + item, weight, first, last), strict=True):
                part[rest] = value
            rest += 1
            continue
        for place in places:
            placed.place[done] = start + place if place >= 0 else ~(start + ~place)
            placed.weight[done] = weight
            done += 1
    return done, rest


def add_placed(placed: Placed, counts: Counts) -> None:
    """Add each weight."""
    for place, weight in zip(*placed, strict=True):
        if place >= 0:
            counts.gap[place] += weight
        else:
            counts.equal[~place] += weight


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
    """Count what is decided, keep the rest at the front; only thresholds first … last-1 of an item are asked."""
    rest = 0
    for i, (q, item, weight, first, last) in enumerate(zip(*(part.tolist() for part in undecided), strict=True)):
        start, length = int(starts[q]), int(stops[q] - starts[q])
        some = meeting(key[start + first : start + last], float(reach[q]), float(low[i]), float(high[i]))
        first, last = first + some[0], first + some[1]
        places = where(key[start : start + length], float(reach[q]), float(low[i]), float(high[i]), first, last)
        if places is None:
            for part, value in zip(undecided, (q, item, weight, first, last), strict=True):
                part[rest] = value
            rest += 1
            continue
        for place in places:
            if place >= 0:
                counts.gap[start + place] += weight
            else:
                counts.equal[start + ~place] += weight
    return rest
