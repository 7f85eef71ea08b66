"""Integers of any length, many at a time: rows of digits whose lexicographic order is that of the numbers.

The digits of a number are those of its magnitude in base 2^30, most significant first, each with the number's sign.
"""

import numpy as np
import numpy.typing as npt

from tieproof.compiled import kernel
from tieproof.exact.slices import IntArray, PlaceSums, Sums

FloatArray = npt.NDArray[np.float64]
Digits = npt.NDArray[np.int64]

DIGIT = 30
"""Bits of a digit: the product of two and a carry fit into 63."""


def count(bits: int) -> int:
    """How many digits a number of so many bits has."""
    return -(-bits // DIGIT)


@kernel
def carry_over(sums: IntArray, bits: int) -> int:
    """Turn one number's sums into digits in base 2^bits, lowest first, of its magnitude; return its sign.

    The highest entries must be zero where carries may go.
    """
    carry = 0
    for place in range(len(sums)):
        carry = (carry + sums[place]) >> bits
    sign = -1 if carry < 0 else 1
    mask = (1 << bits) - 1
    carry = 0
    for place in range(len(sums)):
        carry += sign * sums[place]
        sums[place] = carry & mask
        carry >>= bits
    return sign


@kernel
def of_pairs(
    factor: int,
    pairs: PlaceSums,
    where: IntArray,
    of_row: Sums,
    rows: IntArray,
    of_column: Sums,
    columns: IntArray,
    bits: int,
    out: Digits,
) -> None:
    """out[i] = factor * pairs[:, where[i]] + of_row[rows[i]] + of_column[columns[i]], in digits."""
    room_for_carry = 63 // bits + 1
    sums = np.empty(max(pairs.shape[0], of_row.shape[1], of_column.shape[1]) + room_for_carry, dtype=np.int64)
    for i in range(out.shape[0]):
        sums[:] = 0
        gather(factor, pairs, where[i], of_row[rows[i]], of_column[columns[i]], sums)
        sign = carry_over(sums, bits)
        repack(sums, bits, sign, out[i])


@kernel
def gather(factor: int, pairs: PlaceSums, pair: int, row: IntArray, column: IntArray, sums: IntArray) -> None:
    """Add up, place by place, what belongs to a pair."""
    for place in range(pairs.shape[0]):
        sums[place] += factor * pairs[place, pair]
    for place in range(len(row)):
        sums[place] += row[place]
    for place in range(len(column)):
        sums[place] += column[place]


@kernel
def rounded_pairs(
    factor: int,
    pairs: PlaceSums,
    where: IntArray,
    of_row: Sums,
    rows: IntArray,
    of_column: Sums,
    columns: IntArray,
    bits: int,
    value: FloatArray,
    size: FloatArray,
) -> None:
    """The same sums in float64, and the sums of the magnitudes of their places: what rounding is relative to."""
    sums = np.empty(max(pairs.shape[0], of_row.shape[1], of_column.shape[1]), dtype=np.int64)
    scale = np.float64(1 << bits)
    for i in range(value.shape[0]):
        sums[:] = 0
        gather(factor, pairs, where[i], of_row[rows[i]], of_column[columns[i]], sums)
        total, magnitudes = 0.0, 0.0
        for place in range(len(sums) - 1, -1, -1):
            here = np.float64(sums[place])
            total = total * scale + here
            magnitudes = magnitudes * scale + abs(here)
        value[i], size[i] = total, magnitudes


def rounded(numbers: Digits) -> FloatArray:
    """Numbers (m, k) in float64: k roundings, each relative to the number itself, for its digits have one sign."""
    total = np.zeros(len(numbers))
    for digit in numbers.T:
        total = total * 2.0**DIGIT + digit
    return total


@kernel
def repack(sums: IntArray, bits: int, sign: int, out: Digits) -> None:
    """Digits in base 2^bits, lowest first, as signed digits in base 2^30, highest first."""
    gathered, filled = 0, 0
    place = 0
    for digit in range(len(out) - 1, -1, -1):
        while filled < DIGIT and place < len(sums):
            gathered |= sums[place] << filled
            filled += bits
            place += 1
        out[digit] = sign * (gathered & ((1 << DIGIT) - 1))
        gathered >>= DIGIT
        filled = max(filled - DIGIT, 0)


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
    divisor = np.empty(length, dtype=np.int64)
    for i in range(s.shape[0]):
        out[i] = 0
        denominator = n[columns[i]]
        used = length
        while used > 0 and denominator[length - used] == 0:
            used -= 1
        sign = 0
        for digit in s[i]:
            sign = sign if digit == 0 else (1 if digit > 0 else -1)
        if used == 0 or sign == 0:
            continue
        # 1. Lowest digits first; both numbers times the power of two that makes the divisor's top digit large.
        up = 0
        while denominator[length - used] << up < base >> 1:
            up += 1
        carry = 0
        for place in range(used):
            carry += denominator[length - 1 - place] << up
            divisor[place] = carry & mask
            carry >>= DIGIT
        square(s[i], up, dividend, shifted)
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
                out[i, out.shape[1] - 1 - place] = sign * guess


@kernel
def square(s: IntArray, up: int, out: IntArray, shifted: int) -> None:
    """Make out = s^2 2^up 2^(30 shifted), lowest digit first."""
    mask = (1 << DIGIT) - 1
    length = len(s)
    out[:] = 0
    for a in range(length):
        digit = abs(s[length - 1 - a])
        carry = 0
        for b in range(length):
            carry += out[shifted + a + b] + digit * abs(s[length - 1 - b])
            out[shifted + a + b] = carry & mask
            carry >>= DIGIT
        out[shifted + a + length] = carry
    carry = 0
    for place in range(shifted, len(out)):
        carry += out[place] << up
        out[place] = carry & mask
        carry >>= DIGIT
