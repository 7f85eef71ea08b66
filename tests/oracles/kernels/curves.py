"""Convert values to distances, one by one: the reference of `distance_of` in rounding.h."""

import math

from tieproof.distances.gauge import ROOT, SIGNED_SQUARE, SIMILARITY, SINE, Curve


def distance_of(value: float, curve: Curve) -> float:
    """The distance for a value; values outside the range of a shape give the distance at its end."""
    if curve.shape == SIMILARITY:
        return max(1.0 + value, 0.0)
    if curve.shape == SIGNED_SQUARE:
        return 1.0 + math.sqrt(value) if value > 0.0 else max(1.0 + value, 0.0) / (1.0 + math.sqrt(-value))
    if curve.shape == SINE:
        square = max(value, 0.0)
        return square / (1.0 + math.sqrt(1.0 - square)) if square < 1.0 else 1.0 + math.sqrt(square - 1.0)
    if curve.shape == ROOT:
        value = math.sqrt(max(value, 0.0))
    return value * curve.factor * curve.first * curve.second
