"""The rows of both sides as exact integers, cut into slices a batch at a time."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tieproof.exact import bounds, digits, slices
from tieproof.exact.digits import Digits
from tieproof.exact.pairs import distinct
from tieproof.exact.rows import Rows
from tieproof.exact.slices import PlaceSums, Slices, Sums
from tieproof.ties import FloatArray, IntArray

LARGEST_BATCH = 2**22
"""Numbers that a batch of rows, or of sums of pairs, holds at a time: 32 MiB."""

LARGEST_BITS = 450
"""Squared norms of more bits could overflow float64 once they are squared."""


class Batch(NamedTuple):
    """Pairs (x[:, rows[i]], y[:, columns[i]]) of cut rows, from which a common row was subtracted."""

    x: Slices
    y: Slices
    rows: IntArray
    columns: IntArray

    def sums(self, pairs: tuple[PlaceSums, IntArray], factor: int, of_row: Sums, of_column: Sums) -> Sums:
        """Sums factor a.b + of_row + of_column of each pair; `pairs` are from `slices.dots`."""
        return slices.sums_of_pairs(factor, *pairs, of_row, self.rows, of_column, self.columns)


class ExactRows:
    """Query rows and items as multiples of 2^base, less a common row of theirs.

    Rows that are close to each other are short integers then: near-duplicates by the thousand need one slice each.
    """

    def __init__(self, queries: Rows, items: Rows) -> None:
        self.queries, self.items = queries, items
        self.bits = slices.width(items.dimensions)
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
        self.centre_slices = self.cut(slices.parts(self.centre, self.halved))[0]

    @property
    def can_round(self) -> bool:
        """Whether exact squared norms and their squares are finite in float64."""
        return self.product_bits <= LARGEST_BITS

    def cut(self, *sides: list[slices.FloatMatrix]) -> list[Slices]:
        """Slices of sums of matrices, of all sides up to the same place."""
        top = max(slices.top_place(summands, self.base, self.bits) for summands in sides)
        return [slices.cut(summands, self.base, self.bits, top) for summands in sides]

    def batches(self, rows: IntArray, columns: IntArray, key_length: int) -> Iterator[Batch]:
        """The pairs, as many together as fit into memory, with so many digits each."""
        of_row = (self.largest_top + 1) * self.items.dimensions
        of_pair = 4 * self.places + key_length
        pending = [slice(0, len(rows))]
        while pending:
            span = pending.pop()
            count = span.stop - span.start
            fits = count * of_pair <= LARGEST_BATCH and (
                2 * count * of_row <= LARGEST_BATCH
                or of_row * (present(rows[span], self.queries) + present(columns[span], self.items)) <= LARGEST_BATCH
            )
            if fits or count <= 1:
                yield self.batch(rows[span], columns[span])
            else:
                middle = span.start + count // 2
                pending += [slice(middle, span.stop), slice(span.start, middle)]

    def batch(self, rows: IntArray, columns: IntArray) -> Batch:
        """The cut rows of some pairs, less the common row."""
        x_rows, row_places = distinct(rows, len(self.queries))
        y_rows, column_places = distinct(columns, len(self.items))
        centre = self.centre[0]
        x, y = (
            slices.differences(side.raw(chosen), centre.astype(side.embeddings.dtype), self.halved)
            for side, chosen in ((self.queries, x_rows), (self.items, y_rows))
        )
        cut_x, cut_y = self.cut(x, y)
        return Batch(cut_x, cut_y, row_places, column_places)

    def digits(self, sums: Sums) -> Digits:
        """Sums as digits, as many for all sums."""
        out = np.empty((len(sums), digits.count(self.product_bits)), dtype=np.int64)
        digits.of_sums(sums, self.bits, out)
        return out

    def rounded(self, sums: Sums) -> tuple[FloatArray, FloatArray]:
        """Sums in float64, with error bounds."""
        value, size = np.empty(len(sums)), np.empty(len(sums))
        digits.rounded_sums(sums, self.bits, value, size)
        return value, size * bounds.gamma(sums.shape[1] + 2, bounds.UNIT_ROUNDOFF[np.dtype(np.float64)])


def present(values: IntArray, rows: Rows) -> int:
    """How many distinct rows there are among `values`."""
    return len(distinct(values, len(rows))[0])
