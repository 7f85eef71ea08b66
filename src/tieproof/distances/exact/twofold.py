"""Numbers as unevaluated sums of two float64, high + low, with about 100 bits: enough to round once with certainty.

The algorithms are those of Dekker 1971 ("A floating-point technique for extending the available precision"). Every
function has a relative error of a few times 2^-104, as long as nothing overflows or underflows.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.reals import DIGIT, Digits
from tieproof.native.calls import Output, native
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from tieproof.distances.exact.rows import Rows

ERROR = 2.0**-96
"""The relative error of a result of up to a hundred operations, each of them relative to the result."""

SPLIT = 2.0**27 + 1


class Twofold(NamedTuple):
    """The numbers high + low, where high is the sum rounded to float64."""

    high: FloatArray
    low: FloatArray

    def __neg__(self) -> "Twofold":
        """Minus the numbers."""
        return Twofold(-self.high, -self.low)

    def at(self, places: IntArray) -> "Twofold":
        """Some of the numbers."""
        return Twofold(self.high[places], self.low[places])

    def plus(self, other: "Twofold") -> "Twofold":
        """The sum; its error is relative to the larger of both."""
        high, low = two_sum(self.high, other.high)
        return normalized(high, low + (self.low + other.low))

    def times(self, other: "Twofold") -> "Twofold":
        """The product."""
        high, low = two_product(self.high, other.high)
        return normalized(high, low + (self.high * other.low + self.low * other.high))

    def over(self, other: "Twofold") -> "Twofold":
        """The quotient; 0 where `other` is 0, which is then exact."""
        nothing = other.high == 0
        divisor = np.where(nothing, 1.0, other.high)
        first = np.where(nothing, 0.0, self.high / divisor)
        rest = self.plus(-other.times(Twofold(first, np.zeros_like(first))))
        return normalized(first, np.where(nothing, 0.0, rest.high / divisor))

    def root(self) -> "Twofold":
        """The square root of numbers that are not negative."""
        root = np.sqrt(self.high)
        square, error = two_product(root, root)
        rest = (self.high - square) - error + self.low
        return normalized(root, np.divide(rest, 2 * root, out=np.zeros_like(root), where=root > 0))

    def scaled(self, exponent: int) -> "Twofold":
        """The numbers times a power of two; where that is not exact, `rounded` is not certain."""
        with np.errstate(over="ignore", under="ignore"):
            return Twofold(np.ldexp(self.high, exponent), np.ldexp(self.low, exponent))

    def rounded(self, error: FloatArray) -> tuple[FloatArray, BoolArray]:
        """The numbers rounded once, given bounds of their absolute errors; and whether that is certain.

        A sum of two floats is rounded once, and rounding is monotone: if both ends of the interval are rounded to
        the same float, so is the number.
        """
        with np.errstate(invalid="ignore"):  # of infinities, which are not certain
            below, above = self.high + (self.low - error), self.high + (self.low + error)
        certain = (below == above) & (np.abs(above) < LARGEST) & ((np.abs(above) > SMALLEST) | (error == 0.0))
        return above + 0.0, certain


LARGEST, SMALLEST = 2.0**1000, 2.0**-900
"""Beyond these magnitudes parts of a twofold number may have been rounded or be infinite."""


def two_sum(a: FloatArray, b: FloatArray) -> Twofold:
    """The exact sum of floats (Knuth)."""
    high = a + b
    part = high - a
    return Twofold(high, (a - (high - part)) + (b - part))


def normalized(high: FloatArray, low: FloatArray) -> Twofold:
    """The exact sum of floats of which the second is smaller."""
    total = high + low
    return Twofold(total, low - (total - high))


def two_product(a: FloatArray, b: FloatArray) -> Twofold:
    """The exact product of floats, by halves of 26 bits whose products are exact (Dekker)."""
    high = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low
    return Twofold(high, low)


def _halves(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two floats of at most 26 bits whose sum is exact."""
    part = SPLIT * a
    high = part - (part - a)
    return high, a - high


def are_proportional(a: Array, b: Array) -> BoolArray:
    """Whether rows are equal up to a positive factor: a_i |b_p| = b_i |a_p| exactly, p the index of the largest."""
    a_mantissa, a_exponent = np.frexp(a.astype(np.float64))
    b_mantissa, b_exponent = np.frexp(b.astype(np.float64))
    place = np.abs(a.astype(np.float64)).argmax(axis=1)[:, None]

    def at_place(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.take_along_axis(array, place, axis=1)

    left = two_product(a_mantissa, np.abs(at_place(b_mantissa)))
    right = two_product(b_mantissa, np.abs(at_place(a_mantissa)))
    shift = (a_exponent + at_place(b_exponent)) - (b_exponent + at_place(a_exponent))
    # Both products are in [1/4, 1) or zero: a shift of more than 4 cannot make them equal.
    shift = np.clip(shift, -4, 4)
    flags: BoolArray = np.logical_and.reduce(
        [np.ldexp(mine, shift) == other for mine, other in zip(left, right, strict=True)]
    ).all(axis=1)
    nonzero: BoolArray = at_place(a)[:, 0] != 0
    return np.asarray(flags & (nonzero == (b != 0).any(axis=1)))


def ones(count: int) -> Twofold:
    """The number 1, so many times."""
    return Twofold(np.ones(count), np.zeros(count))


def of_digits(digits: Digits) -> Twofold:
    """Integers from their digits. As long as the first, signed digit can cancel the others, every step is exact."""
    total = Twofold(np.zeros(len(digits)), np.zeros(len(digits)))
    for digit in digits.T:
        total = total.scaled(DIGIT).plus(Twofold(digit.astype(np.float64), np.zeros(len(digits))))
    return total


@native
def twofold_products(
    x: Array, y: Array, rows: IntArray, columns: IntArray, out: Output[npt.NDArray[np.float64]]
) -> None:
    """out[i] = high and low of x[rows[i]] . y[columns[i]]."""


@native
def twofold_squares(
    x: Array, y: Array, rows: IntArray, columns: IntArray, out: Output[npt.NDArray[np.float64]]
) -> None:
    """out[i] = high and low of |x[rows[i]] - y[columns[i]]|^2."""


PairKernel = Callable[[Array, Array, IntArray, IntArray, npt.NDArray[np.float64]], None]


def of_pairs(kernel: PairKernel, sides: tuple["Rows", "Rows"], rows: IntArray, columns: IntArray) -> Twofold:
    """The numbers of pairs of distinct rows, not divided, by one of the kernels."""
    out = np.empty((len(rows), 2))
    x, y = (side.embeddings for side in sides)
    kernel(x, y, sides[0].first[rows], sides[1].first[columns], out)
    return Twofold(out[:, 0].copy(), out[:, 1].copy())


def are_direct(queries: "Rows", items: "Rows") -> bool:
    """Whether the kernels can read the rows of both sides, and no part of a product overflows or underflows."""
    return queries.direct and items.direct and queries.embeddings.dtype == items.embeddings.dtype


def sum_error(dimensions: int) -> float:
    """The bound of the kernels' errors, relative to the sum of the products' absolute values (README, 12)."""
    return (dimensions + 16) ** 2 * 2.0**-103
