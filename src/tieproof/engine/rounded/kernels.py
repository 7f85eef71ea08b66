"""Numbers of a format from float64 values that are off by a known error; NaN where the error leaves it open."""

from typing import NamedTuple

import numpy as np

from tieproof.distances.curves import Curve, distance_of
from tieproof.inputs.formats import Format
from tieproof.native.compiled import kernel
from tieproof.ties import FloatArray

SLACK = 2.0**-50
"""Relative error of adding an error to a value, and of the error itself."""

FAR = 2.0**1000
"""Beyond every format; farther distances are taken for this, so that none is infinite."""


class Target(NamedTuple):
    """A format as the kernels read it."""

    shift: int  # bits that float64 has more
    smallest: float  # normal number
    magic: float  # 2^52 times the smallest subnormal number: what is added to it is rounded to multiples of that
    infinity: float


def target_of(wanted: Format) -> Target:
    """A format for the kernels."""
    return Target(53 - wanted.precision, 2.0**wanted.smallest_exponent, 2.0**52 * wanted.quantum, wanted.infinity)


@kernel
def nearest(number: float, target: Target) -> float:
    """The nearest number of the format, ties to even (`Format.infinity` stands for infinity)."""
    magnitude = abs(number)
    if magnitude >= target.infinity:
        magnitude = target.infinity
    elif magnitude < target.smallest:
        magnitude = (magnitude + target.magic) - target.magic
    else:
        # Just below half a unit more, and just half of one where the last bit kept is odd; then cut.
        bits = np.float64(magnitude).view(np.int64)
        bits += (1 << (target.shift - 1)) - 1 + ((bits >> target.shift) & 1)
        magnitude = np.int64((bits >> target.shift) << target.shift).view(np.float64)
    return magnitude if number > 0.0 else 0.0 - magnitude


@kernel
def nearest_between(value: float, error: float, curve: Curve, target: Target) -> float:
    """The number nearest to the distance, if all values within the error have the same."""
    if error > 0.0:
        error += SLACK * (abs(value) + error)
    low = min(max(distance_of(value - error, curve), -FAR), FAR)
    high = min(max(distance_of(value + error, curve), -FAR), FAR)
    low, high = nearest(low - curve.error * abs(low), target), nearest(high + curve.error * abs(high), target)
    return low if low == high else np.nan


@kernel
def round_block(
    values: FloatArray, absolute: float, relative: float, curve: Curve, target: Target, out: FloatArray
) -> int:
    """Round a matrix of values, each off by absolute + relative |value|; return how many are open."""
    is_open = 0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = values[i, j]
            out[i, j] = nearest_between(value, absolute + relative * abs(value), curve, target)
            is_open += out[i, j] != out[i, j]
    return is_open


@kernel
def round_pairs(values: FloatArray, errors: FloatArray, curve: Curve, target: Target, out: FloatArray) -> None:
    """Round values that each have an error of their own."""
    for i in range(values.shape[0]):
        out[i] = nearest_between(values[i], errors[i], curve, target)
