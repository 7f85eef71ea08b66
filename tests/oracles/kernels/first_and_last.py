"""The rank of the first or last relevant item of each query, from the probabilities of all places of its tie."""

import numpy as np
import numpy.typing as npt

from kernels.pair_parts import exactly, over
from kernels.weighted_sums import WeightTables, spread_in_tie, sum_of_run

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def waiting(l: int, m: int, steps: int) -> tuple[FloatArray, float]:
    """P(J = j), j = 1 … steps, of the place J of the first of m relevant items among l, and P(J > steps)."""
    j = np.arange(1, steps + 1)
    left = l - j + 1
    beyond = np.cumprod(np.maximum(left - m, 0) / left)
    return np.append(1.0, beyond[:-1]) * (m / left), float(beyond[-1])


def added(terms: FloatArray) -> float:
    """The sum of terms, added one by one."""
    return float(np.cumsum(terms)[-1])


def places_that_matter(k: int, l: int, m: int) -> int:
    """The number of places that can change a value by 2^-60 of itself."""
    bits = 64 + 6 * int(np.frexp(float(k + l))[1])
    return int(min(l - m + 1, bits * l // m + 1))


def find_successes(
    queries: IntArray, starts: IntArray, k: IntArray, l: IntArray, m: IntArray, last: IntArray, estimates: FloatArray
) -> None:
    """Estimate whether a relevant item is found."""
    for q in queries:
        t = starts[q]
        if t == starts[q + 1] or k[t] >= last[q]:
            continue
        s = min(l[t], last[q] - k[t])
        if s > l[t] - m[t]:
            estimates[:3, q] = 1.0
            continue
        chances, none = waiting(l[t], max(m[t], s), min(m[t], s))
        some = added(chances)
        estimates[:, q] = 0.0, 1.0 - none if none < 0.5 else some, 1.0, some * none


def find_first_reciprocals(
    queries: IntArray,
    starts: IntArray,
    k: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    harmonic: WeightTables,
    estimates: FloatArray,
) -> None:
    """Estimate 1 / the rank of the first relevant item."""
    for q in queries:
        t = starts[q]
        if t == starts[q + 1] or k[t] >= last[q]:
            continue
        s, first = min(l[t], last[q] - k[t]), k[t] + 1.0
        mean, variance = 1.0 / first, 0.0
        if m[t] == 1 < l[t]:
            mean = over(sum_of_run(harmonic, k[t], k[t] + s), exactly(l[t]))[0]
            variance = spread_in_tie(harmonic, k[t], l[t], k[t] + s) / l[t]
        elif m[t] < l[t]:
            steps = min(s, places_that_matter(k[t], l[t], m[t]))
            chances, rest = waiting(l[t], m[t], steps)
            j = np.arange(steps)
            mean = added(chances / (first + j))
            distance = j / ((first + j) * first)
            mean_distance = added(chances * distance) + rest / first
            distance = distance - mean_distance
            variance = added(chances * (distance * distance)) + rest * (mean * mean)
            if mean_distance < 0.5 / first:
                mean = 1.0 / first - mean_distance
        worst = 1.0 / (k[t] + l[t] - m[t] + 1) if s > l[t] - m[t] else 0.0
        estimates[:, q] = worst, mean, 1.0 / first, variance


def find_last_reciprocals(
    queries: IntArray,
    starts: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    n_relevant: IntArray,
    estimates: FloatArray,
) -> None:
    """Estimate R / the rank of the last relevant item, 0 where one is missing."""
    for q in queries:
        t, relevant = starts[q + 1] - 1, n_relevant[q]
        if starts[q] == starts[q + 1] or n[t] + m[t] < relevant:
            continue
        worst, above, variance = relevant / (k[t] + l[t]), 0.0, 0.0
        if m[t] < l[t]:
            steps = places_that_matter(k[t], l[t], m[t])
            chances, _ = waiting(l[t], m[t], steps)
            j, last = np.arange(steps), float(k[t] + l[t])
            distance = j / (np.maximum(last - j, 1.0) * last)
            above = added(chances * distance)
            distance = distance - above
            variance = added(chances * (distance * distance))
        estimates[:, q] = worst, worst + relevant * above, relevant / (k[t] + m[t]), variance * relevant * relevant
