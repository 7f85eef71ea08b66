"""From values to distances: increasing functions of one number, computed in float64 to a known error."""

import math
from fractions import Fraction
from typing import NamedTuple

LINEAR, ROOT, SIMILARITY, SIGNED_SQUARE, SINE = range(5)
"""A distance d by the value v.

LINEAR: d = v; ROOT: d = sqrt(v); SIMILARITY: d = 1 + v, v being minus a cosine; SIGNED_SQUARE: v is minus the square
of a cosine, with its sign kept; SINE: the same plus 1, which is the squared sine up to a right angle.
"""

CURVE_ERROR = 2.0**-49
"""Relative error of `distance_of` (curves.h): six operations of at most 2^-53 each, and some room."""


class Curve(NamedTuple):
    """One of the shapes, times factor first second: two powers of two, as one might overflow."""

    shape: int
    factor: float
    first: float
    second: float
    error: float  # relative, of what `distance_of` computes


def curve(shape: int, scale: Fraction = Fraction(1)) -> Curve:
    """A shape, times `scale`; exact where nothing but a power of two is multiplied."""
    exponent = scale.numerator.bit_length() - scale.denominator.bit_length()
    factor = scale / Fraction(2) ** exponent
    is_power = math.frexp(float(factor))[0] == 0.5 and Fraction(float(factor)) == factor
    error = 0.0 if shape == LINEAR and is_power else CURVE_ERROR
    half = exponent // 2
    return Curve(shape, float(factor), 2.0**half, 2.0 ** (exponent - half), error)
