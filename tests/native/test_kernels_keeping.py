"""The kernels that keep near items, and those of twofold sums, compared with plain Python and with fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import keeping as reference
from tieproof.distances.space import Form
from tieproof.engine import keeping
from tieproof.engine.structures import Targets, Tile
from tieproof.exact import twofold
from tieproof.exact.twofold import Twofold, sum_error

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
    form = Form(factor.astype(dtype), shift.astype(dtype), np.ones(width), False, False, weight)
    return Tile(entries, form, 3, column)


def targets_of(random: np.random.Generator, queries: int, rows: int, items: int) -> Targets:
    """Queries in the order of their rows, some of which leave out runs of items."""
    run: list[list[int]] = []
    first, last = [], []
    for _ in range(queries):
        first.append(len(run))
        ends = np.sort(random.choice(items + 1, size=2 * int(random.integers(0, 4)), replace=False))
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
        found, expected = (keeping.Kept.of(np.full(9, margin), room, 2 * k, np.dtype(dtype)) for _ in range(2))
        for number in range(5):
            tile = tile_of(random, (4, width), number * width, plain, dtype)
            close = np.empty(width + 8, dtype=np.uint32)
            ends = [
                keep(tile, targets, kept, 0, k, relative, plain, close)
                for keep, kept in ((at(level, keeping.keep_near), found), (reference.keep_near, expected))
            ]
            assert ends[0] == ends[1]
            assert_same(found, expected)
        at(level, keeping.narrow_all)(found, k, relative)
        reference.narrow_all(expected, k, relative)
        assert_same(found, expected)


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
    x, y = (Twofold(n, n * 2.0**-53 * random.uniform(-0.5, 0.5, size=300)) for n in (a, b))

    def exact(number: Twofold) -> list[Fraction]:
        return [Fraction(h) + Fraction(low) for h, low in zip(*map(np.ndarray.tolist, number), strict=True)]

    small = Fraction(2) ** -98
    for one, other, product, quotient, total in zip(
        exact(x), exact(y), exact(x.times(y)), exact(x.over(y)), exact(x.plus(y)), strict=True
    ):
        assert abs(product - one * other) <= small * abs(one * other)
        assert abs(quotient - one / other) <= small * abs(one / other)
        assert abs(total - (one + other)) <= small * max(abs(one), abs(other))
    for one, root in zip(exact(x.times(x)), exact(x.times(x).root()), strict=True):
        assert abs(root * root - one) <= small * one
    error = np.abs(a) * 2.0**-60
    rounded, certain = x.rounded(error)
    assert certain.mean() > 0.9
    for value, sure, low, high in zip(rounded, certain, exact(x), exact(x), strict=True):
        assert not sure or value == float(low) == float(high)
    half = Twofold(np.array([1.0]), np.array([2.0**-53]))
    assert not half.rounded(np.array([2.0**-100]))[1][0]
    assert half.over(Twofold(np.zeros(1), np.zeros(1))).high[0] == 0.0
