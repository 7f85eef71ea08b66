"""The sum of discounted gains of relevant items with grades, divided by the largest possible sum.

A graded tie is ambiguous if its gains differ. Its items are ranked one by one, with the larger gains first or last.
"""

from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Estimates, Measure
from tieproof.measures.numbers import Pair, add_by_query, exp2_minus_1, sum_by_query
from tieproof.measures.rank_weights import LOGARITHMIC, spread_in_tie
from tieproof.ties import FloatArray, IntArray, Ties

LARGEST_GRADE = 400.0
"""The largest grade for exponential gains."""

_EXPONENT = 400  # the largest gain of every query is below 2^400 and at least half of it: see `gains`
_TINY, _LIFT = 2.0**-900, 512  # near the end of the floats gains are computed 2^512 times larger


def gains(measure: Measure, ties: Ties, missing_grades: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the gains of the listed and of the missing relevant items, scaled by a factor for each query.

    The factor is a power of two that makes the query's largest gain about 2^400. It changes neither the value of the
    measure, which is a ratio, nor the digits of a gain, and it keeps the squares of gains and of their sums within
    the range of float64.
    """
    assert ties.grades is not None
    query = np.concatenate((np.repeat(ties.query, ties.m), np.repeat(np.arange(ties.n_queries), ties.missing)))
    listed = len(ties.grades)
    digits, exponent = _gain(measure, np.concatenate((ties.grades, missing_grades)))
    query = query[: len(digits)]
    largest = np.full(ties.n_queries, np.iinfo(exponent.dtype).min)
    np.maximum.at(largest, query, exponent)
    scaled = np.ldexp(digits, exponent - largest[query] + _EXPONENT)
    return scaled[:listed], scaled[listed:]


def gain_of_grades(measure: Measure, grades: FloatArray) -> FloatArray:
    """Return the gain of each grade, divided by the largest one."""
    digits, exponent = _gain(measure, grades)
    scaled = np.ldexp(digits, np.maximum(exponent - exponent.max(initial=0), -1000))
    return np.asarray(scaled / scaled.max(initial=0.0))


def _gain(measure: Measure, grades: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the gain of each grade, as digits between 1/2 and 1 and an exponent of 2."""
    if measure["gain"] == "linear":
        digits, exponent = np.frexp(grades)
        return digits, exponent.astype(np.int64)
    largest = float(grades.max(initial=0.0))
    if largest > LARGEST_GRADE:
        raise InputError(
            f"'{measure}' cannot use the grade {largest:g}, whose gain is larger than 2^400. Use a smaller scale."
        )
    different, which = np.unique(grades, return_inverse=True)
    tiny = different < _TINY  # where 2^x - 1 is proportional to x, to all digits
    digits, exponent = np.frexp(exp2_minus_1(np.where(tiny, np.ldexp(different, _LIFT), different)))
    return digits[which], (exponent.astype(np.int64) - _LIFT * tiny)[which]


class _Items(NamedTuple):
    """The relevant items, shape (sum of m,): tie, query, place within the tie from 1 (gains falling), gain."""

    tie: IntArray
    query: IntArray
    place: IntArray
    gain: FloatArray


def graded_gain(ties: Ties, gain: FloatArray, missing_gain: FloatArray, last: IntArray | None) -> Estimates:
    """Return the discounted gain of graded items over the best possible one, down to rank `last` (Q,)."""
    starts = np.cumsum(ties.m) - ties.m
    tie = np.repeat(np.arange(len(ties.m)), ties.m)
    items = _Items(tie, ties.query[tie], np.arange(1, len(tie) + 1) - starts[tie], gain)
    smallest = np.where(ties.m < ties.l, 0.0, gain[starts + ties.m - 1])
    ambiguous = gain[starts] > smallest

    rank_if_best = ties.k[tie] + items.place
    rank_if_worst = (ties.k + ties.l)[tie] + 1 - items.place
    ideal = _ideal(ties, items, missing_gain, last)

    def placed(chosen: IntArray, rank: IntArray) -> Pair:
        query, rank = items.query[chosen], rank[chosen]
        weight = LOGARITHMIC.sum(rank - 1, rank if last is None else _clipped(rank, last[query]))
        return sum_by_query(query, weight * gain[chosen], ideal)

    certain, open_ = np.flatnonzero(~ambiguous[tie]), np.flatnonzero(ambiguous[tie])
    base = placed(certain, rank_if_best)
    worst, best = base + placed(open_, rank_if_worst), base + placed(open_, rank_if_best)

    rows = np.flatnonzero(ambiguous)
    query, k, l = ties.query[rows], ties.k[rows], ties.l[rows]
    end = k + l if last is None else np.maximum(np.minimum(last[query], k + l), k)
    gain_sum, gain_spread = _gain_moments(ties, items, smallest)
    mean = base + sum_by_query(query, LOGARITHMIC.sum(k, end) * gain_sum[rows] / l, ideal)
    inside = np.flatnonzero(end > k)
    spread = np.zeros(len(rows))
    spread[inside] = spread_in_tie(LOGARITHMIC, k[inside], l[inside], end[inside])
    variance = add_by_query(query, gain_spread[rows] / (l - 1) * spread, ties.n_queries)
    return Estimates(worst.hi, mean.hi, best.hi, variance).divided_by(ideal)


def _clipped(rank: IntArray, last: IntArray) -> IntArray:
    """Return the rank, or the one before it if it is beyond the last rank, so that the run is empty."""
    return np.where(rank <= last, rank, rank - 1)


def _ideal(ties: Ties, items: _Items, missing_gain: FloatArray, last: IntArray | None) -> FloatArray:
    """Return the discounted gain of each query's relevant items in descending order, or 1 if it is 0."""
    gain, query, n_queries = items.gain, items.query, ties.n_queries
    if missing_gain.size:
        gain = np.concatenate((gain, missing_gain))
        query = np.concatenate((query, np.repeat(np.arange(n_queries), ties.missing)))
    order = np.lexsort((-gain, query))
    gain, query = gain[order], query[order]
    first = np.searchsorted(query, np.arange(n_queries))
    rank = np.arange(1, len(query) + 1) - first[query]
    weight = LOGARITHMIC.sum(rank - 1, rank if last is None else _clipped(rank, last[query]))
    bound = add_by_query(query, gain, n_queries)
    total = sum_by_query(query, weight * gain, bound).hi
    return np.where(total == 0.0, 1.0, total)


def _gain_moments(ties: Ties, items: _Items, smallest: FloatArray) -> tuple[Pair, FloatArray]:
    """Return the sum of the gains of each tie, as a pair, and the sum of their squared distances to the mean."""
    n_ties = len(ties.m)
    sums = sum_by_query(items.tie, Pair.of(items.gain), add_by_query(items.tie, items.gain, n_ties))
    excess = items.gain - smallest[items.tie]
    mean = add_by_query(items.tie, excess, n_ties) / ties.l
    distance = excess - mean[items.tie]
    spread = add_by_query(items.tie, distance * distance, n_ties)
    return sums, spread + (ties.l - ties.m) * (mean * mean)
