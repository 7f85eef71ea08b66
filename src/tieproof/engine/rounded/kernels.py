"""Round float64 values with known errors to numbers of a format, which are represented by their places.

The place of a number is its index among all numbers of the format: 0 for zero, 1 for the smallest positive number,
and so on to infinity; places of negative numbers are negative. Kernels write minus the place, which is the nearness,
and NaN if the error allows more than one place.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.curves import LINEAR, Curve, curve
from tieproof.inputs.formats import Format
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray

SLACK = 2.0**-50
"""The relative error of adding an error to a value, and of the error itself."""

FARTHEST = 2.0**1000
"""Larger than every number of a format; farther distances are replaced by this, so that none is infinite."""


class Target(NamedTuple):
    """A format as the kernels read it."""

    shift: int  # the number of bits that float64 has in addition
    offset: int  # the difference between the bits of a normal number, without the additional ones, and its place
    infinity: int  # the place of infinity
    smallest: float  # the smallest normal number
    magic: float  # 2^52 times the smallest subnormal number: adding to it rounds to multiples of that number


def target_of(wanted: Format) -> Target:
    """A format for the kernels."""
    shift, smallest = 53 - wanted.precision, 2.0**wanted.smallest_exponent
    first, last = (int(np.float64(number).view(np.int64)) >> shift for number in (smallest, wanted.infinity))
    offset = first - 2 ** (wanted.precision - 1)
    return Target(shift, offset, last - offset, smallest, 2.0**52 * wanted.quantum)


def nearness_of(distances: FloatArray, target: Target) -> FloatArray:
    """Nearness of distances (q, n) that have no error."""
    nearness = np.empty_like(distances)
    round_tile(distances, 0.0, 0.0, curve(LINEAR), target, nearness)
    return nearness


@native
def round_tile(
    values: FloatArray,
    absolute: float,
    relative: float,
    curve: Curve,
    target: Target,
    nearness: Output[npt.NDArray[Any]],
) -> int:
    """Round a matrix of values with errors of absolute + relative |value|; return how many are undecided."""


@native
def round_pairs(
    values: FloatArray, errors: FloatArray, curve: Curve, target: Target, nearness: Output[FloatArray]
) -> None:
    """Round values that each have their own error."""
