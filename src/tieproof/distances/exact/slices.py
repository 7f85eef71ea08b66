"""Exact rows of both sides: floats cut into short integers whose products and sums are exact in float64.

A float is an integer times a power of two. Cut at fixed places of w bits, x = sum_s x_s 2^(b + w s) with integers
|x_s| < 2^(w + 1). The inner product of two slices is below D 2^(2w + 2) <= 2^53, so it is exact in float64 in any
order of summation, and a matrix product of slices is exact. The products of each place are added in int64 (Ozaki et
al. 2012, "Error-free transformations of matrix multiplication", with integers for the last step).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact import bounds, reals
from tieproof.distances.exact.bounds import Intervals, distinct, products
from tieproof.distances.exact.reals import Digits, Sums
from tieproof.distances.exact.rows import Rows
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

FloatMatrix = npt.NDArray[np.float64]

Slices = npt.NDArray[np.float64]  # (s, m, d): the slices of m rows, with the lowest place first
PlaceSums = npt.NDArray[np.int64]  # (p, m): m exact sums as in `Sums`, but with the places as the first axis


LARGEST_BATCH = 2**22  # the largest number of entries in a batch of rows, or of sums of pairs: 32 MiB
LARGEST_BITS = 450  # squared norms with more bits could overflow float64 when they are squared

KEY_ERROR = 2.0**-51
"""The relative error, for each digit, of rounding a key to float64: two roundings, and a margin of two more."""


def width(dimensions: int) -> int:
    """The number of bits in a slice for which a sum of `dimensions` products of two slices has at most 53 bits."""
    return (51 - int(dimensions).bit_length()) // 2


def parts(rows: npt.NDArray[Any], halved: bool) -> list[FloatMatrix]:
    """Float64 matrices whose exact sum is `rows`: two halves of integers that are not exact in float64, else one.

    Both halves have the sign of their number, so they are not larger than the number and need no more places.
    """
    if not halved:
        return [rows.astype(np.float64)]
    negative = (rows < 0).astype(rows.dtype)
    high = (rows + negative * np.array(0xFFFFFFFF, rows.dtype)) >> np.array(32, rows.dtype)
    low = rows - (high << np.array(32, rows.dtype))
    return [high.astype(np.float64) * 2.0**32, low.astype(np.float64)]


def differences(rows: npt.NDArray[Any], center: npt.NDArray[Any], halved: bool) -> list[FloatMatrix]:
    """Float64 matrices whose exact sum is rows (m, d) - center (d,), which have one dtype and are below 2^1023."""
    summands: list[FloatMatrix] = []
    for part, of_center in zip(parts(rows, halved), parts(center, halved), strict=True):
        rest = np.empty_like(part)
        is_rounded = subtract(part, of_center, rest)
        summands += [part, rest] if is_rounded else [part]
    return summands


@native
def subtract(rows: Output[FloatMatrix], center: FloatMatrix, rest: Output[FloatMatrix]) -> bool:
    """Write rows - center, rounded, to `rows`, its errors to `rest`, and return whether any is not 0 (TwoSum).

    The errors are exact: the rounding error of a sum of two floats is a float, subnormal or not.
    """


def _top_place(summands: list[FloatMatrix], base: int, bits: int) -> int:
    """The highest place of the largest entry; 0 if all entries are zero."""
    largest = max(max(part.max(initial=0.0), -part.min(initial=0.0)) for part in summands)
    return max(0, (int(np.frexp(largest)[1]) - 1 - base) // bits) if largest > 0 else 0


def cut(summands: list[FloatMatrix], base: int, bits: int, top: int) -> Slices:
    """Slices, up to the place `top`, of the sum of matrices (m, d) of multiples of 2^base; overwrites `summands`.

    The slices of one summand are below 2^bits. For two summands, from TwoSum or from the halves of integers, the two
    slices of a place add up to less than twice that.
    """
    slices = np.zeros((top + 1, *summands[0].shape))
    for part in summands:
        for place in range(top, -1, -1):
            cut_off(part, np.ldexp(1.0, base + bits * place), slices[place])
    return slices


@native
def cut_off(rows: Output[FloatMatrix], unit: float, piece: Output[FloatMatrix]) -> None:
    """Move whole multiples of `unit`, a power of two, from `rows` to `piece`; both steps are exact."""


def dots(x: Slices, y: Slices, rows: IntArray, columns: IntArray) -> tuple[PlaceSums, IntArray]:
    """Exact inner products, and the index among them of the product of x[rows[i]] and y[columns[i]] for each i.

    Many pairs of few rows are computed by matrix products of all x with all y.
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
    """Exact inner products of rows with one row (s, 1, d), which is zero if d is 0."""
    if not one.shape[2]:
        return nothing(x)
    total = np.zeros((x.shape[1], len(x) + len(one) - 1), dtype=np.int64)
    for place, piece in enumerate(x):
        for other, other_piece in enumerate(one):
            total[:, place + other] += (piece @ other_piece[0]).astype(np.int64)
    return total


def nothing(x: Slices) -> Sums:
    """A sum of 0 with one place for each row."""
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
    """Add sums with different numbers of places; sums of a single row are added to all rows."""
    total = np.zeros((max(map(len, summands)), max(sums.shape[1] for sums in summands)), dtype=np.int64)
    for sums in summands:
        total[:, : sums.shape[1]] += sums
    return total


class Summands(NamedTuple):
    """Sums of pairs: factor * pairs[:, where[i]] + of_row[rows[i]] + of_column[columns[i]], place by place."""

    factor: int
    pairs: PlaceSums
    where: IntArray
    of_row: Sums
    rows: IntArray
    of_column: Sums
    columns: IntArray

    @property
    def places(self) -> int:
        """The number of places of the longest summand."""
        return int(max(self.pairs.shape[0], self.of_row.shape[1], self.of_column.shape[1]))

    def sums(self) -> Sums:
        """The exact sums."""
        total = np.empty((len(self.where), self.places), dtype=np.int64)
        add_places(self, total)
        return total

    def rounded(self, bits: int) -> Intervals:
        """The sums in float64, with error bounds; a place has `bits` bits."""
        value, size = np.empty(len(self.where)), np.empty(len(self.where))
        round_places(self, self.places, bits, value, size)
        size *= bounds.gamma(self.places + 2, bounds.UNIT_ROUNDOFF[np.dtype(np.float64)])
        return value, size


@native
def add_places(summands: Summands, total: Output[Sums]) -> None:
    """Write the exact sums of pairs."""


@native
def round_places(
    summands: Summands, places: int, bits: int, value: Output[FloatArray], size: Output[FloatArray]
) -> None:
    """Write the sums in float64, and the sums of their places' absolute values, to which rounding is relative."""


def distances(x: Slices, y: Slices, rows: IntArray, columns: IntArray, bits: int) -> Sums:
    """The exact sums of |x[rows[i]] - y[columns[i]]|, as sums of each place's differences times the entry's sign.

    The sign is decided from the highest place down: once the difference exceeds 4 units of a place, the differences
    in lower places, each less than 4 units of their own place, cannot change the sign.
    """
    total = np.empty((len(rows), x.shape[0]), dtype=np.int64)
    add_differences(x, y, rows, columns, bits, np.empty(x.shape[2]), total)
    return total


@native
def add_differences(
    x: Slices, y: Slices, rows: IntArray, columns: IntArray, bits: int, sign: Output[FloatArray], total: Output[Sums]
) -> None:
    """Write the sums of `distances`; `sign` is working memory for one row."""


class PairBatch(NamedTuple):
    """Pairs (x[:, rows[i]], y[:, columns[i]]) of sliced rows, from which a common row was subtracted."""

    x: Slices
    y: Slices
    rows: IntArray
    columns: IntArray

    def summands(self, pairs: tuple[PlaceSums, IntArray], factor: int, of_row: Sums, of_column: Sums) -> Summands:
        """The summands of factor a.b + of_row + of_column for each pair; `pairs` is the result of `dots`."""
        return Summands(factor, *pairs, of_row, self.rows, of_column, self.columns)

    def sums(self, pairs: tuple[PlaceSums, IntArray], factor: int, of_row: Sums, of_column: Sums) -> Sums:
        """The exact sums of `summands`."""
        return self.summands(pairs, factor, of_row, of_column).sums()


Places = tuple[IntArray, IntArray]  # the distinct rows of some pairs, and the index of each pair's row among them


class ExactRows:
    """Query rows and items as multiples of 2^base, minus a common row.

    The differences of rows that are close to each other are short integers: thousands of near-duplicates need only
    one slice each.
    """

    def __init__(self, queries: Rows, items: Rows, batch: int) -> None:
        self.queries, self.items, self.most = queries, items, min(batch, LARGEST_BATCH)
        self.bits = width(items.dimensions)
        self.base = min(queries.lowest_exponent, items.lowest_exponent)
        largest = max(queries.highest_exponent, items.highest_exponent)
        entry_bits = largest + 1 - self.base
        self.largest_top = entry_bits // self.bits
        self.places = 2 * self.largest_top + 1
        # Sums of up to four inner products are shorter than this.
        self.product_bits = 2 * entry_bits + items.dimensions.bit_length() + 3
        self.center = np.zeros((1, 0)) if items.sparse else items.raw(np.zeros(1, dtype=np.int64))
        if largest >= 1023 or queries.embeddings.dtype != items.embeddings.dtype:
            self.center = np.zeros_like(self.center)
        # Both sides are halved or none, because different dtypes are refused if an entry is not exact in float64.
        self.halved = not (queries.exact_in_float64 and items.exact_in_float64)

    @property
    def can_round(self) -> bool:
        """Whether exact squared norms and their squares are finite in float64."""
        return self.product_bits <= LARGEST_BITS

    @property
    def center_slices(self) -> Slices:
        """The slices of the common row, computed on demand because usually no pair needs them."""
        return self.cut(parts(self.center, self.halved))[0]

    def cut(self, *sides: list[FloatMatrix]) -> list[Slices]:
        """The slices of sums of matrices, up to the same highest place for all sides."""
        top = max(_top_place(summands, self.base, self.bits) for summands in sides)
        return [cut(summands, self.base, self.bits, top) for summands in sides]

    def batches(self, rows: IntArray, columns: IntArray, key_length: int) -> Iterator[PairBatch]:
        """Yield the pairs in batches that fit into memory; each key has `key_length` digits."""
        of_row, of_pair = (self.largest_top + 1) * self.items.dimensions, 4 * self.places + key_length
        if self.items.sparse:  # each pair has two rows of its own, with room for the terms of both
            of_row, of_pair = 0, of_pair + 4 * of_row
        for x, y in self.parts(rows, columns, of_row, of_pair):
            yield self.batch(*x, *y)

    def parts(self, rows: IntArray, columns: IntArray, of_row: int, of_pair: int) -> Iterator[tuple[Places, Places]]:
        """Yield parts of the pairs for which memory for so many numbers of each row and pair is enough."""
        pending = [slice(0, len(rows))]
        while pending:
            span = pending.pop()
            count = span.stop - span.start
            if count * of_pair <= self.most or count <= 1:
                x, y = distinct(rows[span], len(self.queries)), distinct(columns[span], len(self.items))
                if of_row * (len(x[0]) + len(y[0])) <= self.most or count <= 1:
                    yield x, y
                    continue
            middle = span.start + count // 2
            pending += [slice(middle, span.stop), slice(span.start, middle)]

    def batch(self, x_rows: IntArray, row_places: IntArray, y_rows: IntArray, column_places: IntArray) -> PairBatch:
        """The slices of the pairs' distinct rows minus the common row, and each pair's indices in them."""
        if self.items.sparse:
            of_rows, of_columns = self.queries.first[x_rows[row_places]], self.items.first[y_rows[column_places]]
            pairs = self.queries.embeddings.aligned(of_rows, self.items.embeddings, of_columns)
            cut_x, cut_y = self.cut(*([side.astype(np.float64)] for side in pairs))
            return PairBatch(cut_x, cut_y, *np.tile(np.arange(len(of_rows)), (2, 1)))
        center = self.center[0]
        x, y = (
            differences(side.raw(chosen), center.astype(side.embeddings.dtype), self.halved)
            for side, chosen in ((self.queries, x_rows), (self.items, y_rows))
        )
        cut_x, cut_y = self.cut(x, y)
        return PairBatch(cut_x, cut_y, row_places, column_places)

    def digits(self, sums: Sums) -> Digits:
        """The sums as digits, with the same number of digits for all sums."""
        out = np.empty((len(sums), reals.digit_count(self.product_bits)), dtype=np.int64)
        reals.of_sums(sums, self.bits, out)
        return out


def key_batches(exact: ExactRows, rows: IntArray, columns: IntArray) -> Iterator[PairBatch]:
    """The pairs in batches that fit into memory."""
    return exact.batches(rows, columns, reals.digit_count(exact.product_bits))


def as_integers(sums: Sums, bits: int) -> list[int]:
    """The integers from sums of slices.

    >>> as_integers(np.array([[-1, 1], [3, 0]]), 4)
    [15, 3]
    """
    total = np.zeros(len(sums), dtype=object)
    for place in sums.T[::-1]:
        total = (total << bits) + place.astype(object)
    return [int(number) for number in total]
