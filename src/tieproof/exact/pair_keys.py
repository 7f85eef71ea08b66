"""Exact keys of single pairs of rows, computed from sums of slices, as one Python integer for each pair.

Rows are x = c + a and y = c + b with a common row c, and are multiples of 2^base (README, 7).
"""

from collections.abc import Callable, Iterator

import numpy as np

from tieproof.exact import reals
from tieproof.exact.reals import Sums
from tieproof.exact.slices import Batch, ExactRows
from tieproof.ties import FloatArray, IntArray

SumsOfBatch = Callable[[ExactRows, Batch], Sums]
"""The keys of a batch of pairs, as sums of slices."""

KEY_ERROR = 2.0**-51
"""The relative error, for each digit, of rounding a key to float64: two roundings, and a margin of two more."""


def keys(sums: SumsOfBatch, exact: ExactRows, rows: IntArray, columns: IntArray) -> list[int]:
    """The keys of the pairs (rows[i], columns[i]), computed in batches that fit into memory."""
    return [key for batch in batches(exact, rows, columns) for key in integers(sums(exact, batch), exact.bits)]


def rounded_keys(
    sums: SumsOfBatch, exact: ExactRows, rows: IntArray, columns: IntArray
) -> tuple[FloatArray, FloatArray] | None:
    """The keys in float64, with error bounds; None if they might overflow."""
    if not exact.can_round:
        return None
    found = [reals.rounded_digits(exact.digits(sums(exact, batch))) for batch in batches(exact, rows, columns)]
    values = np.concatenate(found)
    return values, np.abs(values) * (reals.count(exact.product_bits) * KEY_ERROR)


def batches(exact: ExactRows, rows: IntArray, columns: IntArray) -> Iterator[Batch]:
    """The pairs in batches that fit into memory."""
    return exact.batches(rows, columns, reals.count(exact.product_bits))


def integers(sums: Sums, bits: int) -> list[int]:
    """The integers from sums of slices.

    >>> integers(np.array([[-1, 1], [3, 0]]), 4)
    [15, 3]
    """
    total = np.zeros(len(sums), dtype=object)
    for place in sums.T[::-1]:
        total = (total << bits) + place.astype(object)
    return [int(number) for number in total]
