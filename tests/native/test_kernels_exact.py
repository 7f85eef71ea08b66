"""The kernels of the exact order, compared with loops, fractions and Python's integers, bit by bit."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_levels import LEVELS, at
from kernels import digits as digits_reference
from kernels import pairs as pairs_reference
from kernels import scan as scan_reference
from kernels import slices as slices_reference
from kernels import words as words_reference
from tieproof.distances.exact import bounds, reals, slices, words
from tieproof.distances.exact.equal import Statistics, scan_block
from tieproof.distances.exact.rows import row_units

Random = np.random.Generator
Array = npt.NDArray[Any]

WIDTHS = (1, 2, 7, 8, 9, 31, 32, 33, 64, 100)
SMALLEST, LARGEST = 5e-324, np.finfo(np.float64).max

levels = pytest.mark.parametrize("level", LEVELS)


def same_bits(found: Array, expected: Array) -> bool:
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


def matrices(random: Random, count: int, width: int) -> Iterator[Array]:
    """Rows of every scale, with zeros of both signs, ties, whole numbers and subnormal numbers."""
    usual = random.standard_normal((count, width))
    yield usual
    yield np.round(usual)
    yield np.where(random.random(usual.shape) < 0.5, 0.0, -abs(usual))
    yield np.where(random.random(usual.shape) < 0.5, -0.0, 1.0)
    yield np.zeros_like(usual)
    yield -np.zeros_like(usual)
    yield np.clip(usual, -1.9, 1.9) * 2.0**-1040
    yield random.integers(-3, 4, usual.shape) * SMALLEST
    yield np.ldexp(usual, random.integers(-1060, 1000, usual.shape))
    yield random.choice([LARGEST, -LARGEST, SMALLEST, 0.0, 2.0**-1022], usual.shape)
    yield np.round(usual * 100) / np.sqrt(7.0)


def statistics(count: int) -> Statistics:
    """Memory for the statistics of so many rows."""
    largest, smallest, square = np.zeros((3, count))
    return Statistics(largest, smallest, square, np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.uint64))


@levels
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("up_to_factor", [False, True])
def test_statistics_of_rows(up_to_factor: bool, width: int, level: str) -> None:
    random = np.random.default_rng(width)
    multipliers = random.integers(0, 2**64, width, dtype=np.uint64) | np.uint64(1)
    for data in matrices(random, 7, width):
        found = statistics(9)
        assert at(level, scan_block)(data, multipliers, up_to_factor, 2, found) == -1
        expected = [scan_reference.statistics(row, multipliers, up_to_factor) for row in data]
        for column, reference in zip(found, zip(*expected, strict=True), strict=True):
            assert same_bits(column[2:], np.array(reference, dtype=column.dtype))
            assert not column[:2].any()


@levels
@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, -np.inf])
def test_the_first_row_that_is_not_finite(value: float, level: str) -> None:
    data = np.ones((5, 40))
    for place in (0, 31, 39):
        data[3, place] = data[4, 1] = value
        found = statistics(5)
        multipliers = np.ones(40, dtype=np.uint64)
        assert at(level, scan_block)(data, multipliers, False, 0, found) == 3
        assert found.largest.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]


@levels
@pytest.mark.parametrize("width", WIDTHS)
def test_units_of_rows(width: int, level: str) -> None:
    random = np.random.default_rng(width)
    for data in matrices(random, 7, width):
        found = np.empty(len(data))
        at(level, row_units)(data, found)
        assert same_bits(found, np.array([scan_reference.row_unit(row) for row in data]))


@levels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["products", "city_blocks"])
def test_single_pairs(name: str, width: int, dtype: Any, level: str) -> None:
    random = np.random.default_rng(width)
    for scale in (1.0, 1e-30, 3e30):
        x, y = ((random.standard_normal((count, width)) * scale).astype(dtype) for count in (6, 9))
        x[1], y[2, ::2] = -0.0, 0.0
        x[2] = y[3]
        rows, columns = random.integers(0, 6, 30), random.integers(0, 9, 30)
        expected, found = np.empty(30), np.empty(30)
        getattr(pairs_reference, name)(x, y, rows, columns, expected)
        at(level, getattr(bounds, name))(x, y, rows, columns, found)
        assert same_bits(found, expected)


@levels
@pytest.mark.parametrize("size", [1, 2, 50, 1000])
def test_distinct_values(size: int, level: str) -> None:
    random = np.random.default_rng(size)
    for count in (0, 1, 7, 300):
        values = random.integers(0, size, count)
        place, found = np.empty(count, dtype=np.int64), np.empty(count + 1, dtype=np.int64)
        distinct = at(level, bounds.distinct_values)(values, np.zeros(size, dtype=np.int64), place, found)
        expected, inverse = np.unique(values, return_inverse=True)
        assert found[:distinct].tolist() == expected.tolist()
        assert place.tolist() == inverse.tolist()


@levels
@pytest.mark.parametrize("width", WIDTHS)
def test_differences(width: int, level: str) -> None:
    random = np.random.default_rng(width)
    for data in matrices(random, 5, width):
        rows = np.clip(data, -(2.0**1022), 2.0**1022)
        for center in (rows[0].copy(), np.zeros(width), random.standard_normal(width)):
            expected, found = rows.copy(), rows.copy()
            expected_rest, rest = np.empty((2, *rows.shape))
            is_rounded = slices_reference.subtract(expected, center, expected_rest)
            assert at(level, slices.subtract)(found, center, rest) is is_rounded
            assert same_bits(found, expected)
            assert (rest == expected_rest).all()


@levels
@pytest.mark.parametrize("exponent", [-1074, -1030, -20, 0, 7, 1000])
def test_slices_that_are_cut_off(exponent: int, level: str) -> None:
    random = np.random.default_rng(5)
    unit = float(np.ldexp(1.0, exponent))
    for width in WIDTHS:
        rows = random.standard_normal((3, width)) * unit * 2.0**8
        rows[0, 0], rows[1, 0] = 0.0, -unit
        piece = random.integers(-5, 5, rows.shape).astype(np.float64)
        expected, expected_piece = rows.copy(), piece.copy()
        slices_reference.cut_off(expected, unit, expected_piece)
        at(level, slices.cut_off)(rows, unit, piece)
        assert (rows == expected).all()
        assert (piece == expected_piece).all()


@levels
@pytest.mark.parametrize("places", [(1, 1, 1), (3, 1, 5), (5, 9, 1), (9, 9, 9)])
def test_sums_of_pairs(places: tuple[int, int, int], level: str) -> None:
    random = np.random.default_rng(places)
    pairs_at, *of_sides = (random.integers(-(2**60), 2**60, (count, 8)) for count in places)
    for number in (pairs_at, *of_sides):
        number >>= random.integers(0, 60, number.shape)
    of_row, of_column = (np.ascontiguousarray(sums.T) for sums in of_sides)
    for factor in (1, -1, -2, 2):
        for count in (0, 1, 50, 1030):
            where, rows, columns = random.integers(0, 8, (3, count))
            summands = slices.Summands(factor, pairs_at, where, of_row, rows, of_column, columns)
            expected = slices_reference.sums_of_pairs(*summands)
            found = np.empty((count, max(places)), dtype=np.int64)
            at(level, slices.add_places)(summands, found)
            assert found.tolist() == expected
            value, size = np.empty((2, count))
            at(level, slices.round_places)(summands, max(places), 21, value, size)
            assert (value.tolist(), size.tolist()) == slices_reference.rounded_sums(expected, 21)


@levels
@pytest.mark.parametrize("places", [1, 2, 5])
@pytest.mark.parametrize("width", WIDTHS)
def test_exact_city_block_distances(width: int, places: int, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(width)
    monkeypatch.setattr(slices, "add_differences", at(level, slices.add_differences))
    bits = slices.width(width)
    x, y = (np.trunc(random.uniform(-2, 2, (places, count, width)) * 2.0**bits) for count in (6, 7))
    y[:, :4] = x[:, :4]
    y[0, 0] += 1.0
    y[0, 1] -= 1.0
    y[places // 2, 2, ::2] += 1.0
    y[0, 2, ::2] -= 2.0 ** (bits + 1) - 1
    rows, columns = (found.ravel() for found in np.meshgrid(np.arange(6), np.arange(7)))
    found = slices.distances(x, y, rows, columns, bits)
    assert same_bits(found, slices_reference.distances(x, y, rows, columns, bits))


@levels
@pytest.mark.parametrize(("places", "bits", "length"), [(1, 25, 1), (1, 25, 4), (3, 20, 3), (9, 22, 7), (40, 21, 29)])
def test_digits_of_sums(places: int, bits: int, length: int, level: str) -> None:
    random = np.random.default_rng(places)
    limit = 2 ** min(50, 30 * length - bits * (places - 1) - 2)
    sums = random.integers(-limit, limit, (60, places))
    sums[0], sums[1], sums[2] = 0, -1, 1
    sums[3, :-1] = 0
    expected, found = np.empty((2, 60, length), dtype=np.int64)
    digits_reference.of_sums(sums, bits, expected)
    at(level, reals.of_sums)(sums, bits, found)
    assert same_bits(found, expected)


@levels
@pytest.mark.parametrize("length", [1, 2, 3, 6, 15])
def test_ratios_of_integers(length: int, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(length)
    monkeypatch.setattr(reals, "divide", at(level, reals.divide))
    bits = 30 * length - 2
    numbers = [number_below(random, 2**bits) for _ in range(300)]
    denominators = [0, 1, 2**bits - 1, 2**29, 2**30, *(number_below(random, 2**bits) for _ in range(40))]
    # The guess of a digit is too large for divisors with a large top digit and dividends just below multiples.
    denominators += [2 ** (30 * k + 29) + 2**30 - 1 for k in range(length - 1)]
    denominators = [number for number in denominators if number < 2 ** (bits + 1)]
    numbers += [denominators[-1] - 1, 2**bits - 1, 0, 1]
    columns = random.integers(0, len(denominators), len(numbers))
    # s^2 / n is shorter than s.
    numbers = [
        min(number, math.isqrt(denominators[column] << bits) or number)
        for number, column in zip(numbers, columns, strict=True)
    ]
    signs = random.choice([-1, 1], len(numbers)).tolist()
    s = np.array(
        [digits_reference.digits_of(sign * number, length) for sign, number in zip(signs, numbers, strict=True)]
    )
    n = np.array([digits_reference.digits_of(number, length) for number in denominators])
    for more in (1, 2 * length + 1):
        expected = digits_reference.ratios(s, n, columns, length + more)
        assert same_bits(reals.ratios(s, n, columns, length + more), expected)


def number_below(random: Random, limit: int) -> int:
    """A number below a limit, of any length, often with long runs of equal bits."""
    length = int(random.integers(1, limit.bit_length()))
    words = random.choice([0, 2**32 - 1, int(random.integers(2**32))], length // 32 + 1)
    number: int = sum(word << 32 * place for place, word in enumerate(words.tolist()))
    return number % (1 << length)


@levels
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["products_of_words", "squares_of_words", "distances_of_words"])
def test_sums_of_words(name: str, width: int, level: str) -> None:
    random = np.random.default_rng(width)
    rows, columns = (found.ravel() for found in np.meshgrid(np.arange(6), np.arange(7)))
    for largest in (1, 200, min(2**30 - 1, int(np.sqrt(2**61 // width)))):
        x, y = (random.integers(-largest, largest + 1, (count, width), dtype=np.int32) for count in (6, 7))
        y[0], y[1], x[2] = x[0], -largest, largest
        found = np.empty(len(rows), dtype=np.int64)
        at(level, getattr(words, name))(x, y, rows, columns, found)
        assert found.tolist() == getattr(words_reference, name)(x, y, rows, columns)
