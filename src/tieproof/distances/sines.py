"""The order of cosines from exact inner products: squared sines in float64, for near-duplicates, and exact ratios.

All rows contain a common row c: x = c + a, y = c + b.
"""

from tieproof.distances.space import FLOAT64
from tieproof.exact import bounds, digits, slices
from tieproof.exact.digits import Digits
from tieproof.exact.slices import Batch, ExactRows
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray

FLOAT64_ROUNDOFF = bounds.UNIT_ROUNDOFF[FLOAT64]


def squared_norms(exact: ExactRows, rows: slices.Slices) -> digits.Sums:
    """|c + b|^2 = |b|^2 + 2 b.c + c.c."""
    centre = exact.centre_slices
    return squares_about(centre, slices.squares(rows), slices.dots_with(rows, centre))


def squares_about(centre: slices.Slices, squared: digits.Sums, with_centre: digits.Sums) -> digits.Sums:
    """Return |c + b|^2 from |b|^2 and b.c."""
    return slices.added(squared, 2 * with_centre, slices.squares(centre))


def ratio_length(exact: ExactRows) -> int:
    """Return the number of digits of a ratio in which distinct ratios differ (README, 7)."""
    return digits.count(exact.product_bits) + digits.count(2 * exact.product_bits + 1)


def ratios(exact: ExactRows, batch: Batch) -> Digits:
    """sign(s) floor(s^2 2^K / n) with s = x.y = a.b + a.c + b.c + c.c and n = |y|^2."""
    a_with_c, b_with_c, c_with_c = (
        slices.dots_with(side, exact.centre_slices) for side in (batch.x, batch.y, exact.centre_slices)
    )
    s = exact.digits(batch.sums(slices.dots(*batch), 1, slices.added(a_with_c, c_with_c), b_with_c))
    n = exact.digits(squared_norms(exact, batch.y))
    return digits.ratios(s, n, batch.columns, ratio_length(exact))


def minus_squared_sines(exact: ExactRows, batch: Batch) -> tuple[FloatArray, FloatArray]:
    """Return minus the squared sine of the angle between x and y (if obtuse, the squared sine minus 2), and errors.

    Minus the squared sine is (F^2 / X - E) / n with E = |y - x|^2 = |a|^2 + |b|^2 - 2 a.b, F = x.(y - x) = a.b + b.c
    - a.c - |a|^2, X = |x|^2 and n = |y|^2, each exact before it is rounded (README, 8).
    """
    a_squared, b_squared = slices.squares(batch.x), slices.squares(batch.y)
    centre = exact.centre_slices
    a_with_c, b_with_c = (slices.dots_with(side, centre) for side in (batch.x, batch.y))
    pairs = slices.dots(*batch)
    e, e_error = batch.summands(pairs, -2, a_squared, b_squared).rounded(exact.bits)
    f, f_error = batch.summands(pairs, 1, -slices.added(a_with_c, a_squared), b_with_c).rounded(exact.bits)
    x_square, y_square = (
        digits.rounded(exact.digits(squares_about(centre, squared, with_centre)))
        for squared, with_centre in ((a_squared, a_with_c), (b_squared, b_with_c))
    )
    relative = 32 * digits.count(exact.product_bits) * FLOAT64_ROUNDOFF
    combine(e, e_error, f, f_error, x_square[batch.rows], y_square[batch.columns], relative)
    return e, e_error


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
