"""Arithmetic with twice the digits of float64, using only + - * / and sqrt: the same bits on every machine.

A `Pair` holds a number as the unevaluated sum hi + lo of two float64 (about 32 significant digits). The
operations are those of Dekker 1971 and Knuth (TAOCP 2, 4.2.2), as collected in Hida, Li and Bailey 2001,
"Algorithms for quad-double precision floating point arithmetic". NumPy's element-wise + - * / are IEEE
operations; its sums, powers and logarithms are not the same everywhere, so none is used here.

Every function has a relative error of a few times 2^-104, as long as nothing overflows or underflows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.reals import DIGIT, Digits
from tieproof.inputs.sparse_rows import Meeting, Terms
from tieproof.native.calls import Output, native
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from tieproof.distances.exact.rows import Rows

Number: TypeAlias = FloatArray | IntArray | float
"""The types that can be combined with a `Pair`; integers below 2^53 are exact."""

SPLITTER = 134217729.0  # 2^27 + 1


def two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a + b rounded and its rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def normalized(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a + b rounded and its rounding error, for |a| >= |b| (Dekker)."""
    total = a + b
    return total, b - (total - a)


def two_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a * b rounded and its rounding error (Dekker; no fused multiply-add)."""
    product = a * b
    t = SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The numbers hi + lo, element by element; |lo| is at most half a unit in the last place of hi.

    >>> third = Pair.of(1.0) / 3.0
    >>> float(third.hi), float((third * 3.0 - 1.0).hi)
    (0.3333333333333333, 0.0)
    """

    hi: FloatArray
    lo: FloatArray

    __array_ufunc__ = None  # an array on the left leaves the operation to the pair on the right

    @classmethod
    def of(cls, number: Number) -> Pair:
        """Return `number` as a pair; integers of any size are exact."""
        hi = np.asarray(number, dtype=np.float64)
        if isinstance(number, np.ndarray) and number.dtype.kind == "i":
            return cls(hi, (number - hi.astype(np.int64)).astype(np.float64))
        return cls(hi, np.zeros_like(hi))

    def __getitem__(self, index: IntArray | slice | int) -> Pair:
        return Pair(self.hi[index], self.lo[index])

    def __neg__(self) -> Pair:
        return Pair(-self.hi, -self.lo)

    def __add__(self, other: Pair | Number) -> Pair:
        if not isinstance(other, Pair):
            high, low = two_sum(self.hi, np.asarray(other, dtype=np.float64))
            return Pair(*normalized(high, low + self.lo))
        high, low = two_sum(self.hi, other.hi)
        low_high, low_low = two_sum(self.lo, other.lo)
        high, low = normalized(high, low + low_high)
        return Pair(*normalized(high, low + low_low))

    __radd__ = __add__

    def __sub__(self, other: Pair | Number) -> Pair:
        return self + (-other)

    def __rsub__(self, other: Number) -> Pair:
        return -self + other

    def __mul__(self, other: Pair | Number) -> Pair:
        if not isinstance(other, Pair):
            factor = np.asarray(other, dtype=np.float64)
            high, low = two_product(self.hi, factor)
            return Pair(*normalized(high, low + self.lo * factor))
        high, low = two_product(self.hi, other.hi)
        return Pair(*normalized(high, low + (self.hi * other.lo + self.lo * other.hi)))

    __rmul__ = __mul__

    def __truediv__(self, other: Pair | Number) -> Pair:
        divisor = other if isinstance(other, Pair) else Pair.of(other)
        first = self.hi / divisor.hi
        rest = self - divisor * first
        second = rest.hi / divisor.hi
        rest = rest - divisor * second
        return Pair(*normalized(first, second)) + rest.hi / divisor.hi

    def __rtruediv__(self, other: Number) -> Pair:
        return Pair.of(other) / self


ERROR = 2.0**-96  # the relative error of a result of up to a hundred operations, each of them relative to the result

LARGEST, SMALLEST = 2.0**1000, 2.0**-900
"""Beyond these magnitudes parts of a twofold number may have been rounded or be infinite."""


def over(number: Pair, divisor: Pair) -> Pair:
    """The quotient, in fewer steps than by the operator; 0 where the divisor is 0, which is then exact."""
    nothing = divisor.hi == 0
    safe = np.where(nothing, 1.0, divisor.hi)
    first = np.where(nothing, 0.0, number.hi / safe)
    rest = number - divisor * first
    return Pair(*normalized(first, np.where(nothing, 0.0, rest.hi / safe)))


def root(number: Pair) -> Pair:
    """The square root of numbers that are not negative."""
    near = np.sqrt(number.hi)
    square, error = two_product(near, near)
    rest = (number.hi - square) - error + number.lo
    return Pair(*normalized(near, np.divide(rest, 2 * near, out=np.zeros_like(near), where=near > 0)))


def scaled(number: Pair, exponent: int) -> tuple[Pair, FloatArray]:
    """The numbers times a power of two, and bounds of their errors: 0 only of 0, so others may become subnormal."""
    with np.errstate(over="ignore", under="ignore"):
        hi, lo = np.ldexp((number.hi, number.lo), exponent)
        return Pair(hi, lo), np.maximum(ERROR * np.abs(hi), 5e-324 * (number.hi != 0))


def rounded_once(number: Pair, error: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The numbers rounded once, given bounds of their absolute errors; and whether that is certain.

    A sum of two floats is rounded once, and rounding is monotone: if both ends of the interval are rounded to the
    same float, so is the number.
    """
    with np.errstate(invalid="ignore"):  # of infinities, which are not certain
        below, above = number.hi + (number.lo - error), number.hi + (number.lo + error)
    certain = (below == above) & (np.abs(above) < LARGEST) & ((np.abs(above) > SMALLEST) | (error == 0.0))
    return above + 0.0, certain


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


def of_digits(digits: Digits) -> Pair:
    """Integers from their digits. As long as the first, signed digit can cancel the others, every step is exact."""
    total = Pair.of(np.zeros(len(digits)))
    for digit in digits.T:
        total = Pair(*np.ldexp((total.hi, total.lo), DIGIT)) + digit
    return total


@native
def twofold_products(
    x: Array, y: Array, rows: IntArray, columns: IntArray, out: Output[npt.NDArray[np.float64]]
) -> None:
    """out[i] = high and low of x[rows[i]] . y[columns[i]]."""


@native
def twofold_products_of_terms(
    x: Terms, y: Terms, rows: IntArray, items: IntArray, at: Output[Meeting], out: Output[npt.NDArray[np.float64]]
) -> None:
    """The same for sparse rows."""


@native
def twofold_squares(
    x: Array, y: Array, rows: IntArray, columns: IntArray, out: Output[npt.NDArray[np.float64]]
) -> None:
    """out[i] = high and low of |x[rows[i]] - y[columns[i]]|^2."""


PairKernel = Callable[[Array, Array, IntArray, IntArray, npt.NDArray[np.float64]], None]


ALIGNED = 2**18  # about how many entries of sparse rows are aligned at a time


def of_pairs(kernel: PairKernel, sides: tuple[Rows, Rows], rows: IntArray, columns: IntArray) -> Pair:
    """The numbers of pairs of distinct rows, not divided, by one of the kernels."""
    out = np.empty((len(rows), 2))
    x, y = (side.embeddings for side in sides)
    places = sides[0].first[rows], sides[1].first[columns]
    if not sides[0].sparse:
        kernel(x, y, *places, out)
    elif kernel is twofold_products:
        twofold_products_of_terms(x.entries, y.entries, *places, x.meeting(y), out)
    else:
        for start in range(0, len(rows), size := max(1, ALIGNED // sides[1].dimensions)):
            of_rows, of_columns = (side[start : start + size] for side in places)
            pair, (a, b) = np.arange(len(of_rows)), x.aligned(of_rows, y, of_columns)
            kernel(a, b, pair, pair, out[start : start + size])
    return Pair(out[:, 0].copy(), out[:, 1].copy())


def are_direct(queries: Rows, items: Rows) -> bool:
    """Whether the kernels can read the rows of both sides, and no part of a product overflows or underflows."""
    return queries.direct and items.direct and queries.embeddings.dtype == items.embeddings.dtype


def sum_error(dimensions: int) -> float:
    """The bound of the kernels' errors, relative to the sum of the summands' absolute values (README, 12)."""
    return (dimensions + 16) ** 2 * 2.0**-103
