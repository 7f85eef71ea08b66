"""Exact rows of both sides: floats cut into short integers whose products and sums are exact in float64.

A float is an integer times a power of two. Cut at fixed places of w bits, x = sum_s x_s 2^(b + w s) with
integers |x_s| < 2^(w + 1); the inner product of two slices is below D 2^(2w + 2) <= 2^53, so that float64 holds it
exactly in any order of summation, and a matrix product of slices is exact. What belongs to one place is added up in
int64 (Ozaki et al. 2012, "Error-free transformations of matrix multiplication", with integers for the last step).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.exact import bounds, digits
from tieproof.exact.digits import Digits, Sums
from tieproof.exact.pairs import distinct, products
from tieproof.exact.rows import Rows
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

FloatMatrix = npt.NDArray[np.float64]

Slices = npt.NDArray[np.float64]
"""(s, m, d): the slices of m rows, lowest place first."""

PlaceSums = npt.NDArray[np.int64]
"""(p, m): the same, one place after the other."""


LARGEST_BATCH = 2**22
"""Numbers that a batch of rows, or of sums of pairs, holds at a time: 32 MiB."""

LARGEST_BITS = 450
"""Squared norms of more bits could overflow float64 once they are squared."""


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
def subtract(rows: Output[FloatMatrix], centre: FloatMatrix, rest: Output[FloatMatrix]) -> bool:
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
def cut_off(rows: Output[FloatMatrix], unit: float, piece: Output[FloatMatrix]) -> None:
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
        """As many as the longest has."""
        return int(max(self.pairs.shape[0], self.of_row.shape[1], self.of_column.shape[1]))

    def sums(self) -> Sums:
        """The exact sums."""
        total = np.empty((len(self.where), self.places), dtype=np.int64)
        add_places(self, total)
        return total

    def rounded(self, bits: int) -> tuple[FloatArray, FloatArray]:
        """The sums in float64, with error bounds; a place has so many bits."""
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
    """Write the sums in float64, and those of the magnitudes of their places: what rounding is relative to."""


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
    x: Slices, y: Slices, rows: IntArray, columns: IntArray, bits: int, sign: Output[FloatArray], total: Output[Sums]
) -> None:
    """Write the sums of `distances`; `sign` is room for one row."""


class Batch(NamedTuple):
    """Pairs (x[:, rows[i]], y[:, columns[i]]) of cut rows, from which a common row was subtracted."""

    x: Slices
    y: Slices
    rows: IntArray
    columns: IntArray

    def summands(self, pairs: tuple[PlaceSums, IntArray], factor: int, of_row: Sums, of_column: Sums) -> Summands:
        """Those of factor a.b + of_row + of_column of each pair; `pairs` are from `dots`."""
        return Summands(factor, *pairs, of_row, self.rows, of_column, self.columns)

    def sums(self, pairs: tuple[PlaceSums, IntArray], factor: int, of_row: Sums, of_column: Sums) -> Sums:
        """The exact sums of `summands`."""
        return self.summands(pairs, factor, of_row, of_column).sums()


class ExactRows:
    """Query rows and items as multiples of 2^base, less a common row of theirs.

    Rows that are close to each other are short integers then: near-duplicates by the thousand need one slice each.
    """

    def __init__(self, queries: Rows, items: Rows) -> None:
        self.queries, self.items = queries, items
        self.bits = width(items.dimensions)
        self.base = min(queries.lowest_exponent, items.lowest_exponent)
        largest = max(queries.highest_exponent, items.highest_exponent)
        entry_bits = largest + 1 - self.base
        self.largest_top = entry_bits // self.bits
        self.places = 2 * self.largest_top + 1
        # Sums of up to four inner products are shorter than this.
        self.product_bits = 2 * entry_bits + items.dimensions.bit_length() + 3
        self.centre = items.raw(np.zeros(1, dtype=np.int64))
        if largest >= 1023 or queries.embeddings.dtype != items.embeddings.dtype:
            self.centre = np.zeros_like(self.centre)
        # Both sides or none: where float64 does not hold an entry, types that differ are refused.
        self.halved = not (queries.exact_in_float64 and items.exact_in_float64)

    @property
    def can_round(self) -> bool:
        """Whether exact squared norms and their squares are finite in float64."""
        return self.product_bits <= LARGEST_BITS

    @property
    def centre_slices(self) -> Slices:
        """The common row, cut when it is asked for: mostly no pair is."""
        return self.cut(parts(self.centre, self.halved))[0]

    def cut(self, *sides: list[FloatMatrix]) -> list[Slices]:
        """Slices of sums of matrices, of all sides up to the same place."""
        top = max(top_place(summands, self.base, self.bits) for summands in sides)
        return [cut(summands, self.base, self.bits, top) for summands in sides]

    def batches(self, rows: IntArray, columns: IntArray, key_length: int) -> Iterator[Batch]:
        """The pairs, as many together as fit into memory, with so many digits each."""
        of_row = (self.largest_top + 1) * self.items.dimensions
        of_pair = 4 * self.places + key_length
        pending = [slice(0, len(rows))]
        while pending:
            span = pending.pop()
            count = span.stop - span.start
            if count * of_pair <= LARGEST_BATCH or count <= 1:
                x, y = distinct(rows[span], len(self.queries)), distinct(columns[span], len(self.items))
                if of_row * (len(x[0]) + len(y[0])) <= LARGEST_BATCH or count <= 1:
                    yield self.batch(*x, *y)
                    continue
            middle = span.start + count // 2
            pending += [slice(middle, span.stop), slice(span.start, middle)]

    def batch(self, x_rows: IntArray, row_places: IntArray, y_rows: IntArray, column_places: IntArray) -> Batch:
        """The cut rows of some pairs, less the common row; the places of each pair's rows among the distinct ones."""
        centre = self.centre[0]
        x, y = (
            differences(side.raw(chosen), centre.astype(side.embeddings.dtype), self.halved)
            for side, chosen in ((self.queries, x_rows), (self.items, y_rows))
        )
        cut_x, cut_y = self.cut(x, y)
        return Batch(cut_x, cut_y, row_places, column_places)

    def digits(self, sums: Sums) -> Digits:
        """Sums as digits, as many for all sums."""
        out = np.empty((len(sums), digits.count(self.product_bits)), dtype=np.int64)
        digits.of_sums(sums, self.bits, out)
        return out
