"""Numbers of a format from float64 values that are off by a known error; NaN where the error leaves it open."""

from typing import NamedTuple

from tieproof.distances.curves import Curve
from tieproof.inputs.formats import Format
from tieproof.native.calls import native
from tieproof.ties import FloatArray

SLACK = 2.0**-50
"""Relative error of adding an error to a value, and of the error itself."""

FARTHEST = 2.0**1000
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


@native
def round_block(
    values: FloatArray, absolute: float, relative: float, curve: Curve, target: Target, out: FloatArray
) -> int:
    """Round a matrix of values, each off by absolute + relative |value|; return how many are open."""


@native
def round_pairs(values: FloatArray, errors: FloatArray, curve: Curve, target: Target, out: FloatArray) -> None:
    """Round values that each have an error of their own."""
