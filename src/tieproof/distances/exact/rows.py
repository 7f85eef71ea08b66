"""`Rows`: the distinct rows of embeddings, each with its scale, norm and statistics from one pass over all rows.

Identical rows tie without any arithmetic and are ranked once.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.bounds import EXACT_INTEGERS, SAFETY
from tieproof.distances.exact.twofold import are_proportional
from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings, not_finite
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.native.calls import Output, native
from tieproof.native.threads import for_each, stripes
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

Checksums = npt.NDArray[np.uint64]

LARGEST_INTEGER = 2.0**27
"""The largest entry of rows that are treated as integers; products of larger ones would not fit into 53 bits."""

FEW_ROWS = 16
"""The number of rows that usually show that there is no unit."""

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
        if self.sparse or array.dtype not in (np.float32, np.float64) or not array.flags.c_contiguous:
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
        kind = np.finfo(self.embeddings.dtype)
        return max(int(np.frexp(smallest)[1]) - 1, kind.minexp) - kind.nmant

    @property
    def highest_exponent(self) -> int:
        """An exponent b such that every entry is below 2^b."""
        return int(np.frexp(self.largest.max())[1])


class Statistics(NamedTuple):
    """Statistics of each row, arrays of shape (n,)."""

    largest: FloatArray  # largest absolute value
    smallest: FloatArray  # smallest absolute value that is not zero; inf for a row of zeros
    square: FloatArray  # squared norm of the row scaled so that its largest absolute value is in [1, 2)
    negative: npt.NDArray[np.bool_]  # whether an entry is negative
    checksum: Checksums  # equal for identical rows, or for rows equal up to a positive factor


@native
def scan_block(
    block: FloatArray, multipliers: Checksums, up_to_factor: bool, start: int, statistics: Output[Statistics]
) -> int:
    """Fill `statistics` from row `start` on; return the first row of `block` that is not finite, or -1."""


def scan(embeddings: Embeddings, name: str, up_to_factor: bool, threads: int = 1) -> Statistics:
    """Read every row once; NaN and infinity are refused with the first row that has one."""
    count, dimensions = len(embeddings), summands(embeddings)
    # Random odd multipliers, so that nobody can prepare rows whose checksums collide. They never affect a result.
    multipliers, of_terms = np.frombuffer(os.urandom(16 * dimensions), dtype=np.uint64).reshape(2, -1) | np.uint64(1)
    largest, smallest, square = np.empty((3, count))
    statistics = Statistics(largest, smallest, square, np.empty(count, np.bool_), np.empty(count, np.uint64))

    def look(start: int) -> None:
        span = slice(start, start + size)
        given, terms = embeddings.packed(span) if isinstance(embeddings, SparseRows) else (embeddings[span], None)
        block = np.ascontiguousarray(given, dtype=np.float64)
        bad = scan_block(block, multipliers[: block.shape[1]], up_to_factor, start, statistics)
        if terms is not None:
            statistics.checksum[span] += (terms * of_terms[: block.shape[1]]).sum(axis=1, dtype=np.uint64)
        if bad >= 0:
            raise not_finite(name, start + bad, block[bad])

    size = max(1, BLOCK_BYTES // (8 * max(1, dimensions)))
    for_each(look, range(0, count, size), threads)
    return statistics


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


def numbered(leaders: IntArray, order: IntArray) -> tuple[IntArray, IntArray]:
    """Number the rows that are their own leaders by the first appearance of their followers in `order`.

    Returns the number of each row's leader (n,), and the row that appears first for each number (u,).
    """
    in_order, places = leaders[order], np.arange(len(order))
    appearance, number = np.empty_like(places), np.empty_like(places)
    appearance[in_order[::-1]] = places[::-1]  # written last, and so kept, is the first appearance of each row
    first = in_order[appearance[in_order] == places]
    number[first] = places[: len(first)]
    return number[leaders], first


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


def summands(embeddings: Embeddings | SparseRows) -> int:
    """The most summands of a product of two rows: the dimensions, or the most entries of sparse rows."""
    return embeddings.longest if isinstance(embeddings, SparseRows) else int(embeddings.shape[1])


def numbers_of(embeddings: Embeddings | SparseRows, rows: slice | IntArray) -> Array:
    """The numbers of some rows; those of sparse rows without the zeros between them."""
    return embeddings.packed(rows)[0] if isinstance(embeddings, SparseRows) else embeddings[rows]


def spans(count: int, dimensions: int) -> Iterator[slice]:
    """Slices of `count` rows, each small enough in float64 for a cache."""
    size = max(1, BLOCK_BYTES // (8 * dimensions))
    return stripes(0, count, size)


def first_equal(embeddings: Embeddings, checksums: Checksums, up_to_factor: bool) -> IntArray:
    """For each row (n,) the first row that equals it or, with `up_to_factor`, a positive multiple of it.

    Rows with equal checksums are candidates, which are compared exactly. A missed pair would cost time, but would not
    change any result.
    """
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
        matched = _same_rows(embeddings, members, leaders, up_to_factor)
        first[members[matched]] = leaders[matched]
        unsettled = members[~matched]
    return first


def _same_rows(embeddings: Embeddings, members: IntArray, leaders: IntArray, up_to_factor: bool) -> BoolArray:
    """Whether each row members[i] equals row leaders[i], or a positive multiple of it, computed block by block."""
    # With more than 53 bits the products in `are_proportional` would not be exact.
    by_products = up_to_factor and not (embeddings.dtype.kind in "iu" and embeddings.dtype.itemsize == 8)
    matched = np.zeros(len(members), dtype=np.bool_)
    for span in spans(len(members), summands(embeddings)):
        if isinstance(embeddings, SparseRows):
            matched[span] = _same_terms(embeddings, members[span], leaders[span], up_to_factor)
            continue
        a, b = embeddings[members[span]], embeddings[leaders[span]]
        matched[span] = are_proportional(a, b) if by_products else (a == b).all(axis=1)
    return matched


def _same_terms(embeddings: SparseRows, members: IntArray, leaders: IntArray, up_to_factor: bool) -> BoolArray:
    """As `_same_rows`, for few sparse rows."""
    length = np.diff(embeddings.starts)
    matched: BoolArray = length[members] == length[leaders]
    some = np.flatnonzero(matched)
    (a, a_terms), (b, b_terms) = (embeddings.packed(side[some]) for side in (members, leaders))
    same = are_proportional(a, b) if up_to_factor else (a == b).all(axis=1)
    matched[some] = same & (a_terms == b_terms).all(axis=1)
    return matched
