"""The kernel of short sums: exact for small integers, and within its bound where long sums are not."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from tieproof.distances import short_sums
from tieproof.distances.exact.bounds import gamma
from tieproof.distances.short_sums import ARRANGED, GROUP, SUMMED

Array = npt.NDArray[Any]

levels = pytest.mark.parametrize("level", LEVELS)
ways = pytest.mark.parametrize("way", [0, 1])

SHAPES = [(1, 1), (8, 47), (9, 48), (10, 49), (17, 16), (40, 97)]
"""Numbers of rows and items: around the numbers that are computed together."""

DIMENSIONS = [1, 15, 16, 63, SUMMED, 65, 130, ARRANGED - 1, ARRANGED, ARRANGED + 1, 2 * ARRANGED + 70]


def multiplied(level: str, way: int, rows: Array, items: Array) -> Array:
    """The products, computed with room for just what is needed."""
    depth = min(rows.shape[1], ARRANGED)
    of_rows, of_items = (np.full((len(side) + GROUP) * depth, np.nan, dtype=np.float32) for side in (rows, items))
    out = np.full((len(rows), len(items)), np.nan, dtype=np.float32)
    at(level, short_sums.multiply_by_short_sums)(rows, items, of_rows, of_items, way, out)
    return out


@levels
@ways
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_products_of_small_integers_are_exact(dimensions: int, way: int, level: str) -> None:
    random = np.random.default_rng(dimensions)
    for height, width in SHAPES:
        rows, items = (random.integers(-9, 10, (count, dimensions)).astype(np.float32) for count in (height, width))
        expected = rows.astype(np.int64) @ items.astype(np.int64).T
        assert (multiplied(level, way, rows, items) == expected).all()


@levels
@ways
def test_short_sums_keep_their_bound_where_long_sums_do_not(way: int, level: str) -> None:
    dimensions = 2**14
    rows = np.ones((3, dimensions), dtype=np.float32)
    items = np.full((2, dimensions), 2.0**-25, dtype=np.float32)  # each is too small to be added to 1
    items[:, 0] = 1
    bound = gamma(SUMMED + dimensions // SUMMED + 8, 2.0**-24)
    exact = 1 + (dimensions - 1) * 2.0**-25
    long = np.add.accumulate(rows[0] * items[0])[-1]
    assert abs(float(long) - exact) > 2.0**-12
    assert (np.abs(multiplied(level, way, rows, items) - exact) <= bound * exact).all()
    assert bound * exact < 2.0**-12 * 2


@levels
@ways
@pytest.mark.parametrize("dimensions", [3, 200, 700])
def test_random_products_keep_the_bound(dimensions: int, way: int, level: str) -> None:
    random = np.random.default_rng(dimensions)
    rows, items = (random.standard_normal((count, dimensions)).astype(np.float32) for count in (20, 50))
    found = multiplied(level, way, rows, items).astype(np.float64)
    bound = gamma(min(SUMMED, dimensions) + -(-dimensions // SUMMED) + 8, 2.0**-24)
    for row, of_row in zip(rows.astype(np.float64), found, strict=True):
        for item, product in zip(items.astype(np.float64), of_row, strict=True):
            terms = row * item  # exact in float64
            assert abs(product - math.fsum(terms)) <= bound * math.fsum(abs(terms))


def test_the_rows_may_be_far_apart_in_memory() -> None:
    random = np.random.default_rng(0)
    wide = random.integers(-9, 10, (20, 300)).astype(np.float32)
    assert (short_sums.product(wide[:, :100], wide[5:, 100:200]) == wide[:, :100] @ wide[5:, 100:200].T).all()
