"""Decide the pairs that a tile leaves undecided one by one: by intervals, by leading digits, by whole keys."""

from bisect import bisect_left
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.digits import number_of

IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

CONTINUED = -(2**31)
"""Marks thresholds of the same tie as the one before."""

NARROW = 1 + 2.0**-40


def make_falling(low: FloatArray, high: FloatArray, query: IntArray) -> None:
    """Narrow intervals: each one of a query ends no higher than those before, and begins no lower than later ones."""
    for q in np.unique(query):
        own = query == q
        high[own] = np.minimum.accumulate(high[own])
        low[own] = np.maximum.accumulate(low[own][::-1])[::-1]


def hide_in_rows(run: SmallIntArray, first: IntArray, last: IntArray, start: int, nearness: npt.NDArray[Any]) -> None:
    """Set the nearness of the items from `start` on that each query leaves out to minus infinity."""
    for q, row in enumerate(nearness):
        for begin, end in run[first[q] : last[q]].tolist():
            row[max(begin - start, 0) : max(end - start, 0)] = -np.inf


def reverse(
    keys: FloatArray,
    length: int,
    reach: FloatArray,
    start: IntArray,
    key: FloatArray,
    gap: SmallIntArray,
    clear: BoolArray,
) -> None:
    """Write the last `length` of each row of ascending keys in descending order; return which rows are distinct."""
    for q, row in enumerate(keys):
        falling = row[::-1][:length]
        key[start[q] : start[q] + length] = falling
        close = np.append(False, falling[:-1] - falling[1:] <= 2 * NARROW * reach[q])[:length]
        gap[start[q] : start[q] + length][close] = CONTINUED
        clear[q] = not close.any() or reach[q] == 0


def place_intervals(
    low: FloatArray,
    high: FloatArray,
    origin: IntArray,
    items: tuple[IntArray, ...],
    starts: IntArray,
    stops: IntArray,
    gap: SmallIntArray,
) -> list[list[int]]:
    """Count each item whose interval determines its position; return the other items with their remaining ranges."""
    rest = []
    for i, (query, item, weight, first, last) in enumerate(np.array(items).T.tolist()):
        places = range(origin[i] + first, origin[i] + last)
        nearer = first + sum(bool(low[place] > high[i]) for place in places)
        not_farther = first + sum(bool(high[place] >= low[i]) for place in places)
        if nearer < not_farther:
            rest.append([query, item, weight, nearer, not_farther])
        elif starts[query] + nearer < stops[query]:
            gap[starts[query] + nearer] += weight
    return rest


def place(
    keys: IntArray,
    origin: IntArray,
    items: tuple[IntArray, ...],
    starts: IntArray,
    stops: IntArray,
    gap: SmallIntArray,
    equal: SmallIntArray,
) -> None:
    """Count each item among the thresholds that it may be equal to, by keys as Python's integers."""
    for i, (query, _, weight, first, last) in enumerate(np.array(items).T.tolist()):
        own = -number_of(keys[i])
        falling = [number_of(key) for key in keys[origin[i] + first : origin[i] + last]]
        found = bisect_left(falling, own, key=lambda key: -key)
        entry = starts[query] + first + found
        if found < len(falling) and -falling[found] == own:
            while gap[entry] == CONTINUED:
                entry -= 1
            equal[entry] += weight
            entry += 1
            while entry < stops[query] and gap[entry] == CONTINUED:
                entry += 1
        if entry < stops[query]:
            gap[entry] += weight
