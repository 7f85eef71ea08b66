"""Arrays of integers of any length, as rows of digits whose lexicographic order is the order of the numbers.

Digits are in base 2^30, most significant first; the first digit has a sign, the others are not negative.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

Digits = npt.NDArray[np.int64]

Sums = npt.NDArray[np.int64]
"""(m, p): m exact sums of slices of w bits; each is the sum over the places p of entry * 2^(w p)."""

DIGIT = 30  # the number of bits in a digit: the product of two digits and a carry fit into 63 bits


def digit_count(bits: int) -> int:
    """The number of digits that a number with this many bits needs."""
    return -(-bits // DIGIT)


@native
def of_sums(sums: Sums, bits: int, out: Output[Digits]) -> None:
    """Write to out[i] the digits of the number with the places sums[i] in base 2^bits."""


def rounded_digits(numbers: Digits) -> FloatArray:
    """Numbers (m, k) in float64, with k roundings that are each relative to the number."""
    # Of negative numbers, too: sums are exact as long as the first, signed digit can cancel the others.
    total = np.zeros(len(numbers))
    for digit in numbers.T:
        total = total * 2.0**DIGIT + digit
    return total


def ratios(s: Digits, n: Digits, columns: IntArray, length: int) -> Digits:
    """The digits, `length` of them, of sign(s) floor(s^2 2^k / n) for s[i] and n[columns[i]]; 0 where n is 0.

    k is 30 times the number of digits that a ratio has in addition to those of s; s^2 / n must be shorter than s.
    Schoolbook division (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D).
    """
    out = np.empty((len(s), length), dtype=np.int64)
    divide(s, n, columns, np.empty(3 * s.shape[1] + length + 1, dtype=np.int64), out)
    return out


@native
def divide(s: Digits, n: Digits, columns: IntArray, room: Output[IntArray], out: Output[Digits]) -> None:
    """Write the digits of `ratios`; `room` has 3 times the digits of s, plus the digits of a ratio, plus one."""


Real: TypeAlias = int | Fraction

FIRST_BITS = 128
"""The number of bits with which a root is first bracketed; float64 has 53, so one attempt is usually enough."""


def rounded(number: Real) -> float:
    """The float64 nearest to a rational number, ties to even; infinite if the number overflows.

    >>> rounded(Fraction(1, 10)), rounded(10**400)
    (0.1, inf)
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


Rounding: TypeAlias = Callable[[Real], float]
"""A function that rounds a rational number once: to a float64, as `rounded` does, or to another format."""


def rounded_of_root(
    square: Fraction, function: Callable[[Fraction], Fraction], rounding: Rounding = rounded
) -> float:
    """The float64 nearest to `function` of the square root of `square`; the function is monotone.

    `rounding` may round to another format.

    The root is bracketed more and more narrowly until both ends round to the same float (Ziv 1991). The loop ends,
    because an irrational root is never on the boundary between two floats.

    >>> rounded_of_root(Fraction(2), lambda root: root), rounded_of_root(Fraction(1, 4), lambda root: 1 - root)
    (1.4142135623730951, 0.5)
    """
    numerator, denominator = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        return rounding(function(Fraction(numerator, denominator)))
    # The first bit of the root is at about this place after the binary point.
    bits = FIRST_BITS + max(0, (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    while True:
        below = math.isqrt((square.numerator << 2 * bits) // square.denominator)
        ends = {rounding(function(Fraction(end, 1 << bits))) for end in (below, below + 1)}
        if len(ends) == 1:
            return ends.pop()
        bits *= 2


def least_rounding_to(number: float) -> tuple[Fraction, bool]:
    """The lower boundary of the reals that round to `number` or above, and whether the boundary rounds to it.

    >>> least_rounding_to(1.0)
    (Fraction(18014398509481983, 18014398509481984), True)
    """
    before = math.nextafter(number, -math.inf)
    boundary = (Fraction(before) + Fraction(number)) / 2
    return boundary, rounded(boundary) == number


def root_is_less(first: Fraction, second: Fraction, epsilon: Fraction) -> bool:
    """Whether the signed root of `first` is less than the signed root of `second` plus a positive epsilon.

    Signed squares s(x) = x |x| increase with x, so s(a) < s(b + epsilon) has to be decided. Because
    |s(b + epsilon)| = b^2 + 2 epsilon b + epsilon^2, only 2 epsilon b may be irrational: it is isolated on one side
    and squared again.

    >>> root_is_less(Fraction(2), Fraction(1), Fraction(2, 5)), root_is_less(Fraction(4), Fraction(1), Fraction(1))
    (False, False)
    >>> root_is_less(Fraction(1), Fraction(-1), Fraction(201, 100))
    True
    """
    twice = 4 * epsilon**2 * second  # s(2 epsilon b)
    if second >= -(epsilon**2):
        return _signed_square(first - abs(second) - epsilon**2) < twice
    return twice < _signed_square(-(first + abs(second) + epsilon**2))


def _signed_square(number: Fraction) -> Fraction:
    """The square of a number with the sign of the number."""
    return number * abs(number)
