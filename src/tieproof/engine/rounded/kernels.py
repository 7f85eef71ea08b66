"""Numbers of a format, by their place among all, from float64 values that are off by a known error.

Places are whole numbers: 0 is that of zero, 1 that of the smallest number, and so on to infinity; those of negative
numbers are negative. Kernels write minus the place, which is nearness, and NaN where the error leaves it open.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.curves import LINEAR, Curve, curve
from tieproof.inputs.formats import Format
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray

SLACK = 2.0**-50
"""Relative error of adding an error to a value, and of the error itself."""

FARTHEST = 2.0**1000
"""Beyond every format; farther distances are taken for this, so that none is infinite."""


class Target(NamedTuple):
    """A format as the kernels read it."""

    shift: int  # bits that float64 has more
    offset: int  # of the bits of normal numbers, without those, to their places
    infinity: int  # its place
    smallest: float  # normal number
    magic: float  # 2^52 times the smallest subnormal number: what is added to it is rounded to multiples of that


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
    """Round a matrix of values, each off by absolute + relative |value|; return how many are open."""


@native
def round_pairs(
    values: FloatArray, errors: FloatArray, curve: Curve, target: Target, nearness: Output[FloatArray]
) -> None:
    """Round values that each have an error of their own."""
