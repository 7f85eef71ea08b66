"""Real numbers and their nearest float64: rounding and comparing roots, and the reals that round to a given float."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

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
        return signed_square(first - abs(second) - epsilon**2) < twice
    return twice < signed_square(-(first + abs(second) + epsilon**2))


def signed_square(number: Fraction) -> Fraction:
    """The square of a number with the sign of the number."""
    return number * abs(number)
