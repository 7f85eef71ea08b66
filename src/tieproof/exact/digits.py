"""Integers of any length, many at a time: rows of digits whose lexicographic order is that of the numbers.

The digits are those in base 2^30, most significant first; the first one has a sign, the others are not negative.
"""

import numpy as np
import numpy.typing as npt

from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

Digits = npt.NDArray[np.int64]

Sums = npt.NDArray[np.int64]
"""(m, p): m exact sums of slices of w bits, each the sum over places p of entry * 2^(w p)."""

DIGIT = 30
"""Bits of a digit: the product of two and a carry fit into 63."""


def count(bits: int) -> int:
    """How many digits a number of so many bits has."""
    return -(-bits // DIGIT)


@native
def of_sums(sums: Sums, bits: int, out: Output[Digits]) -> None:
    """Make out[i] the digits of the number that sums[i] stands for, in base 2^bits."""


def rounded(numbers: Digits) -> FloatArray:
    """Numbers (m, k) in float64: k roundings, each relative to the number itself.

    Below zero, too: as long as the first digits, of which one has a sign, can cancel, sums are exact.
    """
    total = np.zeros(len(numbers))
    for digit in numbers.T:
        total = total * 2.0**DIGIT + digit
    return total


def ratios(s: Digits, n: Digits, columns: IntArray, length: int) -> Digits:
    """Digits, so many, of sign(s) floor(s^2 2^k / n) for s[i] and n[columns[i]]; 0 where n is 0.

    k is 30 times the number of digits that a ratio has more than s; s^2 / n must be shorter than s. Schoolbook
    division (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D).
    """
    out = np.empty((len(s), length), dtype=np.int64)
    divide(s, n, columns, np.empty(3 * s.shape[1] + length + 1, dtype=np.int64), out)
    return out


@native
def divide(s: Digits, n: Digits, columns: IntArray, room: Output[IntArray], out: Output[Digits]) -> None:
    """Write the digits of `ratios`; `room` is for 3 times the digits of s, those of a ratio, and one."""
