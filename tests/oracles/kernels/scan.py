"""The statistics of one pass over the rows, and the units of rows, by loops and fractions."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]

LANES = 8


def extremes(row: FloatArray) -> tuple[float, float, bool]:
    """The largest magnitude, the smallest magnitude other than zero, and whether a number is below zero."""
    magnitudes = [abs(value) for value in row.tolist()]
    smallest = min((value for value in magnitudes if value), default=math.inf)
    return max(magnitudes), smallest, any(value < 0 for value in row.tolist())


def sum_of_squares(row: FloatArray, exponent: int) -> float:
    """Sum of squares of a row divided by 2^exponent: eight partial sums, added in order to the sum of the rest."""
    half, rest = math.ldexp(1.0, -(exponent // 2)), math.ldexp(1.0, -(exponent - exponent // 2))
    squares = [(value * half * rest) ** 2 for value in row.tolist()]
    whole = len(row) // LANES * LANES
    total = 0.0
    for square in squares[whole:]:
        total += square
    for lane in range(LANES):
        partial = 0.0
        for square in squares[lane:whole:LANES]:
            partial += square
        total += partial
    return total


def checksum(row: FloatArray, multipliers: Words, divisor: float) -> int:
    """Checksum of a row divided by `divisor`, modulo 2^64."""
    total = 0
    for bits, multiplier in zip((row / divisor + 0.0).view(np.uint64).tolist(), multipliers.tolist(), strict=True):
        total += (bits ^ bits >> 32) * multiplier
    return total % 2**64


def statistics(row: FloatArray, multipliers: Words, up_to_factor: bool) -> tuple[float, float, float, bool, int]:
    """The fields of `Statistics` for a row."""
    largest, smallest, negative = extremes(row)
    exponent = math.frexp(largest)[1] - 1 if largest else 0
    divisor = largest if up_to_factor and largest else 1.0
    return largest, smallest, sum_of_squares(row, exponent), negative, checksum(row, multipliers, divisor)


def row_unit(row: FloatArray) -> float:
    """The largest number that a row is a multiple of; 1 for a row of zeros."""
    numbers = [Fraction(value) for value in row.tolist() if value]
    if not numbers:
        return 1.0
    denominator = math.lcm(*(number.denominator for number in numbers))
    return float(Fraction(math.gcd(*(int(number * denominator) for number in numbers)), denominator))
