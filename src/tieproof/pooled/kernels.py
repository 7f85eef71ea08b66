"""Count the pairs of a block by their distance; distances are integers that number all float64 in order."""

from typing import NamedTuple

import numpy as np

from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

BINS = 2**16
"""The number of bins in a window, and so the factor by which each pass over all pairs narrows it."""

SIGN = np.int64(-(2**63))


def ordered(values: FloatArray) -> IntArray:
    """Convert floats in place to integers with the same order: adjacent floats become adjacent integers, zeros 0."""
    bits = values.view(np.int64)
    number_floats(bits.reshape(-1))
    return bits


def floats(numbers: IntArray) -> FloatArray:
    """The floats that `ordered` maps to these integers.

    >>> floats(ordered(np.array([-1.5, 0.0, 5e-324]))).tolist()
    [-1.5, 0.0, 5e-324]
    """
    return np.where(numbers < 0, SIGN - numbers, numbers).view(np.float64)


@native
def number_floats(bits: Output[IntArray]) -> None:
    """Convert the bits of floats to ordered integers."""


class Bins(NamedTuple):
    """For each bin of a window, the total weight of its entries, and the smallest and the largest entry."""

    weight: IntArray
    lowest: IntArray
    highest: IntArray


def empty_bins() -> Bins:
    """Bins without entries."""
    limits = np.iinfo(np.int64)
    return Bins(np.zeros(BINS, dtype=np.int64), np.full(BINS, limits.max), np.full(BINS, limits.min))


def add_bins(bins: Bins, others: Bins) -> None:
    """Add the entries of other bins of the same window."""
    np.add(bins.weight, others.weight, out=bins.weight)
    np.minimum(bins.lowest, others.lowest, out=bins.lowest)
    np.maximum(bins.highest, others.highest, out=bins.highest)


@native
def histogram(
    block: IntArray,
    row_weight: IntArray,
    column_weight: IntArray,
    low: int,
    high: int,
    shift: int,
    bins: Output[Bins],
) -> int:
    """Add the entries from `low` to `high` to bins of 2^shift numbers; return the weight below."""


def inside(block: IntArray, low: int, high: int) -> IntArray:
    """The positions, in row-major order, of the entries from `low` to `high`."""
    places = np.empty(count_inside(block, low, high), dtype=np.int64)
    list_inside(block, low, high, places)
    return places


@native
def count_inside(block: IntArray, low: int, high: int) -> int:
    """The number of entries from `low` to `high`."""


@native
def list_inside(block: IntArray, low: int, high: int, places: Output[IntArray]) -> None:
    """Write the positions of the entries from `low` to `high`, in row-major order."""


@native
def weight_below(block: IntArray, row_weight: IntArray, column_weight: IntArray, low: int) -> int:
    """The weight of the entries below `low`."""
