"""Rounding to a format, one number at a time: the reference of rounding.h."""

import math
from fractions import Fraction

from kernels.curves import distance_of
from tieproof.distances.gauge import Curve
from tieproof.engine.rounded import FARTHEST, SLACK
from tieproof.inputs.options import BinaryFormat


def nearness(value: float, error: float, curve: Curve, wanted: BinaryFormat) -> float:
    """Minus the position of the nearest number, if it is the same for all values within the error; otherwise NaN."""
    if error > 0.0:
        error += SLACK * (abs(value) + error)
    low = min(max(distance_of(value - error, curve), -FARTHEST), FARTHEST)
    high = min(max(distance_of(value + error, curve), -FARTHEST), FARTHEST)
    low, high = low - curve.error * abs(low), high + curve.error * abs(high)
    first, last = wanted.rounded(Fraction(low)), wanted.rounded(Fraction(high))
    return -place(first, wanted) if first == last else math.nan


def place(number: float, wanted: BinaryFormat) -> int:
    """The position of a number among all, 0 for zero: each binade and the subnormal range have equally many."""
    mantissa, exponent = math.frexp(abs(number))
    in_binade = 2 ** (wanted.precision - 1)
    binade = exponent - 1 - wanted.smallest_exponent
    if number == 0.0 or binade < 0:
        found = int(abs(number) / wanted.quantum)
    else:
        found = in_binade * (binade + 1) + int((2 * mantissa - 1) * in_binade)
    return -found if number < 0 else found
