"""Sums of precisions over the ties of each query, as loops."""

import numpy as np
import numpy.typing as npt

from kernels.precision_terms import precision_terms
from kernels.weighted_sums import WeightTables, divide_by_query

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def sum_precisions(
    starts: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    harmonic: WeightTables,
    room: FloatArray,
    divisors: FloatArray,
    estimates: FloatArray,
) -> None:
    """Estimate the sum of the precisions at each query's relevant items down to rank `last`, over its divisor."""
    for q in range(len(last)):
        for t in range(starts[q], starts[q + 1]):
            if k[t] >= last[q]:
                break
            if l[t] == 1:
                estimates[:3, q] += (n[t] + 1.0) / (k[t] + 1.0)
                continue
            terms, one = np.zeros((4, 1)), slice(t, t + 1)
            places = np.minimum(l[one], last[q] - k[one])
            precision_terms(k[one], n[one], l[one], m[one], places, harmonic, room, terms)
            estimates[:, q] += terms[:, 0]
    divide_by_query(divisors, estimates)


def add_trapezoids(
    starts: IntArray, k: IntArray, n: IntArray, l: IntArray, several: FloatArray, estimates: FloatArray
) -> None:
    """Add up the given values of ties of several items, and the mean of the precisions before and at single items."""
    place = 0
    for q in range(len(starts) - 1):
        for t in range(starts[q], starts[q + 1]):
            if l[t] > 1:
                estimates[:, q] += several[:, place]
                place += 1
                continue
            before = n[t] / k[t] if k[t] else 1.0
            estimates[:3, q] += (before + (n[t] + 1.0) / (k[t] + 1.0)) / 2.0
