"""Integers of any length as rows of digits in base 2^30, by Python's integers."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

BASE = 2**30


def number_of(digits: IntArray) -> int:
    """The number with these digits, the most significant first, which has the sign."""
    number = 0
    for digit in digits.tolist():
        number = number * BASE + digit
    return number


def digits_of(number: int, count: int) -> list[int]:
    """So many digits of a number."""
    digits = []
    for _ in range(count - 1):
        number, digit = divmod(number, BASE)
        digits.append(digit)
    return [number, *digits[::-1]]


def sum_of(places: IntArray, bits: int) -> int:
    """The number that places represent, with the weight 2^(bits place)."""
    return sum(entry << bits * place for place, entry in enumerate(places.tolist()))


def of_sums(sums: IntArray, bits: int, out: IntArray) -> None:
    """Write the digits of the number that sums[i] represents to out[i]."""
    for i, places in enumerate(sums):
        out[i] = digits_of(sum_of(places, bits), out.shape[1])


def ratios(s: IntArray, n: IntArray, columns: IntArray, length: int) -> IntArray:
    """Digits of sign(s) floor(s^2 2^k / n), 0 where n is 0."""
    out = np.zeros((len(s), length), dtype=np.int64)
    for i, column in enumerate(columns):
        numerator, denominator = number_of(s[i]), number_of(n[column])
        if denominator:
            quotient = (numerator**2 * BASE ** (length - s.shape[1])) // denominator
            out[i] = digits_of(-quotient if numerator < 0 else quotient, length)
    return out
