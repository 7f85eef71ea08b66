"""The kernels of sums of largest products, compared with plain Python, bit by bit."""

from typing import Any

import numpy as np
import pytest

from kernel_levels import LEVELS, WAYS, at
from kernels import maxima as reference
from tieproof.distances import codes, maxsim
from tieproof.distances.codes import CodedTile

levels = pytest.mark.parametrize("level", LEVELS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])

SHAPES = [(1, 1), (7, 31), (12, 32), (13, 33), (40, 70)]
"""Numbers of rows and columns: around the numbers that are computed together."""


def blocks_of(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Where blocks of rows end, and an ascending number for each column, of which there are `count`."""
    ends = np.append(np.flatnonzero(random.random(count - 1) < 0.3) + 1, count)
    return ends, np.sort(random.integers(3, size=count))


@levels
@both_types
def test_sums_of_the_largest_entries(dtype: Any, level: str) -> None:
    random = np.random.default_rng(7)
    for height, width in SHAPES:
        entries = random.normal(size=(height, width)).astype(dtype)
        entries[random.random(size=entries.shape) < 0.2] = -0.0
        ends, query = blocks_of(random, height)[0], blocks_of(random, width)[1]
        found = random.normal(size=(3, len(ends)))
        expected = found.copy()
        at(level, maxsim.add_largest)(entries, ends, query, found)
        reference.add_largest(entries, ends, query, expected)
        assert found.tobytes() == expected.tobytes()


@levels
@both_types
@pytest.mark.parametrize("way", WAYS)
def test_sums_of_the_largest_products_of_codes(way: int, dtype: Any, level: str) -> None:
    random = np.random.default_rng(8)
    for height, width in SHAPES:
        for first in (0, 1, 17):
            rows, items = (random.integers(-127, 128, (n, 64)).astype(np.int8) for n in (height, first + width))
            scale, of_items = (random.uniform(0.1, 2, size=n).astype(dtype) for n in (height, width))
            ends, query = blocks_of(random, height)[0], blocks_of(random, width)[1]
            total = np.column_stack([rows.sum(axis=1, dtype=np.int32)] * 2).astype(np.int32)
            blocks = codes.arranged(items, codes.EXCESS)
            tile = CodedTile(rows, total, scale, blocks, of_items, first, way, 0, 0)
            found = np.zeros((3, len(ends)))
            expected = found.copy()
            at(level, maxsim.add_largest_of_codes)(tile, ends, query, found)
            reference.largest_of_codes(rows, scale, items[first:], of_items, ends, query, expected)
            assert found.tobytes() == expected.tobytes()
