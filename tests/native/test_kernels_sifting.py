"""The kernels that find near pairs of codes while their products are computed, compared with NumPy, bit by bit."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, WAYS, at, width_for
from kernels.codes import multiply_codes
from tieproof.distances.codes import EXCESS, CodedTile, arranged
from tieproof.distances.space import NearnessForm
from tieproof.engine import pieces
from tieproof.engine.pieces import NearPairs, TileSide

Array = npt.NDArray[Any]

levels = pytest.mark.parametrize("level", LEVELS)
ways = pytest.mark.parametrize("way", WAYS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])

SIZES = [(1, 1, 0), (13, 64, 16), (25, 100, 5), (30, 33, 0), (12, 32, 32), (45, 70, 3)]
"""Rows and items around the numbers that are multiplied together; a tile may start inside a block."""


def form_of(random: np.random.Generator, count: int, dtype: Any) -> NearnessForm:
    factor, shift = random.uniform(0.5, 2, count).astype(dtype), (9 * random.normal(size=count)).astype(dtype)
    return NearnessForm(factor, shift, np.ones(count), False, False, np.ones(count, dtype=np.int32))


def made(random: np.random.Generator, size: tuple[int, int, int], way: int, dtype: Any) -> tuple[CodedTile, Array]:
    """A tile of codes, and its entries."""
    height, width, first = size
    codes = random.integers(-127, 128, (height, width_for(way))).astype(np.int8)
    items = random.integers(-127, 128, (first + width + 3, width_for(way))).astype(np.int8)
    row_scale, scale = (random.uniform(0.5, 2, size=count).astype(dtype) for count in (height, width))
    entries = np.empty((height, width), dtype=dtype)
    multiply_codes(codes, row_scale, items[first : first + width], scale, entries)
    total = np.stack([codes.sum(axis=1, dtype=np.int32)] * 2, axis=1)
    return CodedTile(codes, total, row_scale, arranged(items, EXCESS), scale, first, way, 0, first), entries


def limits_of(nearness: Array, share: float, random: np.random.Generator) -> Array:
    """Limits of rows that about this share of their items reach; some are reached exactly, and some never."""
    limits: Array = np.quantile(nearness, 1 - share, axis=1, method="nearest")
    limits[random.random(len(limits)) < 0.2] = np.inf
    return limits


def listed(pairs: NearPairs, count: int) -> list[tuple[int, int, bytes]]:
    row, item, entry = pairs.first(count)
    return sorted((int(row[i]), int(item[i]), entry[i].tobytes()) for i in range(count))


def near_pairs(entries: Array, form: NearnessForm, limits: Array) -> list[tuple[int, int, bytes]]:
    rows, items = np.nonzero(entries * form.factor - form.shift >= limits[:, None])
    return [
        (row, item, entries[row, item].tobytes()) for row, item in zip(rows.tolist(), items.tolist(), strict=True)
    ]


@levels
@ways
@both_types
@pytest.mark.parametrize("share", [0.0, 0.05, 0.6])
def test_near_pairs_of_both_sides(share: float, dtype: Any, way: int, level: str) -> None:
    random = np.random.default_rng(way)
    for size in SIZES:
        tile, entries = made(random, size, way, dtype)
        sides = []
        for seen in (entries, entries.T):
            form = form_of(random, seen.shape[1], dtype)
            limits = limits_of(seen * form.factor - form.shift, share, random)
            sides.append(TileSide(form, limits, NearPairs.room(64, dtype)))
        rows, columns = sides
        expected = near_pairs(entries, rows.form, rows.lowest), near_pairs(entries.T, columns.form, columns.lowest)
        found = at(level, pieces.sift)(tile, rows, columns)
        if found.of_rows < 0:
            assert max(map(len, expected)) + 48 > len(rows.near.row)
            continue
        assert [listed(side.near, count) for side, count in zip(sides, found, strict=True)] == list(expected)
        nobody = columns._replace(lowest=columns.lowest[:0])
        found = at(level, pieces.sift)(tile, rows, nobody)
        assert (listed(rows.near, found.of_rows), found.of_columns) == (expected[0], 0)


@levels
@ways
@both_types
def test_too_many_near_pairs(dtype: Any, way: int, level: str) -> None:
    """Nothing is written behind the arrays, and nothing is listed in part."""
    random = np.random.default_rng(way)
    for size in SIZES:
        tile, entries = made(random, size, way, dtype)
        rows, columns = (
            TileSide(form_of(random, count, dtype), np.full(other, -np.inf, dtype), NearPairs.room(0, dtype))
            for other, count in (entries.shape, entries.T.shape)
        )
        few = entries.size == 1
        assert at(level, pieces.sift)(tile, rows, columns) == ((1, 1) if few else (-1, -1))
