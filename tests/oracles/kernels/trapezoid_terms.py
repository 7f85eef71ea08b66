"""The contribution of one tie to a sum of the means of the precisions before and at its relevant items, as loops."""

import numpy as np
import numpy.typing as npt

from kernels.arrangements import variance_of
from kernels.pair_parts import Pair, exactly, over, plus, times
from kernels.weighted_sums import WeightTables, sum_of_run

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def trapezoid_terms(
    k: IntArray, n: IntArray, l: IntArray, m: IntArray, harmonic: WeightTables, room: FloatArray, terms: FloatArray
) -> None:
    """Write lower, expected, upper and variance, the rows of `terms`."""
    for t, (before, ahead, length, relevant) in enumerate(zip(k, n, l, m, strict=True)):
        terms[:3, t] = row(harmonic, before, ahead, relevant)[0]
        terms[3, t] = 0.0
        if relevant < length:
            terms[0, t] = row(harmonic, before + length - relevant, ahead, relevant)[0]
            terms[1, t] = mean(harmonic, before, ahead, length, relevant)[0]
            terms[3, t] = variance(before, ahead, length, relevant, room)


def row(harmonic: WeightTables, k: int, n: int, count: int) -> Pair:
    """The mean of the sums of the precisions at and before `count` relevant items at the ranks from k+1 on."""
    at, before = (
        plus(times(weights, exactly(n - k)), exactly(count))
        for weights in (sum_of_run(harmonic, k, k + count), run_before(harmonic, k, count))
    )
    return times(plus(at, before), (0.5, 0.0))


def run_before(harmonic: WeightTables, k: int, length: int) -> Pair:
    """The sum of 1/i over i = k … k+length-1, without i = 0."""
    start = max(k - 1, 0)
    return sum_of_run(harmonic, start, max(k + length - 1, start))


def mean(harmonic: WeightTables, k: int, n: int, l: int, m: int) -> Pair:
    """The mean over all arrangements; at rank 1, the precision before is 0/0, and counts as 1."""
    parts = [(n + 1, sum_of_run(harmonic, k, k + l), k + 1), (n, run_before(harmonic, k, l), k)]
    sums = []
    for first, inverses, rank in parts:
        scaled = times(exactly(first * (l - 1) - (m - 1) * rank), inverses)
        sums.append(over(times(plus(scaled, exactly((m - 1) * l)), exactly(m)), exactly(l * (l - 1))))
    of_first_rank = over(over(times(exactly(l - m if k == 0 else 0), exactly(m)), exactly(l)), exactly(l - 1))
    return times(plus(plus(sums[0], sums[1]), of_first_rank), (0.5, 0.0))


def variance(k: int, n: int, l: int, m: int, room: FloatArray) -> float:
    """Var Z for a_i = (n u_i + w_i)/2 and b_i = u_i/2, w_i = 1/(k+i), u_i = w_(i-1) + w_i.

    At rank 1, the precision before is 1, and no pair of places ends there, so that b has no effect.
    """
    a, b, row = room[:, :l]
    last = k + l
    for j in range(l):
        rank = k + j + 1
        before = rank - 1 if rank > 1 else 1
        w = (last - rank) / (rank * np.float64(last))
        w_before = (last - 1 - before) / (before * np.float64(last - 1 if last > 1 else 1))
        b[j] = (w_before + w) / 2.0
        a[j] = n * b[j] + w / 2.0 + (0.5 if rank == 1 else 0.0)
    return variance_of(a, b, row, l, m)
