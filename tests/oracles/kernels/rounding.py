"""Rounding to a format, one number at a time: the reference of rounding.h."""

import math
from fractions import Fraction

from kernels.curves import distance_of
from tieproof.distances.curves import Curve
from tieproof.engine.rounded.kernels import FARTHEST, SLACK
from tieproof.inputs.formats import Format


def nearest_between(value: float, error: float, curve: Curve, wanted: Format) -> float:
    """The number nearest to the distance, if all values within the error have the same; else NaN."""
    if error > 0.0:
        error += SLACK * (abs(value) + error)
    low = min(max(distance_of(value - error, curve), -FARTHEST), FARTHEST)
    high = min(max(distance_of(value + error, curve), -FARTHEST), FARTHEST)
    low, high = low - curve.error * abs(low), high + curve.error * abs(high)
    first, last = wanted.rounded(Fraction(low)), wanted.rounded(Fraction(high))
    return first if first == last else math.nan
