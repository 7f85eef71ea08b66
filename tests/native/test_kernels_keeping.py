"""The kernels that keep near items, and those of twofold sums, compared with plain Python and with fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, WAYS, at, width_for
from kernels import keeping as reference
from kernels.codes import multiply_codes
from tieproof.distances.codes import EXCESS, CodedTile, arranged
from tieproof.distances.exact import twofold
from tieproof.distances.exact.twofold import Pair, over, root, rounded_once, sum_error
from tieproof.distances.space import NearnessForm
from tieproof.engine import keeping
from tieproof.engine.structures import Targets, Tile

Array = npt.NDArray[Any]

levels = pytest.mark.parametrize("level", LEVELS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def tile_of(random: np.random.Generator, shape: tuple[int, int], column: int, plain: bool, dtype: Any) -> Tile:
    """A tile with many equal entries."""
    entries = random.choice([random.normal(), *random.normal(size=200)], size=shape).astype(dtype)
    entries[random.random(shape) < 0.2] = random.choice([0.0, -0.0, 1.5, -np.inf])
    width = shape[1]
    factor = np.ones(width) if plain else random.uniform(0.5, 2, size=width)
    shift = np.zeros(width) if plain else random.normal(size=width)
    weight = np.ones(width, dtype=np.int32)
    form = NearnessForm(factor.astype(dtype), shift.astype(dtype), np.ones(width), False, False, weight)
    return Tile(entries, form, 3, column)


def targets_of(random: np.random.Generator, queries: int, rows: int, items: int) -> Targets:
    """Queries in the order of their rows, some of which leave out runs of items."""
    run: list[list[int]] = []
    first, last = [], []
    for _ in range(queries):
        first.append(len(run))
        some = min(int(random.integers(0, 4)), (items + 1) // 2)
        ends = np.sort(random.choice(items + 1, size=2 * some, replace=False))
        run += ends.reshape(-1, 2).tolist()
        last.append(len(run))
    row = np.sort(random.integers(rows, size=queries)) + 3
    runs = np.array(run, dtype=np.int32).reshape(-1, 2)
    return Targets(row, np.array(first), np.array(last), runs)


def assert_same(found: keeping.Kept, expected: keeping.Kept) -> None:
    for name in ("size", "enough", "lowest", "floor"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    for q, count in enumerate(found.size):
        for mine, other in ((found.item, expected.item), (found.value, expected.value)):
            assert mine[q, :count].tobytes() == other[q, :count].tobytes()


@levels
@both_types
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(("margin", "relative"), [(0.0, 0.0), (0.01, 2.0**-20), (np.inf, 0.0), (0.5, 0.25)])
def test_keeping(margin: float, relative: float, plain: bool, dtype: Any, level: str) -> None:
    random = np.random.default_rng(7)
    for k, width, room in ((1, 1, 8), (3, 64, 200), (5, 130, 150), (40, 70, 2000)):
        targets = targets_of(random, 9, 4, 5 * width)
        found, expected = (keeping.Kept.of(np.full(9, margin), relative, room, 2 * k, np.dtype(dtype)) for _ in "ab")
        for number in range(5):
            tile = tile_of(random, (4, width), number * width, plain, dtype)
            close = np.empty(width + 8, dtype=np.uint32)
            end = at(level, keeping.keep_near)(tile, targets, found, k, plain, close)
            assert end == reference.keep_near(tile, targets, expected, k)
            assert_same(found, expected)
        at(level, keeping.narrow_all)(found, k)
        reference.narrow_all(expected, k)
        assert_same(found, expected)


@levels
@both_types
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("room", [40, 500])
def test_keeping_codes(room: int, way: int, dtype: Any, level: str) -> None:
    """Rows and items around the numbers that are multiplied together; a tile may start inside a block."""
    random = np.random.default_rng(way)
    for n_rows, width, first, k in ((1, 1, 0, 1), (13, 64, 16, 3), (25, 100, 5, 2), (45, 33, 0, 8)):
        codes = random.integers(-127, 128, (n_rows, width_for(way))).astype(np.int8)
        items = random.integers(-127, 128, (first + 3 * width, width_for(way))).astype(np.int8)
        items[random.random(len(items)) < 0.2] = items[0]
        blocks, total = arranged(items, EXCESS), np.stack([codes.sum(axis=1, dtype=np.int32)] * 2, axis=1)
        row_scale, scale = (random.uniform(0.5, 2, size=size).astype(dtype) for size in (n_rows, len(items)))
        targets = targets_of(random, 2 * n_rows, n_rows, len(items))
        found, expected = (
            keeping.Kept.of(np.full(2 * n_rows, 3.0), 1e-7, size, 2 * k, np.dtype(dtype)) for size in (room, 500)
        )
        for start in range(first, len(items), width):
            columns = slice(start, start + width)
            entries = np.empty((n_rows, width), dtype=dtype)
            multiply_codes(codes, row_scale, items[columns], scale[columns], entries)
            form = tile_of(random, (1, width), 0, False, dtype).form
            coded = CodedTile(codes, total, row_scale, blocks, scale[columns], start, way, 3, start)
            end = at(level, keeping.keep_near_of_codes)(coded, form, targets, found, k)
            if end < len(found.size):
                size = np.arange(room) < found.size[:, None]
                assert room < 500
                assert not ((found.item >= start) & size).any()
                break
            assert reference.keep_near(Tile(entries, form, 3, start), targets, expected, k) == end
        else:
            at(level, keeping.narrow_all)(found, k)
            reference.narrow_all(expected, k)
            assert_same(found, expected)  # once all tiles have passed, whenever limits were raised


@levels
@both_types
def test_nearest_of_kept_items(dtype: Any, level: str) -> None:
    random = np.random.default_rng(3)
    kept = keeping.Kept.of(np.zeros(6), 0.0, 50, 9, np.dtype(dtype))
    kept.size[:] = [7, 8, 50, 0, 31, 7]
    kept.item[:] = random.permutation(300).reshape(6, 50)
    kept.value[:] = random.choice([0.0, -0.0, -np.inf, 2.5, *random.normal(size=9)], size=(6, 50))
    queries = np.array([0, 1, 2, 4])
    for k in (1, 2, 7):
        found, expected = np.zeros((2, 4, k), dtype=np.int64)
        at(level, keeping.list_nearest)(kept, queries, found)
        reference.list_nearest(kept, queries, expected)
        assert found.tolist() == expected.tolist()


@levels
def test_floors(level: str) -> None:
    random = np.random.default_rng(1)
    values = random.choice([0.0, 1.0, -np.inf, 3.5, *random.normal(size=5)], size=400)
    start = np.sort(np.concatenate([[0, 400], random.integers(0, 400, size=20)]))
    for k in (1, 2, 7, 100):
        found, expected = np.empty((2, 21))
        at(level, keeping.floors)(start, values.copy(), k, found)
        reference.floors(start, values, k, expected)
        assert found.tobytes() == expected.tobytes()


@levels
@both_types
@pytest.mark.parametrize("dimensions", [1, 15, 16, 40])
def test_twofold_sums(dimensions: int, dtype: Any, level: str) -> None:
    """Sums within their bounds; those of rows with large numbers of both signs cancel."""
    random = np.random.default_rng(dimensions)
    x, y = (
        random.normal(size=(2, 12, dimensions)) * 2.0 ** random.integers(-60, 60, size=(2, 12, dimensions))
    ).astype(dtype)
    x[1], y[1] = np.resize([1.0, -1.0], dimensions), 1 + np.arange(dimensions) * 2.0**-20
    y[2] = x[2]
    y[3] = np.nextafter(x[3], dtype(np.inf))
    rows, columns = np.repeat(np.arange(12), 12), np.tile(np.arange(12), 12)
    products, squares = np.empty((2, 144, 2))
    at(level, twofold.twofold_products)(x, y, rows, columns, products)
    at(level, twofold.twofold_squares)(x, y, rows, columns, squares)
    bound = Fraction(sum_error(dimensions))
    for place, (row, column) in enumerate(zip(rows, columns, strict=True)):
        pairs = [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(x[row], y[column], strict=True)]
        found = sum(map(Fraction, products[place].tolist()), Fraction(0))
        assert abs(found - sum((a * b for a, b in pairs), Fraction(0))) <= bound * sum(
            (abs(a * b) for a, b in pairs), Fraction(0)
        )
        square = sum(((a - b) ** 2 for a, b in pairs), Fraction(0))
        assert abs(sum(map(Fraction, squares[place].tolist()), Fraction(0)) - square) <= bound * square


def test_twofold_arithmetic() -> None:
    """Every operation within 2^-98 of its result, and rounding certain only where it is right."""
    random = np.random.default_rng(5)
    a, b = random.normal(size=(2, 300)) * 2.0 ** random.integers(-100, 100, size=(2, 300))
    x, y = (Pair(n, n * 2.0**-53 * random.uniform(-0.5, 0.5, size=300)) for n in (a, b))

    def exact(number: Pair) -> list[Fraction]:
        return [Fraction(h) + Fraction(low) for h, low in zip(number.hi.tolist(), number.lo.tolist(), strict=True)]

    small = Fraction(2) ** -98
    for one, other, product, quotient, total in zip(
        exact(x), exact(y), exact(x * y), exact(over(x, y)), exact(x + y), strict=True
    ):
        assert abs(product - one * other) <= small * abs(one * other)
        assert abs(quotient - one / other) <= small * abs(one / other)
        assert abs(total - (one + other)) <= small * max(abs(one), abs(other))
    for one, its_root in zip(exact(x * x), exact(root(x * x)), strict=True):
        assert abs(its_root * its_root - one) <= small * one
    error = np.abs(a) * 2.0**-60
    values, certain = rounded_once(x, error)
    assert certain.mean() > 0.9
    for value, sure, low, high in zip(values, certain, exact(x), exact(x), strict=True):
        assert not sure or value == float(low) == float(high)
    half = Pair(np.array([1.0]), np.array([2.0**-53]))
    assert not rounded_once(half, np.array([2.0**-100]))[1][0]
    assert over(half, Pair.of(np.zeros(1))).hi[0] == 0.0
