"""Counting the pairs of a block by their distance; a distance is the number of its float64 among all float64."""

from typing import NamedTuple

import numpy as np

from tieproof.native.compiled import kernel
from tieproof.ties import FloatArray, IntArray

BINS = 2**16
"""Bins that a window is divided into: each pass over all pairs narrows it down by as much."""

SIGN = np.int64(-(2**63))


def ordered(values: FloatArray) -> IntArray:
    """Integers in the order of the floats, neighbours for neighbours; zeros of either sign are 0. In place."""
    bits = values.view(np.int64)
    number(bits.reshape(-1))
    return bits


def floats(numbers: IntArray) -> FloatArray:
    """The floats that `ordered` gives these integers.

    >>> floats(ordered(np.array([-1.5, 0.0, 5e-324]))).tolist()
    [-1.5, 0.0, 5e-324]
    """
    return np.where(numbers < 0, SIGN - numbers, numbers).view(np.float64)


@kernel
def number(bits: IntArray) -> None:
    """The bits of floats to ordered integers."""
    for i in range(bits.shape[0]):
        if bits[i] < 0:
            bits[i] = SIGN - bits[i]


class Bins(NamedTuple):
    """What falls into each bin of a window: its weight, and the smallest and the largest entry."""

    weight: IntArray
    lowest: IntArray
    highest: IntArray


def empty_bins() -> Bins:
    """Bins that nothing has fallen into."""
    limits = np.iinfo(np.int64)
    return Bins(np.zeros(BINS, dtype=np.int64), np.full(BINS, limits.max), np.full(BINS, limits.min))


def add_bins(bins: Bins, others: Bins) -> None:
    """Add what has fallen into other bins of the same window."""
    np.add(bins.weight, others.weight, out=bins.weight)
    np.minimum(bins.lowest, others.lowest, out=bins.lowest)
    np.maximum(bins.highest, others.highest, out=bins.highest)


@kernel
def histogram(
    block: IntArray, row_weight: IntArray, column_weight: IntArray, low: int, high: int, shift: int, bins: Bins
) -> int:
    """Add the entries from `low` to `high` to bins of 2^shift numbers; return the weight below."""
    first = np.uint64(np.int64(low))  # differences of up to 64 bits: modulo 2^64 they are right
    places = np.uint64(shift)
    below = 0
    for i in range(block.shape[0]):
        weight = row_weight[i]
        before = 0
        for j in range(block.shape[1]):
            entry = block[i, j]
            if entry < low:
                before += column_weight[j]
            elif entry <= high:
                place = (np.uint64(entry) - first) >> places
                bins.weight[place] += weight * column_weight[j]
                bins.lowest[place] = min(bins.lowest[place], entry)
                bins.highest[place] = max(bins.highest[place], entry)
        below += weight * before
    return below


@kernel
def inside(block: IntArray, low: int, high: int) -> IntArray:
    """Places, row after row, of the entries from `low` to `high`."""
    flat = block.reshape(-1)
    count = 0
    for i in range(flat.shape[0]):
        count += low <= flat[i] <= high
    places = np.empty(count, dtype=np.int64)
    count = 0
    for i in range(flat.shape[0]):
        if low <= flat[i] <= high:
            places[count] = i
            count += 1
    return places


@kernel
def weight_below(block: IntArray, row_weight: IntArray, column_weight: IntArray, low: int) -> int:
    """The weight of the entries below `low`."""
    below = 0
    for i in range(block.shape[0]):
        before = 0
        for j in range(block.shape[1]):
            before += column_weight[j] if block[i, j] < low else 0
        below += row_weight[i] * before
    return below
