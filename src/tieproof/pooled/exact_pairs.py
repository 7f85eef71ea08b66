"""Exact keys of single pairs of rows, by the slices of `tieproof.exact`: one Python number each.

There rows are x = c + a and y = c + b with a row c that all have in common, as multiples of 2^base
(exact/README.md, 7). Keys are in units of 2^(2 base), those of city-block in units of 2^base.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from tieproof.distances import sines
from tieproof.exact import digits, slices
from tieproof.exact.exact_rows import Batch, ExactRows
from tieproof.exact.rows import FloatArray, IntArray
from tieproof.exact.slices import Sums

SumsOfBatch = Callable[[ExactRows, Batch], Sums]
"""One of the functions below: the keys of a batch of pairs, as sums of slices."""

KEY_ERROR = 2.0**-51
"""Relative error of rounding a key to float64, for each of its digits: two roundings, and room for two more."""


def keys(sums: SumsOfBatch, exact: ExactRows, rows: IntArray, columns: IntArray) -> list[int]:
    """The keys of the pairs (rows[i], columns[i]), as many at a time as fit into memory."""
    return [key for batch in batches(exact, rows, columns) for key in integers(sums(exact, batch), exact.bits)]


def rounded_keys(
    sums: SumsOfBatch, exact: ExactRows, rows: IntArray, columns: IntArray
) -> tuple[FloatArray, FloatArray] | None:
    """The keys in float64, with error bounds; None where they might be too large for it."""
    if not sines.can_round(exact):
        return None
    found = [digits.rounded(exact.digits(sums(exact, batch))) for batch in batches(exact, rows, columns)]
    values = np.concatenate(found)
    return values, np.abs(values) * (digits.count(exact.product_bits) * KEY_ERROR)


def batches(exact: ExactRows, rows: IntArray, columns: IntArray) -> Iterator[Batch]:
    """The pairs, as many at a time as fit into memory."""
    return exact.batches(rows, columns, digits.count(exact.product_bits))


def minus_products(exact: ExactRows, batch: Batch) -> Sums:
    """- x.y, which is - (a.b + a.c + b.c + c.c)."""
    a_with_c, b_with_c, c_with_c = (
        slices.dots_with(side, exact.centre_slices) for side in (batch.x, batch.y, exact.centre_slices)
    )
    of_row = -slices.added(a_with_c, c_with_c)
    return batch.sums(slices.dots(*batch), -1, of_row, -b_with_c)


def squared_distances(exact: ExactRows, batch: Batch) -> Sums:
    """|x - y|^2 = |a|^2 + |b|^2 - 2 a.b."""
    return batch.sums(slices.dots(*batch), -2, slices.squares(batch.x), slices.squares(batch.y))


def city_blocks(exact: ExactRows, batch: Batch) -> Sums:
    """The exact sum of |x - y| of each pair of a batch."""
    return slices.distances(*batch, exact.bits)


def minus_squared_cosines(exact: ExactRows, rows: IntArray, columns: IntArray) -> list[Fraction]:
    """- s |s| / (|x|^2 |y|^2) with s = x.y of each pair; 0 for a zero vector."""
    found = []
    for batch in batches(exact, rows, columns):
        x_square, y_square = (integers(sines.squared_norms(exact, side), exact.bits) for side in (batch.x, batch.y))
        products = integers(minus_products(exact, batch), exact.bits)
        of_pairs = zip(products, batch.rows.tolist(), batch.columns.tolist(), strict=True)
        found += [Fraction(s * abs(s), (x_square[row] * y_square[column]) or 1) for s, row, column in of_pairs]
    return found


def integers(sums: Sums, bits: int) -> list[int]:
    """The integers that sums of slices stand for.

    >>> integers(np.array([[-1, 1], [3, 0]]), 4)
    [15, 3]
    """
    total = np.zeros(len(sums), dtype=object)
    for place in sums.T[::-1]:
        total = (total << bits) + place.astype(object)
    return [int(number) for number in total]
