"""`Rows`: the distinct rows of embeddings, each with its scale, norm and statistics.

Identical rows tie without any arithmetic and are ranked once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.exact.bounds import EXACT_INTEGERS, SAFETY
from tieproof.exact.scan import Checksums, beyond, common_unit, scan, units
from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.ties import BoolArray, FloatArray, IntArray

LARGEST_INTEGER = 2.0**27
"""The largest entry of rows that are treated as integers; products of larger ones would not fit into 53 bits."""

ROUNDS = 16
"""Each round settles one group of each checksum. Distinct rows share one only if float64 rounds them alike."""


@dataclass
class Rows:
    """The distinct rows of an embedding matrix. All arrays but the first two have one entry for each distinct row.

    embeddings : (n, d), as passed
    identity : (n,) the index of the distinct row that equals each row
    first : (u,) the index of a row of `embeddings` that equals the distinct row
    weight : (u,) the number of rows that equal the distinct row
    largest, smallest : (u,) the largest absolute value, and the smallest that is not zero
    divisor : (u,) the number by which entries are divided before any computation: a power of two, or the unit that
        makes them integers
    norm, square : (u,) the Euclidean norm after that division, with a relative error of `bounds.norm`, and its
        square, with twice that error; the square of integers is exact
    negative : whether any entry is negative
    direct : whether products may be computed from the array in memory without conversion
    """

    embeddings: Embeddings
    identity: IntArray
    first: IntArray
    weight: IntArray
    largest: FloatArray
    smallest: FloatArray
    divisor: FloatArray
    norm: FloatArray
    square: FloatArray
    negative: bool
    direct: bool = field(init=False)

    def __post_init__(self) -> None:
        """Compute in advance what many threads will read."""
        self.direct = self.can_be_direct()

    def __len__(self) -> int:
        """The number of distinct rows."""
        return len(self.first)

    @property
    def dimensions(self) -> int:
        """The length of a row."""
        return int(self.embeddings.shape[1])

    @property
    def exact_in_float64(self) -> bool:
        """Whether every entry is exact in float64, no integer exceeding 53 bits; `largest` may be rounded to 2^53."""
        return bool(self.embeddings.dtype.kind not in "iu" or self.largest.max() < 2.0**53)

    @property
    def exact_in_float32(self) -> bool:
        """Whether every entry is exact in float32, judged by the dtype alone."""
        return np.result_type(self.embeddings.dtype, np.float32) == np.float32

    def raw(self, rows: Any) -> Embeddings:
        """The original entries of distinct rows."""
        return np.asarray(self.embeddings[self.first[rows]])

    def values(self, rows: Any) -> FloatArray:
        """Distinct rows in float64, divided by their divisor; exact except for underflow (README, 6)."""
        values = self.raw(rows).astype(np.float64)
        values /= self.divisor[rows, None]
        return values

    def can_be_direct(self) -> bool:
        """Whether products may be computed from the array in memory without conversion.

        This is the case if no product can overflow or underflow, and all divisors are powers of two.
        """
        array = self.embeddings
        if array.dtype not in (np.float32, np.float64) or not array.flags.c_contiguous:
            return False
        if not array.flags.aligned or (np.frexp(self.divisor)[0] != 0.5).any():
            return False
        sane = self.smallest.min() > 2.0**-400 and self.largest.max() < 2.0**400
        return bool(array.dtype == np.float32 or sane)

    @property
    def lowest_exponent(self) -> int:
        """An exponent b such that every entry is a multiple of 2^b."""
        smallest = self.smallest.min()
        if self.embeddings.dtype.kind != "f" or not np.isfinite(smallest):
            return 0
        mantissa_bits = np.finfo(self.embeddings.dtype).nmant + 1
        return max(int(np.frexp(smallest)[1]) - mantissa_bits, -1074)

    @property
    def highest_exponent(self) -> int:
        """An exponent b such that every entry is below 2^b."""
        return int(np.frexp(self.largest.max())[1])


def distinct_rows(
    embeddings: Embeddings,
    name: str,
    up_to_factor: bool,
    order: IntArray,
    threads: int = 1,
    ends: tuple[int, ...] = (),
) -> Rows:
    """Scan `embeddings` and number its distinct rows by their first appearance in `order`.

    up_to_factor : rows that are positive multiples of each other count as equal (cosine)
    ends : the ends of consecutive parts of the rows, except the last part; rows of different parts count as distinct,
        and the rows of a part are numbered before those of the next

    Every row is divided by its own power of two.
    """
    statistics = scan(embeddings, name, up_to_factor, threads)
    bounds = [0, *ends, len(embeddings)]
    leaders = np.concatenate(
        [
            start + identities(embeddings[start:stop], statistics.checksum[start:stop], up_to_factor)
            for start, stop in pairwise(bounds)
        ]
    )
    if ends:
        order = order[np.argsort(np.searchsorted(ends, order, side="right"), kind="stable")]
    in_order, places = leaders[order], np.arange(len(order))
    appearance, number = np.empty_like(places), np.empty_like(places)
    appearance[in_order[::-1]] = places[::-1]  # written last, and so kept, is the first appearance of each row
    first = in_order[appearance[in_order] == places]
    number[first] = places[: len(first)]
    identity = number[leaders]
    largest = statistics.largest[first]
    return Rows(
        embeddings=embeddings,
        identity=identity,
        first=first,
        weight=np.bincount(identity),
        largest=largest,
        smallest=statistics.smallest[first],
        divisor=power_of_two_below(largest),
        norm=np.sqrt(statistics.square[first]),
        square=statistics.square[first],
        negative=bool(statistics.negative.any()),
    )


def power_of_two_below(magnitude: FloatArray) -> FloatArray:
    """The largest power of two that is at most `magnitude`; 1 for zero."""
    powers: FloatArray = np.ldexp(1.0, np.frexp(magnitude)[1] - 1)
    return np.where(magnitude > 0, powers, 1.0)


def share_divisor(*sides: Rows) -> tuple[Rows, ...]:
    """The rows of all sides divided by one power of two, so that the largest entry is in [1, 2)."""
    common = power_of_two_below(np.array([max(side.largest.max() for side in sides)]))[0]
    # The divisor of a row of zeros does not describe its size.
    divisors = [np.where(side.largest > 0, side.divisor, 0.0) for side in sides]
    norms = [side.norm * (divisor / common) for side, divisor in zip(sides, divisors, strict=True)]
    return tuple(
        replace(side, divisor=np.full(len(side), common), norm=norm, square=norm**2)
        for side, norm in zip(sides, norms, strict=True)
    )


def as_integers(*sides: Rows, per_row: bool) -> tuple[Rows, ...] | None:
    """The rows of all sides as integers (with a unit for each row, or one for all); None if they are not integers.

    The result is also None if a squared norm would exceed 53 bits.
    """
    found = [units(side.embeddings, side.largest[side.identity], LARGEST_INTEGER, per_row) for side in sides]
    divisors = [unit[side.first] for unit, side in zip(found, sides, strict=True) if unit is not None]
    if len(divisors) < len(sides):
        return None
    if not per_row and len(sides) > 1:
        common = common_unit(np.array([divisor[0] for divisor in divisors]))
        if any(beyond(side.largest, common, LARGEST_INTEGER) for side in sides):
            return None
        divisors = [np.full(len(side), common) for side in sides]
    divided = [replace(side, divisor=divisor) for side, divisor in zip(sides, divisors, strict=True)]
    squares = [integer_squares(side) for side in divided]
    if any(square.max() * SAFETY > EXACT_INTEGERS[np.dtype(np.float64)] for square in squares):
        return None
    return tuple(
        replace(side, norm=np.sqrt(square), square=square) for side, square in zip(divided, squares, strict=True)
    )


def integer_squares(rows: Rows) -> FloatArray:
    """Squared norms of rows that are integers."""
    squares = np.empty(len(rows))
    for span in spans(len(rows), rows.dimensions):
        values = rows.values(span)
        squares[span] = np.einsum("ij,ij->i", values, values)
    return squares


def spans(count: int, dimensions: int) -> Iterator[slice]:
    """Slices of `count` rows, each small enough in float64 for a cache."""
    size = max(1, BLOCK_BYTES // (8 * dimensions))
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def identities(embeddings: Embeddings, checksums: Checksums, up_to_factor: bool) -> IntArray:
    """For each row (n,) the first row that equals it or, with `up_to_factor`, a positive multiple of it.

    Rows with equal checksums are candidates, which are compared exactly. A missed pair would cost time, but would not
    change any result.
    """
    same = proportional if up_to_factor else equal
    first = np.arange(len(embeddings))
    unsettled = first
    for _ in range(ROUNDS):
        rising = np.sort(checksums[unsettled])
        if not (rising[1:] == rising[:-1]).any():
            break
        _, earliest, inverse = np.unique(checksums[unsettled], return_index=True, return_inverse=True)
        leader = unsettled[earliest[inverse]]
        others = unsettled != leader
        members, leaders = unsettled[others], leader[others]
        matched = same_rows(embeddings, members, leaders, same)
        first[members[matched]] = leaders[matched]
        unsettled = members[~matched]
    return first


def same_rows(embeddings: Embeddings, members: IntArray, leaders: IntArray, same: Any) -> BoolArray:
    """Whether each row members[i] equals row leaders[i], computed block by block."""
    size = max(1, BLOCK_BYTES // (8 * embeddings.shape[1]))
    matched = np.empty(len(members), dtype=np.bool_)
    for start in range(0, len(members), size):
        span = slice(start, start + size)
        matched[span] = same(embeddings[members[span]], embeddings[leaders[span]])
    return matched


def equal(a: Embeddings, b: Embeddings) -> BoolArray:
    """Whether rows are equal as numbers."""
    flags: BoolArray = (a == b).all(axis=1)
    return flags


def proportional(a: Embeddings, b: Embeddings) -> BoolArray:
    """Whether rows are equal up to a positive factor: a_i |b_p| = b_i |a_p| exactly, p the index of the largest."""
    if a.dtype.kind in "iu" and a.dtype.itemsize == 8:
        return equal(a, b)  # with more than 53 bits the products below would not be exact
    a_mantissa, a_exponent = np.frexp(a.astype(np.float64))
    b_mantissa, b_exponent = np.frexp(b.astype(np.float64))
    place = np.abs(a.astype(np.float64)).argmax(axis=1)[:, None]

    def at_place(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.take_along_axis(array, place, axis=1)

    left = two_product(a_mantissa, np.abs(at_place(b_mantissa)))
    right = two_product(b_mantissa, np.abs(at_place(a_mantissa)))
    shift = (a_exponent + at_place(b_exponent)) - (b_exponent + at_place(a_exponent))
    # Both products are in [1/4, 1) or zero: a shift of more than 4 cannot make them equal.
    shift = np.clip(shift, -4, 4)
    flags: BoolArray = np.logical_and.reduce(
        [np.ldexp(mine, shift) == other for mine, other in zip(left, right, strict=True)]
    ).all(axis=1)
    nonzero: BoolArray = at_place(a)[:, 0] != 0
    return np.asarray(flags & (nonzero == (b != 0).any(axis=1)))


def two_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The high and the low part of the exact product of mantissas (Dekker 1971)."""
    high = a * b
    a_high, b_high = split(a), split(b)
    a_low, b_low = a - a_high, b - b_high
    low = a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return high, low


def split(a: FloatArray) -> FloatArray:
    """The upper 26 bits of mantissas (Veltkamp)."""
    scaled = a * (2.0**27 + 1)
    upper: FloatArray = scaled - (scaled - a)
    return upper
