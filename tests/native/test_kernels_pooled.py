"""pooled.h, compared with Python's integers entry by entry."""

import struct
from itertools import product

import numpy as np
import pytest

from kernel_levels import LEVELS, at
from tieproof.analyses.rates.counting import BINS, Bins, floats, histogram, number_floats, ordered, weight_below
from tieproof.ties import IntArray

LIMITS = np.iinfo(np.int64)


def number(value: float) -> int:
    """The position of a float among all floats, 0 for zeros of either sign."""
    bits: int = struct.unpack("<Q", struct.pack("<d", abs(value)))[0]
    return -bits if value < 0 else bits


def test_numbers_of_floats() -> None:
    random = np.random.default_rng(1)
    values = random.normal(size=501) * 10.0 ** random.integers(-320, 300, size=501)
    values[:7] = 0.0, -0.0, 5e-324, -5e-324, np.finfo(float).max, -np.finfo(float).max, -1.0
    expected = [number(value) for value in values.tolist()]
    for level in LEVELS:
        bits = values.copy().view(np.int64)
        at(level, number_floats)(bits)
        assert bits.tolist() == expected
    numbers = ordered(values.copy())
    assert numbers.tolist() == expected
    assert (floats(numbers) == values).all()
    assert ordered(np.empty((2, 0))).shape == (2, 0)


def blocks() -> list[IntArray]:
    """Blocks with entries over the whole range, with few different values, and without entries."""
    random = np.random.default_rng(2)
    far = random.integers(LIMITS.min, LIMITS.max, size=(7, 45), endpoint=True)
    far[0, :3] = LIMITS.min, LIMITS.max, 0
    return [far, random.integers(-4, 5, size=(3, 33)), np.zeros((0, 5), dtype=np.int64), far[:, :0]]


WINDOWS = [(0, 0), (-3, 3), (-(2**62), 2**62), (LIMITS.min + 1, LIMITS.max), (5, 2**50)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("low", "high"), WINDOWS)
def test_counts(low: int, high: int, level: str) -> None:
    random = np.random.default_rng(3)
    shift = max(0, (high - low).bit_length() - BINS.bit_length() + 1)
    for block in blocks():
        rows: IntArray = random.integers(-1, 4, size=(block.shape[0],))
        columns: IntArray = random.integers(-1, 4, size=(block.shape[1],))
        entries = [
            (entry, int(rows[i] * columns[j]))
            for (i, j), entry in zip(np.ndindex(block.shape), block.ravel().tolist(), strict=True)
        ]
        below = sum(weight for entry, weight in entries if entry < low)
        bins, expected = Bins.empty(), Bins.empty()
        for entry, weight in entries:
            if low <= entry <= high:
                place = (entry - low) >> shift
                expected.weight[place] += weight
                expected.lowest[place] = min(int(expected.lowest[place]), entry)
                expected.highest[place] = max(int(expected.highest[place]), entry)
        assert at(level, histogram)(block, rows, columns, low, high, shift, bins) == below
        assert all((found == wanted).all() for found, wanted in zip(bins, expected, strict=True))
        assert at(level, weight_below)(block, rows, columns, low) == below


def test_bins_of_one_window_are_added_to() -> None:
    block, weights = np.arange(12).reshape(3, 4), np.ones(4, dtype=np.int64)
    bins = Bins.empty()
    for _ in product(range(2)):
        histogram(block, weights[:3], weights, 2, 9, 1, bins)
    assert bins.weight[:5].tolist() == [4, 4, 4, 4, 0]
    assert (bins.lowest[:4].tolist(), bins.highest[:4].tolist()) == ([2, 4, 6, 8], [3, 5, 7, 9])
