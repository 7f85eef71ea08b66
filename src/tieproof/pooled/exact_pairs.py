"""Exact keys of single pairs of rows, by the slices of `tieproof.exact`: one Python number each.

There rows are x = c + a and y = c + b with a row c that all have in common, as multiples of 2^base
(exact/README.md, 7). Keys are in units of 2^(2 base), those of city-block in units of 2^base.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.exact import digits, sines, slices
from tieproof.exact.exact_rows import Batch, ExactRows
from tieproof.exact.rows import IntArray
from tieproof.exact.slices import Sums

KeysOfBatch = Callable[[ExactRows, Batch], list[Any]]


def keys(of_batch: KeysOfBatch, exact: ExactRows, rows: IntArray, columns: IntArray) -> list[Any]:
    """One of the keys below for each pair (rows[i], columns[i]), as many at a time as fit into memory."""
    batches = exact.batches(rows, columns, digits.count(exact.product_bits))
    return [key for batch in batches for key in of_batch(exact, batch)]


def minus_products(exact: ExactRows, batch: Batch) -> list[int]:
    """- x.y, which is - (a.b + a.c + b.c + c.c)."""
    a_with_c, b_with_c, c_with_c = (
        slices.dots_with(side, exact.centre_slices) for side in (batch.x, batch.y, exact.centre_slices)
    )
    of_row = -slices.added(a_with_c, c_with_c)
    return integers(batch.sums(slices.dots(*batch), -1, of_row, -b_with_c), exact.bits)


def minus_squared_cosines(exact: ExactRows, batch: Batch) -> list[Fraction]:
    """- s |s| / (|x|^2 |y|^2) with s = x.y; 0 for a zero vector."""
    x_square, y_square = (integers(sines.squared_norms(exact, side), exact.bits) for side in (batch.x, batch.y))
    of_pairs = zip(minus_products(exact, batch), batch.rows.tolist(), batch.columns.tolist(), strict=True)
    return [Fraction(s * abs(s), (x_square[row] * y_square[column]) or 1) for s, row, column in of_pairs]


def squared_distances(exact: ExactRows, batch: Batch) -> list[int]:
    """|x - y|^2 = |a|^2 + |b|^2 - 2 a.b."""
    sums = batch.sums(slices.dots(*batch), -2, slices.squares(batch.x), slices.squares(batch.y))
    return integers(sums, exact.bits)


def city_blocks(exact: ExactRows, batch: Batch) -> list[int]:
    """The sum of |x - y|."""
    return integers(slices.distances(*batch, exact.bits), exact.bits)


def integers(sums: Sums, bits: int) -> list[int]:
    """The integers that sums of slices stand for.

    >>> integers(np.array([[-1, 1], [3, 0]]), 4)
    [15, 3]
    """
    total = np.zeros(len(sums), dtype=object)
    for place in sums.T[::-1]:
        total = (total << bits) + place.astype(object)
    return [int(number) for number in total]
