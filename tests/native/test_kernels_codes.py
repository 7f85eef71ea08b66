"""The kernels of codes and bits, compared with plain Python and NumPy, bit by bit."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, WAYS, at
from kernels import codes as reference
from tieproof.distances import bits, codes

Array = npt.NDArray[Any]

levels = pytest.mark.parametrize("level", LEVELS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
ways = pytest.mark.parametrize("way", WAYS)

SHAPES = [(1, 1), (2, 16), (5, 31), (12, 33), (13, 32), (24, 70), (25, 17), (40, 64)]
"""Numbers of rows and items: around the numbers that are computed together."""

FIRSTS = (0, 1, 15, 16, 37)
"""Positions of a tile's first item among all items."""


def same_bits(found: Array, expected: Array) -> bool:
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


def random_codes(random: np.random.Generator, count: int, width: int) -> Array:
    """Codes, among them rows of the largest and of the smallest."""
    made = random.integers(-127, 128, (count, width)).astype(np.int8)
    made[0], made[-1] = 127, -127
    return made


def in_blocks(level: str, items: Array, excess: int) -> Array:
    blocks = np.empty((-(-len(items) // 16), 16 * items.shape[1]), dtype=np.uint8)
    at(level, codes.arrange_codes)(items, excess, blocks)
    return blocks


@levels
@pytest.mark.parametrize("excess", [0, codes.EXCESS])
def test_codes_in_blocks(excess: int, level: str) -> None:
    random = np.random.default_rng(3)
    for count, width in ((1, 4), (15, 8), (16, 4), (17, 12), (50, 128)):
        items = random.integers(-128, 128, (count, width)).astype(np.int8)
        expected = np.empty((-(-count // 16), 16 * width), dtype=np.int64)
        reference.arrange_codes(items, excess, expected)
        assert same_bits(in_blocks(level, items, excess), expected.astype(np.uint8))


@levels
@ways
@both_types
@pytest.mark.parametrize("width", [4, 8, 60, 64, 200, 512, 1000])
def test_products_of_codes(width: int, dtype: Any, way: int, level: str) -> None:
    random = np.random.default_rng(width)
    for number, (height, count) in enumerate(SHAPES):
        first = FIRSTS[number % len(FIRSTS)]
        rows, items = random_codes(random, height, width), random_codes(random, first + count, width)
        total = rows.sum(axis=1, dtype=np.int32)[:, None]
        row_scale, item_scale = random.random(height).astype(dtype), random.random(count).astype(dtype)
        expected, found = np.empty((2, height, count), dtype=dtype)
        reference.multiply_codes(rows, row_scale, items[first:], item_scale, expected)
        blocks = in_blocks(level, items, codes.EXCESS)
        at(level, codes.multiply_codes)(rows, total, row_scale, blocks, item_scale, first, way, found)
        assert same_bits(found, expected)


@levels
@ways
@both_types
@pytest.mark.parametrize("slices", [2, 3])
@pytest.mark.parametrize("width", [4, 60, 64, 192])
def test_products_of_slices(width: int, slices: int, dtype: Any, way: int, level: str) -> None:
    random = np.random.default_rng(width)
    for number, (height, count) in enumerate(SHAPES):
        first, each = FIRSTS[number % len(FIRSTS)], slices * width
        rows, items = random_codes(random, height, each), random_codes(random, first + count, each)
        total = rows.reshape(height, slices, width).sum(axis=2, dtype=np.int32)
        row_scale, item_scale = random.random(height).astype(dtype), random.random(count).astype(dtype)
        expected, found = np.empty((2, height, count), dtype=dtype)
        reference.multiply_codes(rows, row_scale, items[first:], item_scale, expected, slices)
        backwards = items.reshape(-1, slices, width)[:, ::-1].reshape(-1, each)
        blocks = in_blocks(level, np.ascontiguousarray(backwards), codes.EXCESS)
        assert same_bits(codes.arranged(items, codes.EXCESS, slices), blocks)
        at(level, codes.multiply_codes)(rows, total, row_scale, blocks, item_scale, first, way, found)
        assert same_bits(found, expected)


@levels
@ways
@both_types
@pytest.mark.parametrize("width", [4, 8, 60, 64, 68, 128, 140, 512, 1000])
def test_tiles_of_differing_bits(width: int, dtype: Any, way: int, level: str) -> None:
    random = np.random.default_rng(width)
    for number, (height, count) in enumerate(SHAPES):
        first, each = FIRSTS[number % len(FIRSTS)], (0.5, 1.0, 2.0)[number % 3]
        rows, items = (random.integers(-128, 128, (n, width)).astype(np.int8) for n in (height, first + count))
        rows[0], items[-1] = -1, 0
        items[first] = rows[-1]
        of_row, of_item = (random.integers(0, 1000, n).astype(dtype) / 2 for n in (height, count))
        if each == 1.0:  # nothing differs, and the result is -0.0
            of_row[:], of_item[:] = -0.0, -0.0
        expected, found = np.empty((2, height, count), dtype=dtype)
        reference.differing_tile(rows, of_row, items[first:], of_item, each, expected)
        blocks = in_blocks(level, items, 0)
        at(level, bits.differing_tile)(rows, of_row, blocks, of_item, first, each, way, found)
        assert same_bits(found, expected)


@levels
@ways
@pytest.mark.parametrize("width", [4, 20, 64, 512, 1000])
def test_products_of_pairs_of_codes(width: int, way: int, level: str) -> None:
    random = np.random.default_rng(width)
    x, finer_x, y, finer_y = (random_codes(random, 9, width) for _ in range(4))
    rows, columns = random.integers(0, 9, (2, 50))
    rows[:2], columns[:2] = (0, 8), (8, 0)
    expected, found = np.empty((2, len(rows)))
    reference.multiply_pairs_of_codes(x, finer_x, y, finer_y, rows, columns, expected)
    total = np.stack([y.sum(axis=1, dtype=np.int32), finer_y.sum(axis=1, dtype=np.int32)], axis=1)
    at(level, codes.multiply_pairs_of_codes)(x, finer_x, y, finer_y, total, rows, columns, way, found)
    assert same_bits(found, expected)


@levels
@both_types
@pytest.mark.parametrize("slices", [2, 3])
@pytest.mark.parametrize("dimensions", [1, 3, 4, 15, 16, 17, 40, 200])
def test_encoding(dimensions: int, slices: int, dtype: Any, level: str) -> None:
    random = np.random.default_rng(dimensions)
    x = random.standard_normal((30, dimensions)).astype(dtype)
    x[0], x[1] = 0.0, np.rint(x[1] * 40)
    first = random.permutation(30)[:20]
    first[:2] = 0, 1
    unit = random.choice([0.5, 1.0, 2.0, 3.0], 20)
    largest = np.abs(x[first]).max(axis=1) / unit
    scale = np.where(largest > 0, largest / 127, 1.0)
    unit[1] = scale[1] = 1.0  # integers lose nothing
    width = -(-dimensions // 4) * 4
    expected, found = np.empty((2, 20, slices * width), dtype=np.int8)
    totals, lost = np.empty((2, 20, slices), dtype=np.int32), np.empty((2, 20, slices))
    reference.encode(x, first, unit, scale, expected[:, :width], expected[:, width:], totals[0], lost[0])
    at(level, codes.encode)(x, first, unit, scale, found[:, :width], found[:, width:], totals[1], lost[1])
    assert same_bits(found, expected)
    assert same_bits(totals[1], totals[0])
    assert (lost[:, 1] == 0).all()
    np.testing.assert_allclose(lost[1], lost[0], rtol=2.0**-46, atol=0)
