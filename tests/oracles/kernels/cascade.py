"""The contributions of the ties of a ranking to the expected reciprocal rank, as loops."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.pair_parts import Pair, exactly, minus, over, plus, times

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Terms: TypeAlias = tuple[float, float]

FORGOTTEN = 2.0**-80
ONE: Pair = (1.0, 0.0)
NONE: Pair = (0.0, 0.0)


def hits_that_count(stops: list[float], s: int) -> int:
    """The number of hits until the probability of continuing is neglected."""
    total = 0.0
    for stop in stops:
        total += 1.0 - stop
    hits, on = 0, 1.0
    while hits < min(len(stops), s) and on >= FORGOTTEN:
        on *= total / float(len(stops))
        hits += 1
    return hits


def cascade_of_row(stops: list[float], k: int, s: int, before: int) -> float:
    """The value of items in this order after some other items."""
    value, on = 0.0, 1.0
    for j, stop in enumerate(stops[: max(s - before, 0)]):
        value += on * stop / float(k + before + j + 1)
        on *= 1.0 - stop
    return value


def spread_of_alike(stops: list[float], k: int, l: int, s: int) -> Terms:
    """Mean and variance, by place and by the number of hits so far."""
    m, hits, stop = len(stops), hits_that_count(stops, s), stops[0]
    weight, on = [0.0] * (hits + 1), 1.0
    for h in range(hits):
        weight[h] = stop * on
        on *= 1.0 - stop
    value, spread = [0.0] * (hits + 1), [0.0] * (hits + 1)
    more = [weight[h] * float(m - h) / float(k + s) for h in range(hits + 1)]
    for place in range(s - 1, -1, -1):
        step = 1.0 / (float(k + place) * float(k + place + 1)) if place else 0.0
        for h in range(max(0, place - (l - m)), min(hits, place + 1)):
            to_come = float(m - h)
            share, rest = to_come / float(l - place), float(l - m - (place - h)) / float(l - place)
            change = more[h] / to_come
            spread[h] = share * spread[h + 1] + rest * spread[h] + share * rest * change * change
            value[h] = share * (weight[h] / float(k + place + 1) + value[h + 1]) + rest * value[h]
            more[h] = step * weight[h] * to_come + (share * more[h + 1] + rest * more[h])
    return value[0], spread[0]


def mean_products(stops: list[float], hits: int) -> list[list[Pair]]:
    """The mean of Q_i Q_j in row j, where Q_i is the probability of continuing after the first i hits."""
    table = [[NONE] * (hits + 1) for _ in range(hits + 1)]
    table[0][0] = ONE
    for n, stop in enumerate(stops, start=1):
        share, on = over(ONE, exactly(n)), minus(ONE, (stop, 0.0))
        twice = times(times(on, on), share)
        on = times(on, share)
        for j in range(min(hits, n), 0, -1):
            behind, before = times(exactly(n - j), share), table[j - 1]
            row = [
                plus(times(table[j][i], behind), times(times(before[i], on), (float(j - i), 0.0)))
                for i in range(j + 1)
            ]
            for i in range(1, j + 1):
                row[i] = plus(row[i], times(times(before[i - 1], twice), (float(i), 0.0)))
            table[j][: j + 1] = row
    return table


def mean_products_of_steps(products: list[list[Pair]]) -> list[list[Pair]]:
    """The mean of B_i B_j in row j, where B_i = Q_(i-1) - Q_i; column 0 is left as it is."""
    steps = [list(row) for row in products]
    for j in range(1, len(products)):
        for i in range(1, j + 1):
            left = products[j - 1][i] if i < j else products[j][i - 1]
            same = plus(products[j - 1][i - 1], products[j][i])
            steps[j][i] = minus(same, plus(products[j][i - 1], left))
    return steps


def spread_of_mixed(stops: list[float], k: int, l: int, s: int) -> Terms:
    """Mean and variance, as the mean of the square minus the square of the mean."""
    m, hits = len(stops), hits_that_count(stops, s)
    table = mean_products_of_steps(mean_products(stops, hits))
    ahead = [[NONE] * (hits + 1) for _ in range(hits + 1)]
    squares = [NONE] * (hits + 1)
    for place in range(s - 1, -1, -1):
        left, over_rank = exactly(l - place), over(ONE, exactly(k + place + 1))
        for h in range(max(0, place - (l - m)), min(hits, place + 1)):
            share, rest = over(exactly(m - h), left), over(exactly(l - m - (place - h)), left)
            at_rank = times(share, over_rank)

            def back(
                step: Pair,
                after_hit: Pair,
                after_other: Pair,
                share: Pair = share,
                rest: Pair = rest,
                at_rank: Pair = at_rank,
            ) -> Pair:
                return plus(plus(times(step, at_rank), times(after_hit, share)), times(after_other, rest))

            hit = ahead[h + 1][h + 1]
            square = plus(times(table[h + 1][h + 1], over_rank), plus(hit, hit))
            squares[h] = back(square, squares[h + 1], squares[h])
            steps = [minus(table[h][0], table[h + 1][0]), *table[h + 1][1 : h + 1]]
            ahead[h][: h + 1] = [back(step, ahead[h + 1][i], ahead[h][i]) for i, step in enumerate(steps)]
    spread = minus(squares[0], times(ahead[0][0], ahead[0][0]))[0]
    return ahead[0][0][0], max(spread, 0.0)


def cascade_terms(
    k: IntArray, l: IntArray, m: IntArray, s: IntArray, first: IntArray, stops: FloatArray, terms: FloatArray
) -> None:
    """Write lower, expected and upper value, variance, and the probability of continuing, of ties."""
    for t in range(len(k)):
        falling = [float(stop) for stop in stops[first[t] : first[t] + m[t]]]
        tie = int(k[t]), int(l[t]), int(s[t])
        upper = cascade_of_row(falling, tie[0], tie[2], 0)
        lower, mean, variance, on = upper, upper, 0.0, 1.0
        alike = falling[0] == falling[-1]
        if s[t] > 0 and (m[t] < l[t] or not alike):
            lower = cascade_of_row(falling[::-1], tie[0], tie[2], int(l[t] - m[t]))
            mean, variance = (spread_of_alike if alike else spread_of_mixed)(falling, *tie)
            mean = min(max(mean, lower), upper)
            variance = variance if alike else min(variance, (upper - mean) * (mean - lower))
        for stop in falling:
            on *= 1.0 - stop
        terms[:, t] = lower, mean, upper, variance, on


def add_cascades(starts: IntArray, terms: FloatArray, estimates: FloatArray) -> None:
    """Add up the terms of the ties of each query, times the probability of reaching each tie."""
    for q in range(len(starts) - 1):
        on = 1.0
        for t in range(starts[q], starts[q + 1]):
            estimates[:3, q] += on * terms[:3, t]
            estimates[3, q] += on * on * terms[3, t]
            on *= terms[4, t]
