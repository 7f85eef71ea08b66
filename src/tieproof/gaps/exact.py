"""Gaps that float64 leaves open, decided by exact keys.

Neighbours with open gaps form chains, and so do those whose order is open. Within a chain the exact keys of all items
are computed, which put them in order; then each gap is decided.
"""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from tieproof.engine.order import spans_of_runs
from tieproof.exact.rows import FloatArray, IntArray
from tieproof.gaps.kernels import APART, CLOSE, OPEN, States
from tieproof.pooled.gauges import CosineGauge, EuclideanGauge, Gauge, SpaceGauge


def decide(
    gauge: Gauge, rows: IntArray, values: FloatArray, order: IntArray, states: States, epsilon: Fraction
) -> None:
    """Decide all open gaps of rankings of the distinct query rows `rows`, changing `order` and `states`.

    values, order, states : (q, w) the value of each place, its column, and what is known of the gap behind it
    """
    start, stop = chains(states)
    length = stop - start
    number = np.repeat(np.arange(len(start)), length)
    place = np.arange(len(number)) + np.repeat(start - np.cumsum(length) + length, length)
    flat_order, flat_states, flat_values = order.ravel(), states.ravel(), values.ravel()
    for span in spans_of_runs(number):
        some, chain = place[span], number[span]
        query, column = rows[some // order.shape[1]], flat_order[some]
        if epsilon:
            sorting, close = by_fractions(gauge, flat_values[some], query, column, chain, epsilon)
        else:
            sorting, close = by_digits(gauge, query, column, chain)
        flat_order[some] = column[sorting]
        inside = chain[1:] == chain[:-1]
        flat_states[some[:-1][inside]] = np.where(close[inside], CLOSE, APART)


def chains(states: States) -> tuple[IntArray, IntArray]:
    """First places of the chains that hold an open gap, and the places after their last ones; in flat arrays."""
    linked = np.append(states.ravel() >= OPEN, False)  # the last place of a ranking is linked to nothing
    steps = np.diff(linked.astype(np.int8), prepend=0)
    start, stop = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) + 1
    if not len(start):
        return start, stop
    is_open = np.maximum.reduceat((states.ravel() & OPEN).astype(np.int8), start) > 0
    return start[is_open], stop[is_open]


def by_digits(gauge: Gauge, rows: IntArray, columns: IntArray, chain: IntArray) -> tuple[IntArray, Any]:
    """The order of the items of chains, nearest first, and which are at the distance of the next one."""
    assert isinstance(gauge, SpaceGauge)  # the values of others have no error
    digits = gauge.space.exact_keys(rows, columns)
    varying = [~digit for digit in digits.T[::-1] if (digit != digit[0]).any()]
    sorting = np.lexsort((*varying, chain))
    digits = digits[sorting]
    return sorting, (digits[1:] == digits[:-1]).all(axis=1)


def by_fractions(
    gauge: Gauge, values: FloatArray, rows: IntArray, columns: IntArray, chain: IntArray, epsilon: Fraction
) -> tuple[IntArray, Any]:
    """The order of the items of chains, nearest first, and which are closer than epsilon to the next one."""
    keys = [key * gauge.unit for key in gauge.exact(values, rows, columns)]
    sorting = sorted(range(len(keys)), key=lambda i: (chain[i], keys[i]))
    close = [is_closer(gauge, keys[i], keys[j], epsilon) for i, j in pairwise(sorting)]
    return np.array(sorting), np.array(close, dtype=np.bool_)


def is_closer(gauge: Gauge, near: Fraction, far: Fraction, epsilon: Fraction) -> bool:
    """Whether the distances of two exact keys differ by less than epsilon, the first being the smaller one."""
    if isinstance(gauge, CosineGauge):
        return root_is_less(-near, -far, epsilon)
    if isinstance(gauge, EuclideanGauge):
        return root_is_less(far, near, epsilon)
    return far - near < epsilon


def root_is_less(first: Fraction, second: Fraction, epsilon: Fraction) -> bool:
    """Whether the signed root of `first` is less than that of `second` plus epsilon, which is above 0.

    Signed squares s(x) = x |x| rise with x, so s(a) < s(b + epsilon) has to be decided. As
    |s(b + epsilon)| = b^2 + 2 epsilon b + epsilon^2, only 2 epsilon b may be irrational: alone on one side it is
    squared again.

    >>> root_is_less(Fraction(2), Fraction(1), Fraction(2, 5)), root_is_less(Fraction(4), Fraction(1), Fraction(1))
    (False, False)
    >>> root_is_less(Fraction(1), Fraction(-1), Fraction(201, 100))
    True
    """
    twice = 4 * epsilon**2 * second  # s(2 epsilon b)
    if second >= -(epsilon**2):
        return signed_square(first - abs(second) - epsilon**2) < twice
    return twice < signed_square(-(first + abs(second) + epsilon**2))


def signed_square(number: Fraction) -> Fraction:
    """X |x|."""
    return number * abs(number)
