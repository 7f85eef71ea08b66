"""Sums of weights over the ranks of relevant items of each query, as loops."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.pair_parts import Pair, between, exactly, minus, over, plus, times

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

SUMMED = 64
"""For runs of up to this length, the spread of the weights is summed term by term."""

WeightTables: TypeAlias = tuple[FloatArray | None, FloatArray | None, float]
"""Running sums of the weights (None: each is 1) and of their squares, (2, ranks); and the persistence, or 0."""


def power(p: float, exponent: int) -> Pair:
    """p^exponent, by repeated squaring."""
    result, square = (1.0, 0.0), (p, 0.0)
    while exponent:
        if exponent % 2:
            result = times(result, square)
        square = times(square, square)
        exponent //= 2
    return result


def sum_of_run(weights: WeightTables, start: int, stop: int) -> Pair:
    """The sum of the weights of ranks start+1 … stop."""
    sums, _, persistence = weights
    if sums is None:
        return exactly(stop - start)
    if persistence:
        return times(power(persistence, start), (sums[0, stop - start], sums[1, stop - start]))
    return between(sums, start, stop)


def spread_of_run(weights: WeightTables, start: int, stop: int) -> float:
    """The sum of squared distances of these weights to their mean."""
    sums, squares, persistence = weights
    length = stop - start
    if sums is None or length < 2:
        return 0.0
    if persistence:
        scale = power(persistence, start)
        return times(scale, scale)[0] * spread_of_run((sums, squares, 0.0), 0, length)
    if length > SUMMED:
        assert squares is not None
        total = between(sums, start, stop)
        return minus(between(squares, start, stop), over(times(total, total), exactly(length)))[0]
    first = between(sums, start, start + 1)
    fall = [minus(between(sums, rank, rank + 1), first)[0] for rank in range(start, stop)]
    mean = in_order(fall) / length
    return in_order([(x - mean) * (x - mean) for x in fall])


def in_order(terms: list[float]) -> float:
    """The sum of terms, added one by one, because Python's `sum` compensates rounding errors."""
    total = 0.0
    for term in terms:
        total += term
    return total


def spread_in_tie(weights: WeightTables, k: int, l: int, end: int) -> float:
    """The sum of squared distances of a tie's l weights to their mean; weights beyond rank `end` are 0."""
    s = end - k
    share = sum_of_run(weights, k, end)[0]
    return spread_of_run(weights, k, end) + share * share * ((l - s) / (s * np.float64(l)))


def sum_in_parts(terms: list[Pair], bound: float) -> Pair:
    """The sum of pairs with a known bound: the upper parts, cut at 2^-50 of the bound, are added without rounding."""
    anchor = 6.0 * np.ldexp(1.0, np.frexp(bound)[1])
    upper = [(anchor + term[0]) - anchor for term in terms]
    lower = [(term[0] - part) + term[1] for term, part in zip(terms, upper, strict=True)]
    return plus((in_order(upper), 0.0), (in_order(lower), 0.0))


def sum_weights(
    starts: IntArray,
    k: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    weights: WeightTables,
    bounds: FloatArray,
    divisors: FloatArray,
    estimates: FloatArray,
) -> None:
    """Estimate the sum of the weights of the relevant items' ranks of each query, divided by its divisor."""
    for q in range(len(last)):
        tied = [t for t in range(starts[q], starts[q + 1]) if k[t] < last[q]]
        ends = {t: min(k[t] + l[t], last[q]) for t in tied}
        certain = [sum_of_run(weights, k[t], ends[t]) for t in tied if m[t] == l[t]]
        tied = [t for t in tied if m[t] < l[t]]
        worst = [sum_of_run(weights, min(k[t] + l[t] - m[t], ends[t]), ends[t]) for t in tied]
        best = [sum_of_run(weights, k[t], min(k[t] + m[t], ends[t])) for t in tied]
        mean = [over(times(sum_of_run(weights, k[t], ends[t]), exactly(m[t])), exactly(l[t])) for t in tied]
        for i, terms in enumerate((worst, mean, best)):
            estimates[i, q] = plus(sum_in_parts(certain, bounds[q]), sum_in_parts(terms, bounds[q]))[0]
        estimates[3, q] = in_order(
            [m[t] / l[t] * ((l[t] - m[t]) / (l[t] - 1)) * spread_in_tie(weights, k[t], l[t], ends[t]) for t in tied]
        )
    divide_by_query(divisors, estimates)


def divide_by_query(divisors: FloatArray, estimates: FloatArray) -> None:
    """Divide lower, expected and upper value by the divisor, the variance by its square; 0 counts as 1."""
    for q, divisor in enumerate(divisors):
        by = divisor or 1.0
        estimates[:3, q] /= by
        estimates[3, q] /= by * by
