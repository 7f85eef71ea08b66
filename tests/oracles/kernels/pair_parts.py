"""Arithmetic with pairs of floats (Dekker 1971; Knuth, TAOCP 2, 4.2.2), one number at a time."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

SPLITTER = 134217729.0  # 2^27 + 1

Pair: TypeAlias = tuple[float, float]


def exactly(number: int) -> Pair:
    """A whole number as a pair."""
    hi = np.float64(number)
    return hi, np.float64(number - np.int64(hi))


def plus(a: Pair, b: Pair) -> Pair:
    """Return a + b."""
    hi = a[0] + b[0]
    rest = hi - a[0]
    lo = (a[0] - (hi - rest)) + (b[0] - rest)
    low_hi = a[1] + b[1]
    rest = low_hi - a[1]
    low_lo = (a[1] - (low_hi - rest)) + (b[1] - rest)
    lo += low_hi
    total = hi + lo
    lo = lo - (total - hi) + low_lo
    both = total + lo
    return both, lo - (both - total)


def minus(a: Pair, b: Pair) -> Pair:
    """Return a - b."""
    return plus(a, (-b[0], -b[1]))


def times(a: Pair, b: Pair) -> Pair:
    """Return the product of a and b."""
    product = a[0] * b[0]
    t = SPLITTER * a[0]
    a_high = t - (t - a[0])
    a_low = a[0] - a_high
    t = SPLITTER * b[0]
    b_high = t - (t - b[0])
    b_low = b[0] - b_high
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    rest += a[0] * b[1] + a[1] * b[0]
    total = product + rest
    return total, rest - (total - product)


def over(a: Pair, b: Pair) -> Pair:
    """Return a / b."""
    first = a[0] / b[0]
    rest = minus(a, times(b, (first, 0.0)))
    second = rest[0] / b[0]
    rest = minus(rest, times(b, (second, 0.0)))
    total = first + second
    return plus((total, second - (total - first)), (rest[0] / b[0], 0.0))


def between(sums: FloatArray, start: int, stop: int) -> Pair:
    """Return the difference of two entries of a table of running sums, shape (2, ranks): hi and lo."""
    return minus((sums[0, stop], sums[1, stop]), (sums[0, start], sums[1, start]))
