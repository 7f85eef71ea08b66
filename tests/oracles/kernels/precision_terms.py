"""The contribution of one tie to a sum of precisions, in pairs of floats (Dekker 1971), as loops."""

import numpy as np
import numpy.typing as npt

from kernels.arrangements import variance_of, variance_of_one
from kernels.pair_parts import Pair, between, exactly, minus, over, plus, times
from kernels.weighted_sums import WeightTables

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

LONG, FAR = 32, 200
"""Variances over s places after k items have a closed form if s > LONG and k <= FAR · s. Their cancellation grows
as (k/s)^5. Pairs have a relative error of about 1e-30; at these limits, about 1e-14 remains."""

SHORT = 64
"""Up to this number of places, a single relevant item's variance is summed place by place, which is then faster."""


def precision_terms(
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    s: IntArray,
    harmonic: WeightTables,
    room: FloatArray,
    terms: FloatArray,
) -> None:
    """Write lower, expected, upper and variance, the rows of `terms`, of ties of which s places count.

    harmonic : the weights 1/r
    room : (3, the largest s that has no closed form)
    """
    sums, squares, _ = harmonic
    assert sums is not None
    assert squares is not None
    a, b, row = room[0], room[1], room[2]
    for t in range(k.shape[0]):
        before, length, places = k[t], l[t], s[t]
        hits = m[t] if m[t] < places else places
        upper = precisions(sums, before, n[t], hits)
        terms[0, t] = terms[1, t] = terms[2, t] = upper
        terms[3, t] = 0.0
        if m[t] == length:
            continue
        # At worst, the relevant items are at the last places of the tie, of which only those above the cutoff count.
        hits = places - (length - m[t])
        hits = hits if hits > 0 else 0
        terms[0, t] = precisions(sums, before + places - hits, n[t], hits)
        weights = between(sums, before, before + places)
        others = length - 1 if length > 1 else 1
        mean = times(exactly((n[t] + 1) * others - (m[t] - 1) * (before + 1)), weights)
        mean = times(plus(mean, exactly((m[t] - 1) * places)), exactly(m[t]))
        terms[1, t] = over(mean, exactly(length * others))[0]
        if places > LONG and before <= FAR * places:
            of_squares = between(squares, before, before + places)
            terms[3, t] = variance_of_many(weights, of_squares, before, n[t], length, m[t], places)
        elif m[t] == 1 and places > SHORT:
            of_squares = between(squares, before, before + places)
            spread = minus(of_squares, over(times(weights, weights), exactly(places)))[0]
            spread += weights[0] * weights[0] * ((length - places) / (places * np.float64(length)))
            terms[3, t] = (n[t] + 1.0) * (n[t] + 1.0) * (spread / length)
        else:
            last = np.float64(before + length)
            for j in range(places):
                rank = before + j + 1
                # If all places count, the last value is subtracted: the variance stays the same, and nothing cancels.
                b[j] = (length - j - 1) / (rank * last) if length == places else 1.0 / rank
                a[j] = (n[t] + 1) * b[j]
            if m[t] == 1:
                terms[3, t] = variance_of_one(a[:places], length)
            else:
                terms[3, t] = variance_of(a[:places], b[:places], row[:places], length, m[t])


def precisions(sums: FloatArray, k: int, n: int, count: int) -> float:
    """Return the sum of the precisions at `count` relevant items from rank k+1 on."""
    weights = between(sums, k, k + count)
    return plus(times(weights, (np.float64(n - k), 0.0)), (np.float64(count), 0.0))[0]


def variance_of_many(w: Pair, ww: Pair, k: int, n: int, l: int, m: int, s: int) -> float:
    """Return Var Z in constant time: every sum is expressed by sum w and sum w², in pairs."""
    first = (-np.float64(k + 1), 0.0)
    length = (np.float64(l), 0.0)
    before = plus(times(w, first), (np.float64(s), 0.0))  # sum (i-1) w
    before_w = plus(times(ww, first), w)  # sum (i-1) w²
    before_before = plus(times(before_w, first), before)  # sum (i-1)² w²
    pairs = times(minus(times(w, w), ww), (0.5, 0.0))  # sum_{i<j} w w
    pairs_before = plus(times(pairs, first), before)  # sum_{i<j} (i-1) w w
    row_row = plus(plus(before_before, before_w), times(pairs_before, (4.0, 0.0)))  # sum r²

    # Multiplied by the denominators, and divided at the end: after the cancellation, floats are precise enough.
    weight_spread = minus(times(ww, length), times(w, w))[0] / l
    common = minus(times(plus(before_w, pairs), length), times(times(w, (2.0, 0.0)), before))[0] / l
    square_of_before = times(before, before)
    row_spread = minus(times(row_row, length), times(square_of_before, (4.0, 0.0)))[0] / l
    square = times(minus(times(before_w, (l - 2.0, 0.0)), row_row), (l - 1.0, 0.0))
    pair_spread = plus(square, times(square_of_before, (2.0, 0.0)))[0] / ((l - 1.0) * (l - 2.0))

    c, share = n + 1.0, (m - 1) / (l - 2)
    linear = c * c * weight_spread + 2.0 * c * share * common + share * share * row_spread
    single = m / l * ((l - m) / (l - 1))
    double = single * ((m - 1) / (l - 2)) * ((l - m - 1) / (l - 3))
    variance: float = single * linear + double * pair_spread
    return variance
