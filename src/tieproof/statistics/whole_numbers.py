"""Values as whole numbers of a unit, small enough that all sums are exact on every machine and in every order."""

from typing import NamedTuple

import numpy as np

from tieproof.ties import FloatArray

BITS = 52
"""Sums of all numbers have at most this many bits, plus one from rounding, so that float64 holds them exactly."""

SAME = 1e-12
"""Values have a relative error below 1e-12, so sums that differ by no more for each of their terms count as equal."""


class Whole(NamedTuple):
    """Columns of values as whole numbers.

    numbers : (n, k) whole numbers in float64; no sum of n numbers of a column exceeds 2**53
    unit : (k,) the power of two by which each column is to be multiplied
    """

    numbers: FloatArray
    unit: FloatArray

    @property
    def slack(self) -> FloatArray:
        """By how much two sums of n terms may differ and count as equal, (k,): rounding to the unit, and `SAME`."""
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
