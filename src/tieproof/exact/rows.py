"""`Rows`: embeddings as the exact order sees them: distinct rows, each with its scale, norm and statistics."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tieproof.exact.bounds import EXACT_INTEGERS, SAFETY
from tieproof.exact.identity import identities
from tieproof.exact.scan import beyond, common_unit, scan, units
from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.ties import FloatArray, IntArray

LARGEST_INTEGER = 2.0**27
"""Rows are looked at as integers up to here; larger ones leave no room for products in 53 bits."""


@dataclass
class Rows:
    """The distinct rows of an embedding matrix. All arrays but the first two have one entry per distinct row.

    embeddings : (n, d), as given
    identity : (n,) the distinct row that each row is
    first : (u,) a row of `embeddings` that the distinct row stands for
    weight : (u,) how many rows it stands for
    largest, smallest : (u,) largest magnitude and smallest one that is not zero
    divisor : (u,) what the entries are divided by before anything is computed: a power of two, or the unit that
        makes them integers
    norm, square : (u,) Euclidean norm after that division and its square, to a relative `bounds.norm` and twice
        that; the square of integers is exact
    negative : whether any entry is below zero
    direct : whether products of entries may be formed from the array as it lies in memory
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
        """Note what many threads will ask for."""
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
        """Whether float64 holds every entry: no integers beyond 53 bits; `largest` may have been rounded to 2^53."""
        return bool(self.embeddings.dtype.kind not in "iu" or self.largest.max() < 2.0**53)

    @property
    def exact_in_float32(self) -> bool:
        """Whether float32 holds every entry, by the type alone."""
        return np.result_type(self.embeddings.dtype, np.float32) == np.float32

    def raw(self, rows: Any) -> Embeddings:
        """The entries of distinct rows as given."""
        return np.asarray(self.embeddings[self.first[rows]])

    def values(self, rows: Any) -> FloatArray:
        """Distinct rows in float64, divided by their divisor: exact but for underflow (README, 6)."""
        values = self.raw(rows).astype(np.float64)
        values /= self.divisor[rows, None]
        return values

    def can_be_direct(self) -> bool:
        """Whether products of entries may be formed from the array as it lies in memory.

        They may where no product can overflow or underflow and a power of two is all that they are divided by.
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
        """Some b such that every entry is a multiple of 2^b."""
        smallest = self.smallest.min()
        if self.embeddings.dtype.kind != "f" or not np.isfinite(smallest):
            return 0
        mantissa_bits = np.finfo(self.embeddings.dtype).nmant + 1
        return max(int(np.frexp(smallest)[1]) - mantissa_bits, -1074)

    @property
    def highest_exponent(self) -> int:
        """Some b such that every entry is below 2^b."""
        return int(np.frexp(self.largest.max())[1])


def distinct_rows(embeddings: Embeddings, name: str, up_to_factor: bool, order: IntArray, threads: int = 1) -> Rows:
    """Scan `embeddings` and number its distinct rows by their first appearance in `order`.

    `up_to_factor`: rows that are positive multiples of each other are the same (cosine). Every row is divided by
    a power of two of its own.
    """
    statistics = scan(embeddings, name, up_to_factor, threads)
    leaders = identities(embeddings, statistics.checksum, up_to_factor)
    first, appearance, inverse, weight = np.unique(
        leaders[order], return_index=True, return_inverse=True, return_counts=True
    )
    by_appearance = np.argsort(appearance, kind="stable")
    number = np.empty_like(by_appearance)
    number[by_appearance] = np.arange(len(first))
    identity = np.empty(len(embeddings), dtype=np.int64)
    identity[order] = number[inverse]
    first = first[by_appearance]
    largest = statistics.largest[first]
    return Rows(
        embeddings=embeddings,
        identity=identity,
        first=first,
        weight=weight[by_appearance],
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
    """The rows of all sides divided by one power of two, so that the largest entry lies in [1, 2)."""
    common = power_of_two_below(np.array([max(side.largest.max() for side in sides)]))[0]
    # A row of zeros has a divisor of its own that says nothing of its size.
    divisors = [np.where(side.largest > 0, side.divisor, 0.0) for side in sides]
    norms = [side.norm * (divisor / common) for side, divisor in zip(sides, divisors, strict=True)]
    return tuple(
        replace(side, divisor=np.full(len(side), common), norm=norm, square=norm**2)
        for side, norm in zip(sides, norms, strict=True)
    )


def as_integers(*sides: Rows, per_row: bool) -> tuple[Rows, ...] | None:
    """The rows of all sides as integers (a unit for each row, or one for all), or None where they are not.

    None, too, where a squared norm would pass 53 bits.
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
    """Slices of `count` rows, each of a size that a cache holds in float64."""
    size = max(1, BLOCK_BYTES // (8 * dimensions))
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
