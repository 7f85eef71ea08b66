"""Exact inner products: floats cut into short integers whose products and sums are exact in float64.

A float is an integer times a power of two. Cut at fixed places of w bits, x = sum_s x_s 2^(b + w s) with
integers |x_s| < 2^w; the inner product of two slices is below D 2^(2w) <= 2^53, so that float64 holds it exactly
in any order of summation. Python's integers put the slices together. (Ozaki et al. 2012, "Error-free
transformations of matrix multiplication", with integers for the last step.)
"""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatMatrix = npt.NDArray[np.float64]
ObjectArray = npt.NDArray[np.object_]
Slices = list[tuple[int, FloatMatrix]]


def width(dimensions: int) -> int:
    """Bits of a slice so that a sum of `dimensions` products of two slices stays within 53 bits."""
    return (53 - int(dimensions).bit_length()) // 2


def lowest_exponent(array: npt.NDArray[Any], smallest: float) -> int:
    """An exponent b such that every entry is a multiple of 2^b, from the `smallest` nonzero magnitude."""
    if array.dtype.kind != "f":
        return 0
    if smallest == 0:
        return 0
    mantissa_bits = np.finfo(array.dtype).nmant + 1
    return max(int(np.frexp(smallest)[1]) - mantissa_bits, -1074)


def parts(rows: npt.NDArray[Any]) -> list[FloatMatrix]:
    """Float64 matrices whose exact sum is `rows`: two for integers of 64 bits, else one."""
    if rows.dtype.kind in "iu" and rows.dtype.itemsize == 8:
        high = (rows >> np.array(32, rows.dtype)).astype(np.float64) * 2.0**32
        low = (rows & np.array(0xFFFFFFFF, rows.dtype)).astype(np.float64)
        return [high, low]
    return [rows.astype(np.float64)]


def cut(rows: npt.NDArray[Any], base: int) -> Slices:
    """The slices of `rows` (m, d), each with its place s; rows = sum over s of slice * 2^(base + w s)."""
    bits = width(rows.shape[1])
    slices: Slices = []
    for part in parts(rows):
        largest = np.abs(part).max(initial=0.0)
        # The highest place whose unit is at most `largest`: no unit overflows.
        place = (int(np.frexp(largest)[1]) - 1 - base) // bits
        while part.any():
            unit = np.ldexp(1.0, base + bits * place)
            piece = np.trunc(part / unit)
            part = part - piece * unit
            if piece.any():
                slices.append((place, piece))
            place -= 1
    return slices


Sums = dict[int, npt.NDArray[np.int64]]
"""Exact sums by their place s: each stands for itself times 2^(w s)."""


def add(sums: Sums, place: int, values: FloatMatrix) -> None:
    """Add integers below 2^53 at a place; int64 has room for a thousand of them."""
    whole = values.astype(np.int64)
    sums[place] = sums[place] + whole if place in sums else whole


def join(sums: Sums, bits: int, length: int) -> ObjectArray:
    """The Python integers that `length` sums of all places make together."""
    total: ObjectArray = np.zeros(length, dtype=object)
    for place, values in sums.items():
        total = total + values.astype(object) * (1 << (bits * place))
    return total


def dots(row: Slices, rows: Slices, dimensions: int, length: int) -> ObjectArray:
    """Exact inner products of one cut row (1, d) with `length` cut rows (length, d), in units of 2^(2 base)."""
    sums: Sums = {}
    for place, piece in row:
        for other, pieces in rows:
            add(sums, place + other, pieces @ piece[0])
    return join(sums, width(dimensions), length)


def squares(rows: Slices, dimensions: int, length: int) -> ObjectArray:
    """Exact squared norms of `length` cut rows, in units of 2^(2 base)."""
    sums: Sums = {}
    for place, piece in rows:
        for other, pieces in rows:
            add(sums, place + other, np.einsum("ij,ij->i", piece, pieces))
    return join(sums, width(dimensions), length)


def distances(row: Slices, rows: Slices, sign: FloatMatrix, dimensions: int) -> ObjectArray:
    """Exact sums of |x - y| of one cut row with cut rows, in units of 2^base; `sign` (length, d) is that of x - y."""
    sums: Sums = {}
    for place, piece in row:
        add(sums, place, sign @ piece[0])
    for place, pieces in rows:
        add(sums, place, -np.einsum("ij,ij->i", sign, pieces))
    return join(sums, width(dimensions), len(sign))
