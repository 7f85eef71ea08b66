"""Values as whole numbers of a unit, so small that all sums are exact: neither order nor machine changes them."""

from typing import NamedTuple

import numpy as np

from tieproof.ties import FloatArray

BITS = 52
"""Sums of as many numbers as there are have at most as many bits, and one more from rounding: float64 is exact."""

SAME = 1e-12
"""Values are exact to within a relative 1e-12: sums that differ by no more for each of their terms are the same."""


class Whole(NamedTuple):
    """Columns of values as whole numbers.

    numbers : (n, k) whole numbers in float64; no sum of n of a column passes 2**53
    unit : (k,) the power of two that a 1 stands for
    """

    numbers: FloatArray
    unit: FloatArray

    @property
    def slack(self) -> FloatArray:
        """By how much two sums of n terms may differ and be the same, (k,): rounding to the unit, and `SAME`."""
        return len(self.numbers) * (1 + SAME / self.unit)


def as_whole(values: FloatArray) -> Whole:
    """Columns of values (n, k), each rounded to its unit.

    >>> whole = as_whole(np.array([[0.75], [-0.25]]))
    >>> whole.numbers * whole.unit
    array([[ 0.75],
           [-0.25]])
    """
    exponent = np.frexp(len(values) * np.abs(values).max(axis=0))[1]
    return Whole(np.rint(np.ldexp(values, BITS - exponent)), np.ldexp(1.0, exponent - BITS))
