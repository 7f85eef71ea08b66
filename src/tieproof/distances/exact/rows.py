"""`Rows`: the distinct rows of embeddings, each with its scale, norm and statistics from one pass over all rows.

Identical rows tie without any arithmetic and are ranked once.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tieproof.distances.exact.bounds import EXACT_INTEGERS, SAFETY
from tieproof.distances.exact.equal import Statistics, first_equal, numbered, numbers_of, scan, spans, summands
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.native.calls import Output, native
from tieproof.native.threads import for_each
from tieproof.ties import FloatArray, IntArray

LARGEST_INTEGER = 2.0**27
"""The largest entry of rows that are treated as integers; products of larger ones would not fit into 53 bits."""

FEW_ROWS = 16  # the number of rows that usually show that there is no unit


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
    zero_vectors : the number of rows that are all zero, as they were passed
    dimensions : the length of a row; of sparse rows, the most entries of one
    direct : whether products may be computed from the array in memory without conversion
    """

    embeddings: Any  # an array (n, d), or SparseRows
    identity: IntArray
    first: IntArray
    weight: IntArray
    largest: FloatArray
    smallest: FloatArray
    divisor: FloatArray
    norm: FloatArray
    square: FloatArray
    negative: bool
    zero_vectors: int
    dimensions: int = field(init=False)
    direct: bool = field(init=False)
    sparse: bool = field(init=False)

    def __post_init__(self) -> None:
        """Compute in advance what many threads will read."""
        self.dimensions, self.sparse = summands(self.embeddings), isinstance(self.embeddings, SparseRows)
        self.direct = self._can_be_direct()

    def __len__(self) -> int:
        """The number of distinct rows."""
        return len(self.first)

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

    def _can_be_direct(self) -> bool:
        """Whether products may be computed from the array in memory without conversion.

        This is the case if no product can overflow or underflow, and all divisors are powers of two.
        """
        array = self.embeddings
        if array.dtype not in (np.float32, np.float64) or (np.frexp(self.divisor)[0] != 0.5).any():
            return False
        if not (self.sparse or (array.flags.c_contiguous and array.flags.aligned)):
            return False
        sane = self.smallest.min() > 2.0**-400 and self.largest.max() < 2.0**400
        return bool(array.dtype == np.float32 or sane)

    @property
    def lowest_exponent(self) -> int:
        """An exponent b such that every entry is a multiple of 2^b."""
        smallest = self.smallest.min()
        if self.embeddings.dtype.kind != "f" or not np.isfinite(smallest):
            return 0
        kind = np.finfo(self.embeddings.dtype)
        return max(int(np.frexp(smallest)[1]) - 1, kind.minexp) - kind.nmant

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
            start + first_equal(embeddings[start:stop], statistics.checksum[start:stop], up_to_factor)
            for start, stop in pairwise(bounds)
        ]
    )
    if ends:
        order = order[np.argsort(np.searchsorted(ends, order, side="right"), kind="stable")]
    identity, first = numbered(leaders, order)
    return describe(embeddings, identity, first, statistics)


def describe(embeddings: Embeddings, identity: IntArray, first: IntArray, statistics: Statistics) -> Rows:
    """The distinct rows with these statistics; every row is divided by its own power of two."""
    largest, weight = statistics.largest[first], np.bincount(identity, minlength=len(first))
    return Rows(
        embeddings=embeddings,
        identity=identity,
        first=first,
        weight=weight,
        largest=largest,
        smallest=statistics.smallest[first],
        divisor=_power_of_two_below(largest),
        norm=np.sqrt(statistics.square[first]),
        square=statistics.square[first],
        negative=bool(statistics.negative.any()),
        zero_vectors=int(weight[largest == 0].sum()),
    )


def _power_of_two_below(magnitude: FloatArray) -> FloatArray:
    """The largest power of two that is at most `magnitude`; 1 for zero."""
    powers: FloatArray = np.ldexp(1.0, np.frexp(magnitude)[1] - 1)
    return np.where(magnitude > 0, powers, 1.0)


def share_divisor(*sides: Rows) -> tuple[Rows, ...]:
    """The rows of all sides divided by one power of two, so that the largest entry is in [1, 2)."""
    common = _power_of_two_below(np.array([max(side.largest.max() for side in sides)]))[0]
    # The divisor of a row of zeros does not describe its size.
    divisors = [np.where(side.largest > 0, side.divisor, 0.0) for side in sides]
    norms = [side.norm * (divisor / common) for side, divisor in zip(sides, divisors, strict=True)]
    return tuple(
        replace(side, divisor=np.full(len(side), common), norm=norm, square=norm**2)
        for side, norm in zip(sides, norms, strict=True)
    )


def as_integers(*sides: Rows, per_row: bool, threads: int = 1) -> tuple[Rows, ...] | None:
    """The rows of all sides as integers (with a unit for each row, or one for all); None if they are not integers.

    The result is also None if a squared norm would exceed 53 bits.
    """
    units = [_units(side.embeddings, side.largest[side.identity], per_row, threads) for side in sides]
    divisors = [unit[side.first] for unit, side in zip(units, sides, strict=True) if unit is not None]
    if len(divisors) < len(sides):
        return None
    if not per_row and len(sides) > 1:
        common = _common_unit(np.array([divisor[0] for divisor in divisors]))
        if any(_beyond(side.largest, common, LARGEST_INTEGER) for side in sides):
            return None
        divisors = [np.full(len(side), common) for side in sides]
    divided = [replace(side, divisor=divisor) for side, divisor in zip(sides, divisors, strict=True)]
    squares = [_integer_squares(side, threads) for side in divided]
    if any(square.max() * SAFETY > EXACT_INTEGERS[np.dtype(np.float64)] for square in squares):
        return None
    return tuple(
        replace(side, norm=np.sqrt(square), square=square) for side, square in zip(divided, squares, strict=True)
    )


@native
def row_units(rows: FloatArray, unit: Output[FloatArray]) -> None:
    """Write the largest number that each row is a multiple of: gcd of odd parts times 2^e; 1 for a row of zeros."""


def _units(embeddings: Embeddings, largest: FloatArray, per_row: bool, threads: int) -> FloatArray | None:
    """The unit of each row (or the common unit, repeated) if all rows are integers that are not too large, else None.

    For real-valued embeddings the first few rows are enough to return None.
    """
    if embeddings.dtype.kind in "iub":
        return np.ones(len(embeddings)) if largest.max(initial=0.0) <= LARGEST_INTEGER else None
    unit = np.ones(len(embeddings))
    beyond: list[slice] = []

    def look(span: slice) -> None:
        if not beyond:
            row_units(np.ascontiguousarray(numbers_of(embeddings, span), dtype=np.float64), unit[span])
            if _beyond(largest[span], unit[span], LARGEST_INTEGER):
                beyond.append(span)

    look(slice(0, FEW_ROWS))
    if not beyond:
        for_each(look, spans(len(embeddings), summands(embeddings)), threads)
    if beyond:
        return None
    if per_row or not largest.any():
        return unit
    common = _common_unit(np.unique(unit[largest > 0]))
    return np.full(len(embeddings), common) if not _beyond(largest.max(), common, LARGEST_INTEGER) else None


def _beyond(largest: FloatArray | float, unit: FloatArray | float, limit: float) -> bool:
    """Whether any of `largest` is more than `limit` units, as a quotient that overflows is."""
    with np.errstate(over="ignore"):
        return bool((np.divide(largest, unit) > limit).any())


def _common_unit(of_rows: FloatArray) -> float:
    """The largest number that all units `of_rows` are multiples of."""
    common = np.empty(1)
    row_units(np.ascontiguousarray(of_rows)[None], common)
    return float(common[0])


def _integer_squares(rows: Rows, threads: int) -> FloatArray:
    """Squared norms of rows that are integers."""
    squares = np.empty(len(rows))

    def fill(span: slice) -> None:
        values = numbers_of(rows.embeddings, rows.first[span]).astype(np.float64)
        values /= rows.divisor[span, None]
        squares[span] = np.einsum("ij,ij->i", values, values)

    for_each(fill, spans(len(rows), rows.dimensions), threads)
    return squares
