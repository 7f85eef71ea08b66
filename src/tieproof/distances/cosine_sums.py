"""The order of cosines from exact inner products: squared sines in float64, for near-duplicates, and exact ratios.

All rows contain a common row c: x = c + a, y = c + b.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tieproof.distances.dot import minus_products
from tieproof.distances.exact import bounds, reals, slices
from tieproof.distances.exact.bounds import Intervals
from tieproof.distances.exact.reals import Digits
from tieproof.distances.exact.slices import ExactRows, PairBatch
from tieproof.distances.exact.twofold import ERROR, Pair, of_digits, over
from tieproof.distances.space import FLOAT64
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

FLOAT64_ROUNDOFF = bounds.UNIT_ROUNDOFF[FLOAT64]


def squared_norms(exact: ExactRows, rows: slices.Slices) -> reals.Sums:
    """|c + b|^2 = |b|^2 + 2 b.c + c.c."""
    center = exact.center_slices
    return _squares_about(center, slices.squares(rows), slices.dots_with(rows, center))


def _squares_about(center: slices.Slices, squared: reals.Sums, with_center: reals.Sums) -> reals.Sums:
    """Return |c + b|^2 from |b|^2 and b.c."""
    return slices.added(squared, 2 * with_center, slices.squares(center))


def ratio_length(exact: ExactRows) -> int:
    """Return the number of digits of a ratio in which distinct ratios differ (README, 7)."""
    return reals.digit_count(exact.product_bits) + reals.digit_count(2 * exact.product_bits + 1)


def ratios(exact: ExactRows, batch: PairBatch) -> Digits:
    """sign(s) floor(s^2 2^K / n) with s = x.y = a.b + a.c + b.c + c.c and n = |y|^2."""
    a_with_c, b_with_c, c_with_c = (
        slices.dots_with(side, exact.center_slices) for side in (batch.x, batch.y, exact.center_slices)
    )
    s = exact.digits(batch.sums(slices.dots(*batch), 1, slices.added(a_with_c, c_with_c), b_with_c))
    n = exact.digits(squared_norms(exact, batch.y))
    return reals.ratios(s, n, batch.columns, ratio_length(exact))


class _SineSums(NamedTuple):
    """The sums of a squared sine (F^2 / X - E) / n: E and F of pairs, X of rows and n of columns (README, 8).

    E = |y - x|^2 = |a|^2 + |b|^2 - 2 a.b, F = x.(y - x) = a.b + b.c - a.c - |a|^2, X = |x|^2 and n = |y|^2.
    """

    e: slices.Summands
    f: slices.Summands
    x_square: Digits
    y_square: Digits

    @classmethod
    def of(cls, exact: ExactRows, batch: PairBatch) -> "_SineSums":
        """The sums of the pairs of a batch."""
        a_squared, b_squared = slices.squares(batch.x), slices.squares(batch.y)
        center = exact.center_slices
        a_with_c, b_with_c = (slices.dots_with(side, center) for side in (batch.x, batch.y))
        pairs = slices.dots(*batch)
        x_square, y_square = (
            exact.digits(_squares_about(center, squared, with_center))
            for squared, with_center in ((a_squared, a_with_c), (b_squared, b_with_c))
        )
        e = batch.summands(pairs, -2, a_squared, b_squared)
        f = batch.summands(pairs, 1, -slices.added(a_with_c, a_squared), b_with_c)
        return cls(e, f, x_square, y_square)


def minus_squared_sines(exact: ExactRows, batch: PairBatch) -> Intervals:
    """Minus the squared sine of the angle between x and y (if obtuse, the squared sine minus 2), and its errors."""
    sums = _SineSums.of(exact, batch)
    e, e_error = sums.e.rounded(exact.bits)
    f, f_error = sums.f.rounded(exact.bits)
    x_square, y_square = (reals.rounded_digits(square) for square in (sums.x_square, sums.y_square))
    relative = 32 * reals.digit_count(exact.product_bits) * FLOAT64_ROUNDOFF
    combine(e, e_error, f, f_error, x_square[batch.rows], y_square[batch.columns], relative)
    return e, e_error


def by_sines(exact: ExactRows, batch: PairBatch, minus_cosine: Pair) -> tuple[Pair, FloatArray]:
    """The distances of pairs at acute angles, as the squared sine divided by 1 plus the cosine, with error bounds."""
    sums = _SineSums.of(exact, batch)
    e, f = (of_digits(exact.digits(each.sums())) for each in (sums.e, sums.f))
    x, y = of_digits(sums.x_square)[batch.rows], of_digits(sums.y_square)[batch.columns]
    lost = over(f * f, x)
    divisor = y * (1.0 - minus_cosine)
    distance = over(e - lost, divisor)
    nothing = np.zeros(len(batch.rows))
    size = np.divide(e.hi + lost.hi, divisor.hi, out=nothing, where=divisor.hi > 0)
    return distance, ERROR * (size + np.abs(distance.hi))


@native
def combine(
    e: Output[FloatArray],
    e_error: Output[FloatArray],
    f: FloatArray,
    f_error: FloatArray,
    x_square: FloatArray,
    y_square: FloatArray,
    relative: float,
) -> None:
    """Replace e by the key and e_error by its error, which is infinite if the sign of x.y is uncertain."""


def minus_squared_cosines(exact: ExactRows, rows: IntArray, columns: IntArray) -> list[Fraction]:
    """- s |s| / (|x|^2 |y|^2) with s = x.y of each pair; 0 for a zero vector."""
    fractions = []
    for batch in slices.key_batches(exact, rows, columns):
        sums = (squared_norms(exact, batch.x), squared_norms(exact, batch.y), minus_products(exact, batch))
        x_square, y_square, products = (slices.as_integers(each, exact.bits) for each in sums)
        of_pairs = zip(products, batch.rows.tolist(), batch.columns.tolist(), strict=True)
        fractions += [Fraction(s * abs(s), (x_square[row] * y_square[column]) or 1) for s, row, column in of_pairs]
    return fractions
