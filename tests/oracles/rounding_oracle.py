"""Distances rounded to number formats, by their definition, in fractions; imports nothing of tieproof.

A format is the list of its numbers. A distance is a real number that can be compared with any fraction.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from exact_oracle import Vector
from fnmr_oracle import KEYS

Comparison = Callable[[Fraction], int]
"""The sign of the difference between a real number and the argument."""

LARGEST = {"float16": 2**16, "bfloat16": 2**128, "float32": 2**128}
"""The number after the largest one, if exponents were unlimited."""


def known(number: Fraction | int | float) -> Comparison:
    """A rational number."""
    above, below = Fraction(number).as_integer_ratio()
    return lambda other: sign(above * other.denominator - other.numerator * below)


def sign(number: Fraction | int) -> int:
    return (number > 0) - (number < 0)


def distance(name: str, x: Vector, y: Vector) -> Comparison:
    """The distance as a real number."""
    compare = known(KEYS[name](x, y))
    if name == "euclidean":
        return lambda other: compare(other**2) if other.numerator >= 0 else 1
    if name == "cosine":
        # 1 - c with the signed square of c: compare c with 1 - other by signed squares.
        return lambda other: compare((other - 1) * abs(other - 1))
    return compare


@cache
def number_of_bits(name: str, bits: int) -> Fraction:
    """The number with these bits; the bits of infinity represent the power of two that would be the next number."""
    if name == "float16":
        value = float(np.array(bits, dtype=np.uint16).view(np.float16))
    else:
        value = float(np.array(bits << 16 if name == "bfloat16" else bits, dtype=np.uint32).view(np.float32))
    return Fraction(LARGEST[name]) if np.isinf(value) else Fraction(value)


INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000}


def rounded(name: str, compare: Comparison) -> Fraction:
    """The nearest number of the format, by bisection; of two equally near numbers, the one whose last bit is 0."""
    if compare(Fraction(0)) < 0:
        return -rounded(name, lambda other: -compare(-other))
    low, high = 0, INFINITY[name]  # low <= the distance; high is the largest number to which it may be rounded
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if compare(number_of_bits(name, middle)) >= 0 else (low, middle)
    below, above = number_of_bits(name, low), number_of_bits(name, high)
    side = compare((below + above) / 2)
    return above if side > 0 or (side == 0 and low % 2) else below
