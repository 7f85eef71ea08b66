"""Real numbers and the float64 nearest to them: roots rounded once, and which reals round to at least a float."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

Real: TypeAlias = int | Fraction

FIRST_BITS = 128
"""Bits to bracket a root with at first; float64 has 53, so that one attempt mostly does."""


def rounded(number: Real) -> float:
    """The float64 nearest to a rational number, ties to even; infinite beyond the largest.

    >>> rounded(Fraction(1, 10)), rounded(10**400)
    (0.1, inf)
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


Rounding: TypeAlias = Callable[[Real], float]
"""Rounds a rational number once: to a float64, as `rounded`, or to a number of another format."""


def rounded_of_root(
    square: Fraction, function: Callable[[Fraction], Fraction], rounding: Rounding = rounded
) -> float:
    """The float64 nearest to `function` of the square root of `square`; the function is monotone.

    `rounding` may round to other numbers.

    The root is bracketed more and more narrowly until both ends round alike (Ziv 1991). That comes to an end: a root
    that is not rational is no boundary between floats.

    >>> rounded_of_root(Fraction(2), lambda root: root), rounded_of_root(Fraction(1, 4), lambda root: 1 - root)
    (1.4142135623730951, 0.5)
    """
    numerator, denominator = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        return rounding(function(Fraction(numerator, denominator)))
    # The first bit of the root has about this place below the point.
    bits = FIRST_BITS + max(0, (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    while True:
        below = math.isqrt((square.numerator << 2 * bits) // square.denominator)
        ends = {rounding(function(Fraction(end, 1 << bits))) for end in (below, below + 1)}
        if len(ends) == 1:
            return ends.pop()
        bits *= 2


def least_rounding_to(number: float) -> tuple[Fraction, bool]:
    """The boundary of the reals that round to `number` or above, and whether it is one of them.

    >>> least_rounding_to(1.0)
    (Fraction(18014398509481983, 18014398509481984), True)
    """
    before = math.nextafter(number, -math.inf)
    boundary = (Fraction(before) + Fraction(number)) / 2
    return boundary, rounded(boundary) == number
