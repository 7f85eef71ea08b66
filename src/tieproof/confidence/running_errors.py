"""Means of the errors of the 1, 2, …, n most confident queries, computed in integers and rounded once."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.confidence.groups import Groups
from tieproof.measures.rank_weights import HARMONIC
from tieproof.ties import Estimate, FloatArray

Integers = npt.NDArray[np.object_]
"""Python integers of any size. Their quotients are rounded to the nearest float64."""


class ExactErrors(NamedTuple):
    """The errors of n queries without rounding: integers (n,) in units of 2^-shift."""

    lower: Integers
    expected: Integers
    upper: Integers
    std: Integers
    shift: int


class Sums(NamedTuple):
    """Sums over the l queries of each group, (G,) each.

    expected : the sum of the expected errors, in units of 2^-shift
    variance : the sum of the errors' variances, in units of 2^-(2 shift)
    spread : l times the sum of the squared deviations of the expected errors from their mean, in units of 2^-(2
        shift)
    """

    expected: Integers
    variance: Integers
    spread: Integers
    shift: int


def exact(errors: Estimate[FloatArray]) -> ExactErrors:
    """The columns of an estimate as integers in the largest unit 2^-shift that represents all of them exactly.

    >>> parts = exact(Estimate(*np.array([[0.25], [0.5], [3.0], [0.0]])))
    >>> [int(column[0]) for column in parts[:4]], parts.shift
    ([1, 2, 12, 0], 2)
    """
    mantissa, exponent = np.frexp(np.stack([errors.lower, errors.expected, errors.upper, errors.std]))
    digits = (mantissa * 2.0**53).astype(np.int64)
    lowest = digits & -digits  # the last digit that is not zero
    exponent = np.where(digits == 0, 0, exponent - 53 + np.frexp(lowest.astype(np.float64))[1] - 1)
    shift = max(0, -int(exponent.min()))
    digits //= np.maximum(lowest, 1)
    integers = digits.astype(object) << (exponent + shift).astype(object)
    return ExactErrors(integers[0], integers[1], integers[2], integers[3], shift)


def sums_of_groups(errors: ExactErrors, groups: Groups) -> Sums:
    """The sums that the expectation and the variance need."""
    order = np.argsort(groups.of_query, kind="stable")

    def sums(values: Integers) -> Integers:
        return np.add.reduceat(values[order], groups.start)

    expected = sums(errors.expected)
    spread = groups.length.astype(object) * sums(errors.expected**2) - expected**2
    return Sums(expected, sums(errors.std**2), spread, errors.shift)


def running_means(
    errors: ExactErrors, sums: Sums, values: Estimate[FloatArray], groups: Groups
) -> Estimate[FloatArray]:
    """The curve: the estimates, over ties, of the mean error of the 1, 2, …, n most confident queries.

    values : the errors as floats, by which the errors of a tie are sorted
    """
    rank = np.arange(1, len(groups.of_query) + 1)
    group = np.repeat(np.arange(len(groups.start)), groups.length)
    place, length = (array.astype(object) for array in (rank - groups.start[group], groups.length[group]))
    divisor = np.asarray(rank.astype(object) << errors.shift, dtype=object)

    def before_and_within(totals: Integers) -> Integers:
        """`length` times the sum of the totals before the tie and of the tie's mean at each position so far."""
        before = running_sums(totals) - totals
        return np.asarray(before[group] * length + totals[group] * place)

    others = np.maximum(length - 1, 1)
    variance = before_and_within(sums.variance) * length * others + place * (length - place) * sums.spread[group]
    rising = np.lexsort((values.lower, groups.of_query))
    falling = np.lexsort((-values.upper, groups.of_query))
    return Estimate(
        quotients(running_sums(errors.lower[rising]), divisor),
        quotients(before_and_within(sums.expected), divisor * length),
        quotients(running_sums(errors.upper[falling]), divisor),
        np.sqrt(quotients(variance, (divisor * length) ** 2 * others)),
    )


def running_sums(values: Integers) -> Integers:
    """The sums of the first 1, 2, … values."""
    return np.asarray(np.add.accumulate(values), dtype=object)


def quotients(numerator: Integers, denominator: Integers) -> FloatArray:
    """The quotients, each rounded once."""
    return np.asarray(numerator / denominator, dtype=np.float64)


def area_std(sums: Sums, groups: Groups) -> float:
    """The standard deviation of the mean of the curve."""
    count, length = len(groups.of_query), groups.length.astype(object)
    rank = np.arange(1, count + 1)
    group = np.repeat(np.arange(len(groups.start)), groups.length)
    weight = HARMONIC.sum(rank - 1, np.full(count, count)).hi / count
    fall = HARMONIC.sum(groups.start[group], rank - 1).hi / count  # from the weight at the start of the tie
    squares, falls, squared_falls = (np.bincount(group, values) for values in (weight * weight, fall, fall * fall))
    spread = squared_falls - falls * falls / groups.length
    unit = 1 << 2 * sums.shift
    of_order = quotients(sums.spread, length * np.maximum(length - 1, 1) * unit)
    of_errors = quotients(sums.variance, length * unit)
    return math.sqrt(math.fsum((spread * of_order + squares * of_errors).tolist()))
