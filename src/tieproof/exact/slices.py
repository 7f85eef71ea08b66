"""Exact sums and products: floats cut into short integers whose products and sums are exact in float64.

A float is an integer times a power of two. Cut at fixed places of w bits, x = sum_s x_s 2^(b + w s) with
integers |x_s| < 2^(w + 1); the inner product of two slices is below D 2^(2w + 2) <= 2^53, so that float64 holds it
exactly in any order of summation, and a matrix product of slices is exact. What belongs to one place is added up in
int64 (Ozaki et al. 2012, "Error-free transformations of matrix multiplication", with integers for the last step).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.exact.pairs import products
from tieproof.native.calls import native
from tieproof.ties import FloatArray, IntArray

FloatMatrix = npt.NDArray[np.float64]

Slices = npt.NDArray[np.float64]
"""(s, m, d): the slices of m rows, lowest place first."""

Sums = npt.NDArray[np.int64]
"""(m, p): m exact sums, each the sum over places p of entry * 2^(w p)."""

PlaceSums = npt.NDArray[np.int64]
"""(p, m): the same, one place after the other."""


def width(dimensions: int) -> int:
    """Bits of a slice so that a sum of `dimensions` products of two slices stays within 53 bits."""
    return (51 - int(dimensions).bit_length()) // 2


def parts(rows: npt.NDArray[Any], halved: bool) -> list[FloatMatrix]:
    """Float64 matrices whose exact sum is `rows`: the halves of integers that float64 does not hold, else one.

    Both halves have the sign of their number, and so are no larger than it: as many places hold them.
    """
    if not halved:
        return [rows.astype(np.float64)]
    negative = (rows < 0).astype(rows.dtype)
    high = (rows + negative * np.array(0xFFFFFFFF, rows.dtype)) >> np.array(32, rows.dtype)
    low = rows - (high << np.array(32, rows.dtype))
    return [high.astype(np.float64) * 2.0**32, low.astype(np.float64)]


def differences(rows: npt.NDArray[Any], centre: npt.NDArray[Any], halved: bool) -> list[FloatMatrix]:
    """Float64 matrices whose exact sum is rows (m, d) - centre (d,), of one type and below 2^1023."""
    found: list[FloatMatrix] = []
    for part, of_centre in zip(parts(rows, halved), parts(centre, halved), strict=True):
        rest = np.empty_like(part)
        is_rounded = subtract(part, of_centre, rest)
        found += [part, rest] if is_rounded else [part]
    return found


@native
def subtract(rows: FloatMatrix, centre: FloatMatrix, rest: FloatMatrix) -> bool:
    """Leave rows - centre, rounded, in `rows` and what rounding cost in `rest`; return whether it cost any (TwoSum).

    The rest is exact: a sum of two floats and its rounding error are floats, subnormal or not.
    """


def top_place(summands: list[FloatMatrix], base: int, bits: int) -> int:
    """The highest place that the largest entry reaches; 0 for zeros."""
    largest = max(max(part.max(initial=0.0), -part.min(initial=0.0)) for part in summands)
    return max(0, (int(np.frexp(largest)[1]) - 1 - base) // bits) if largest > 0 else 0


def cut(summands: list[FloatMatrix], base: int, bits: int, top: int) -> Slices:
    """Slices of the sum of matrices (m, d) of multiples of 2^base, up to the place `top`; `summands` are used up.

    One summand has slices below 2^bits, and of two that TwoSum made, or of the two halves of an integer, those of
    one place add up to less than twice that.
    """
    slices = np.zeros((top + 1, *summands[0].shape))
    for part in summands:
        for place in range(top, -1, -1):
            cut_off(part, np.ldexp(1.0, base + bits * place), slices[place])
    return slices


@native
def cut_off(rows: FloatMatrix, unit: float, piece: FloatMatrix) -> None:
    """Move whole multiples of `unit`, a power of two, from `rows` to `piece`: both steps are exact."""


def dots(x: Slices, y: Slices, rows: IntArray, columns: IntArray) -> tuple[PlaceSums, IntArray]:
    """Exact inner products: that of x[rows[i]] and y[columns[i]] stands at the second result's entry i of the first.

    Many pairs of few rows are computed by matrix products, of all x with all y.
    """
    as_block = x.shape[1] * y.shape[1] <= 4 * len(rows)
    total = np.zeros((len(x) + len(y) - 1, x.shape[1] * y.shape[1] if as_block else len(rows)), dtype=np.int64)
    out = np.empty(len(rows))
    used = [(place, piece) for place, piece in enumerate(y) if piece.any()]
    for place, piece in enumerate(x):
        if piece.any():
            for other, other_piece in used:
                if as_block:
                    total[place + other] += (piece @ other_piece.T).ravel().astype(np.int64)
                else:
                    products(piece, other_piece, rows, columns, out)
                    total[place + other] += out.astype(np.int64)
    return total, rows * y.shape[1] + columns if as_block else np.arange(len(rows))


def dots_with(x: Slices, one: Slices) -> Sums:
    """Exact inner products of rows with one row (s, 1, d)."""
    total = np.zeros((x.shape[1], len(x) + len(one) - 1), dtype=np.int64)
    for place, piece in enumerate(x):
        for other, other_piece in enumerate(one):
            total[:, place + other] += (piece @ other_piece[0]).astype(np.int64)
    return total


def nothing(x: Slices) -> Sums:
    """A sum of 0 for each row, which no digit changes."""
    return np.zeros((x.shape[1], 1), dtype=np.int64)


def squares(x: Slices) -> Sums:
    """The exact squared norm of each row."""
    total = np.zeros((x.shape[1], 2 * len(x) - 1), dtype=np.int64)
    for place, piece in enumerate(x):
        for other, other_piece in enumerate(x[: place + 1]):
            square = np.einsum("ij,ij->i", piece, other_piece).astype(np.int64)
            total[:, place + other] += square if other == place else 2 * square
    return total


def added(*summands: Sums) -> Sums:
    """Sums of as many places as the longest; those of one row are added to all."""
    total = np.zeros((max(map(len, summands)), max(sums.shape[1] for sums in summands)), dtype=np.int64)
    for sums in summands:
        total[:, : sums.shape[1]] += sums
    return total


def sums_of_pairs(
    factor: int,
    pairs: PlaceSums,
    where: IntArray,
    of_row: Sums,
    rows: IntArray,
    of_column: Sums,
    columns: IntArray,
) -> Sums:
    """Add up factor * pairs[:, where[i]] + of_row[rows[i]] + of_column[columns[i]], place by place."""
    total = np.empty((len(where), max(pairs.shape[0], of_row.shape[1], of_column.shape[1])), dtype=np.int64)
    add_places(factor, pairs, where, of_row, rows, of_column, columns, total)
    return total


@native
def add_places(
    factor: int,
    pairs: PlaceSums,
    where: IntArray,
    of_row: Sums,
    rows: IntArray,
    of_column: Sums,
    columns: IntArray,
    total: Sums,
) -> None:
    """Write the sums of `sums_of_pairs`."""


def distances(x: Slices, y: Slices, rows: IntArray, columns: IntArray, bits: int) -> Sums:
    """Return the exact sums of |x[rows[i]] - y[columns[i]]|: of each place's differences, with their signs.

    That sign is told from the top: past 4 units of a place, the differences below, each less than 4 units of their
    own place, cannot turn it.
    """
    total = np.empty((len(rows), x.shape[0]), dtype=np.int64)
    add_differences(x, y, rows, columns, bits, np.empty(x.shape[2]), total)
    return total


@native
def add_differences(
    x: Slices, y: Slices, rows: IntArray, columns: IntArray, bits: int, sign: FloatArray, total: Sums
) -> None:
    """Write the sums of `distances`; `sign` is room for one row."""
