"""Integers of any length, many at a time: rows of digits whose lexicographic order is that of the numbers.

The digits are those in base 2^30, most significant first; the first one has a sign, the others are not negative.
"""

import numpy as np
import numpy.typing as npt

from tieproof.exact.slices import Sums
from tieproof.native.compiled import kernel, part
from tieproof.ties import FloatArray, IntArray

Digits = npt.NDArray[np.int64]

DIGIT = 30
"""Bits of a digit: the product of two and a carry fit into 63."""


def count(bits: int) -> int:
    """How many digits a number of so many bits has."""
    return -(-bits // DIGIT)


@kernel
def of_sums(sums: Sums, bits: int, out: Digits) -> None:
    """Make out[i] the digits of the number that sums[i] stands for, in base 2^bits."""
    mask, digit_mask, places = (1 << bits) - 1, (1 << DIGIT) - 1, sums.shape[1]
    for i in range(out.shape[0]):
        carry = gathered = filled = place = 0
        for digit in range(out.shape[1] - 1, -1, -1):
            while filled < DIGIT:
                if place < places:
                    carry += sums[i, place]
                gathered |= (carry & mask) << filled
                carry >>= bits
                filled += bits
                place += 1
            out[i, digit] = gathered & digit_mask
            gathered >>= DIGIT
            filled -= DIGIT
        if carry < 0:
            out[i, 0] -= 1 << DIGIT


@kernel
def rounded_sums(sums: Sums, bits: int, value: FloatArray, size: FloatArray) -> None:
    """Sums in float64, and the sums of the magnitudes of their places: what rounding is relative to."""
    scale = np.float64(1 << bits)
    for i in range(sums.shape[0]):
        total, magnitudes = 0.0, 0.0
        for place in range(sums.shape[1] - 1, -1, -1):
            here = np.float64(sums[i, place])
            total = total * scale + here
            magnitudes = magnitudes * scale + abs(here)
        value[i], size[i] = total, magnitudes


def rounded(numbers: Digits) -> FloatArray:
    """Numbers (m, k) in float64: k roundings, each relative to the number itself.

    Below zero, too: as long as the first digits, of which one has a sign, can cancel, sums are exact.
    """
    total = np.zeros(len(numbers))
    for digit in numbers.T:
        total = total * 2.0**DIGIT + digit
    return total


@kernel
def ratios(s: Digits, n: Digits, columns: IntArray, out: Digits) -> None:
    """out[i] = sign(s) floor(s^2 2^k / n) for s[i] and n[columns[i]]; 0 where n is 0.

    k is 30 times the number of digits that `out` has more than s; s^2 / n must be shorter than s. Schoolbook
    division (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D).
    """
    base = 1 << DIGIT
    mask = base - 1
    length, shifted = s.shape[1], out.shape[1] - s.shape[1]
    dividend = np.empty(2 * length + shifted + 1, dtype=np.int64)
    divisor, numerator = np.empty(length, dtype=np.int64), np.empty(length, dtype=np.int64)
    for i in range(s.shape[0]):
        out[i] = 0
        denominator = n[columns[i]]
        used = length
        while used > 0 and denominator[length - used] == 0:
            used -= 1
        if used == 0:
            continue
        sign = magnitude(s[i], numerator)
        # 1. Lowest digits first; both numbers times the power of two that makes the divisor's top digit large.
        up = 0
        while denominator[length - used] << up < base >> 1:
            up += 1
        carry = 0
        for place in range(used):
            carry += denominator[length - 1 - place] << up
            divisor[place] = carry & mask
            carry >>= DIGIT
        square(numerator, up, dividend, shifted)
        # 2. One digit of the quotient after the other.
        top = divisor[used - 1]
        second = divisor[used - 2] if used > 1 else 0
        for place in range(len(dividend) - 1 - used, -1, -1):
            head = (dividend[place + used] << DIGIT) + dividend[place + used - 1]
            if head < top:
                continue
            guess = head // top
            rest = head - guess * top
            third = dividend[place + used - 2] if used > 1 else 0
            while guess >= base or (rest < base and guess * second > (rest << DIGIT) + third):
                guess -= 1
                rest += top
            borrow = 0
            for j in range(used):
                borrow += dividend[place + j] - guess * divisor[j]
                dividend[place + j] = borrow & mask
                borrow >>= DIGIT
            borrow += dividend[place + used]
            dividend[place + used] = 0
            if borrow < 0:
                guess -= 1
                carry = 0
                for j in range(used):
                    carry += dividend[place + j] + divisor[j]
                    dividend[place + j] = carry & mask
                    carry >>= DIGIT
            if place < out.shape[1]:
                out[i, out.shape[1] - 1 - place] = guess
        if sign < 0:
            negate(out[i])


@part
def magnitude(number: IntArray, out: IntArray) -> int:
    """Make `out` the digits of a number without its sign; return that."""
    for digit in range(len(number)):
        out[digit] = number[digit]
    if number[0] >= 0:
        return 1
    negate(out)
    return -1


@part
def negate(number: IntArray) -> None:
    """Make it minus itself: digits but the first are complements, with a carry."""
    carry = 0
    for digit in range(len(number) - 1, 0, -1):
        carry -= number[digit]
        number[digit] = carry & ((1 << DIGIT) - 1)
        carry >>= DIGIT
    number[0] = carry - number[0]


@part
def square(s: IntArray, up: int, out: IntArray, shifted: int) -> None:
    """Make out = s^2 2^up 2^(30 shifted), lowest digit first."""
    mask = (1 << DIGIT) - 1
    length = len(s)
    out[:] = 0
    for a in range(length):
        digit = s[length - 1 - a]
        carry = 0
        for b in range(length):
            carry += out[shifted + a + b] + digit * s[length - 1 - b]
            out[shifted + a + b] = carry & mask
            carry >>= DIGIT
        out[shifted + a + length] = carry
    carry = 0
    for place in range(shifted, len(out)):
        carry += out[place] << up
        out[place] = carry & mask
        carry >>= DIGIT
