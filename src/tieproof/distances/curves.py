"""A curve: the distance as an increasing function of one number, computed in float64 with a known error."""

import math
from fractions import Fraction
from typing import NamedTuple

LINEAR, ROOT, SIMILARITY, SIGNED_SQUARE, SINE = range(5)
"""The distance d as a function of the value v.

LINEAR: d = v; ROOT: d = sqrt(v); SIMILARITY: d = 1 + v, where v is minus a cosine; SIGNED_SQUARE: v is minus the
signed square of a cosine; SINE: v is the same plus 1, which is the squared sine up to a right angle.
"""

CURVE_ERROR = 2.0**-49  # relative, of `distance_of` (rounding.h): six operations of at most 2^-53, with a margin


class Curve(NamedTuple):
    """One of the shapes, times factor * first * second; the latter are two powers of two, as one might overflow."""

    shape: int
    factor: float
    first: float
    second: float
    error: float  # relative error of `distance_of`


_LARGEST_EXPONENT = 1023  # the exponent of the largest power of two among float64


def curve(shape: int, scale: Fraction = Fraction(1)) -> Curve:
    """Return a shape times `scale`; it is exact if a line is multiplied by a power of two."""
    exponent = scale.numerator.bit_length() - scale.denominator.bit_length()
    factor = scale / Fraction(2) ** exponent
    is_power = math.frexp(float(factor))[0] == 0.5 and Fraction(float(factor)) == factor
    error = 0.0 if shape == LINEAR and is_power else CURVE_ERROR
    first = min(exponent // 2, _LARGEST_EXPONENT)
    second = min(exponent - first, _LARGEST_EXPONENT)
    return Curve(shape, float(factor * 2 ** (exponent - first - second)), 2.0**first, 2.0**second, error)
