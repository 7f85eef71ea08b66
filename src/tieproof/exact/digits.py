"""Arrays of integers of any length, as rows of digits whose lexicographic order is the order of the numbers.

Digits are in base 2^30, most significant first; the first digit has a sign, the others are not negative.
"""

import numpy as np
import numpy.typing as npt

from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

Digits = npt.NDArray[np.int64]

Sums = npt.NDArray[np.int64]
"""(m, p): m exact sums of slices of w bits; each is the sum over the places p of entry * 2^(w p)."""

DIGIT = 30
"""The number of bits in a digit: the product of two digits and a carry fit into 63 bits."""


def count(bits: int) -> int:
    """The number of digits that a number with this many bits needs."""
    return -(-bits // DIGIT)


@native
def of_sums(sums: Sums, bits: int, out: Output[Digits]) -> None:
    """Write to out[i] the digits of the number with the places sums[i] in base 2^bits."""


def rounded(numbers: Digits) -> FloatArray:
    """Numbers (m, k) in float64, with k roundings that are each relative to the number.

    This is true for negative numbers, too: sums are exact as long as the first, signed digit can cancel the others.
    """
    total = np.zeros(len(numbers))
    for digit in numbers.T:
        total = total * 2.0**DIGIT + digit
    return total


def ratios(s: Digits, n: Digits, columns: IntArray, length: int) -> Digits:
    """The digits, `length` of them, of sign(s) floor(s^2 2^k / n) for s[i] and n[columns[i]]; 0 where n is 0.

    k is 30 times the number of digits that a ratio has in addition to those of s; s^2 / n must be shorter than s.
    Schoolbook division (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D).
    """
    out = np.empty((len(s), length), dtype=np.int64)
    divide(s, n, columns, np.empty(3 * s.shape[1] + length + 1, dtype=np.int64), out)
    return out


@native
def divide(s: Digits, n: Digits, columns: IntArray, room: Output[IntArray], out: Output[Digits]) -> None:
    """Write the digits of `ratios`; `room` has 3 times the digits of s, plus the digits of a ratio, plus one."""
