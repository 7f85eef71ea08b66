"""The sum over ranks of weight × gain, of relevant items with grades, divided by a number that bounds it.

A graded tie is ambiguous if its gains differ. Its items are ranked one by one, with the larger gains first or last.
"""

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Estimates, Measure
from tieproof.measures.numbers import Pair, add_by_query, exp2_minus_1, sum_by_query
from tieproof.measures.rank_weights import LOGARITHMIC, Geometric, Tabled, spread_in_tie
from tieproof.ties import FloatArray, IntArray, Ties

LARGEST_GRADE = 400.0  # the largest grade for exponential gains
_EXPONENT = 400  # the largest gain of every query is below 2^400 and at least half of it: see `gains`
_TINY, _LIFT = 2.0**-900, 512  # near the end of the floats gains are computed 2^512 times larger


def is_graded(measure: Measure) -> bool:
    """Whether a measure reads grades, so that a missing item may push one of a higher grade down."""
    return measure.name in ("nDCG", "ERR") or (measure.name == "RBP" and measure["gain"] != "binary")


def weights_of(measure: Measure) -> Tabled | Geometric:
    """Return the weights of ranks by which a measure sums gains."""
    return Geometric(float(measure["p"])) if measure.name == "RBP" else LOGARITHMIC


def gains(measure: Measure, ties: Ties, missing_grades: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the gains of the listed and of the missing relevant items, scaled by a factor for each query."""
    # The factor is a power of two that makes the query's largest gain about 2^400. It changes neither the value of
    # the measure, which is a ratio, nor the digits of a gain, and it keeps the squares of gains and of their sums
    # within the range of float64.
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
    if measure["gain"] != "exp":
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


def graded_gain(
    ties: Ties, gain: FloatArray, weights: Tabled | Geometric, most: FloatArray, last: IntArray
) -> Estimates:
    """Return the weighted gain of graded items down to rank `last` (Q,), divided by `most` (Q,), which bounds it."""
    starts = np.cumsum(ties.m) - ties.m
    tie = np.repeat(np.arange(len(ties.m)), ties.m)
    of_query, place = ties.query[tie], np.arange(1, len(tie) + 1) - starts[tie]  # gains fall within a tie
    smallest = np.where(ties.m < ties.l, 0.0, gain[starts + ties.m - 1])
    ambiguous = gain[starts] > smallest

    rank_if_best = ties.k[tie] + place
    rank_if_worst = (ties.k + ties.l)[tie] + 1 - place

    def placed(chosen: IntArray, rank: IntArray) -> Pair:
        query, rank = of_query[chosen], rank[chosen]
        return sum_by_query(query, _weights(weights, rank, last[query]) * gain[chosen], most)

    certain, open_ = np.flatnonzero(~ambiguous[tie]), np.flatnonzero(ambiguous[tie])
    base = placed(certain, rank_if_best)
    worst, best = base + placed(open_, rank_if_worst), base + placed(open_, rank_if_best)

    rows = np.flatnonzero(ambiguous)
    query, k, l = ties.query[rows], ties.k[rows], ties.l[rows]
    end = np.maximum(np.minimum(last[query], k + l), k)
    gain_sum, gain_spread = _gain_moments(ties, tie, gain, smallest)
    mean = base + sum_by_query(query, weights.sum(k, end) * gain_sum[rows] / l, most)
    inside = np.flatnonzero(end > k)
    spread = np.zeros(len(rows))
    spread[inside] = spread_in_tie(weights, k[inside], l[inside], end[inside])
    variance = add_by_query(query, gain_spread[rows] / (l - 1) * spread, ties.n_queries)
    return Estimates(worst.hi, mean.hi, best.hi, variance).divided_by(most)


def _weights(weights: Tabled | Geometric, rank: IntArray, last: IntArray) -> Pair:
    return weights.sum(rank - 1, np.where(rank <= last, rank, rank - 1))


def largest_gain(ties: Ties, gain: FloatArray, missing_gain: FloatArray, missing_grades: FloatArray) -> FloatArray:
    """Return the gain of the query's largest grade, or of the grade 1 if that is larger, (Q,)."""
    assert ties.grades is not None
    query = np.concatenate((np.repeat(ties.query, ties.m), np.repeat(np.arange(ties.n_queries), ties.missing)))
    most_gain, most_grade = np.zeros(ties.n_queries), np.zeros(ties.n_queries)
    query = query[: len(gain) + len(missing_gain)]
    np.maximum.at(most_gain, query, np.concatenate((gain, missing_gain)))
    np.maximum.at(most_grade, query, np.concatenate((ties.grades, missing_grades)))
    share = np.where((most_grade > 0) & (most_grade < 1), most_grade, 1.0)
    return np.where(most_gain > 0, most_gain, 1.0) / share


def ideal_gain(ties: Ties, gain: FloatArray, missing_gain: FloatArray, last: IntArray) -> FloatArray:
    """Return the discounted gain of each query's relevant items in descending order, or 1 if it is 0."""
    query, n_queries = np.repeat(ties.query, ties.m), ties.n_queries
    if missing_gain.size:
        gain = np.concatenate((gain, missing_gain))
        query = np.concatenate((query, np.repeat(np.arange(n_queries), ties.missing)))
    order = np.lexsort((-gain, query))
    gain, query = gain[order], query[order]
    first = np.searchsorted(query, np.arange(n_queries))
    rank = np.arange(1, len(query) + 1) - first[query]
    bound = add_by_query(query, gain, n_queries)
    total = sum_by_query(query, _weights(LOGARITHMIC, rank, last[query]) * gain, bound).hi
    return np.where(total == 0.0, 1.0, total)


def _gain_moments(ties: Ties, tie: IntArray, gain: FloatArray, smallest: FloatArray) -> tuple[Pair, FloatArray]:
    """Return the sum of the gains of each tie, as a pair, and the sum of their squared distances to the mean."""
    n_ties = len(ties.m)
    sums = sum_by_query(tie, Pair.of(gain), add_by_query(tie, gain, n_ties))
    excess = gain - smallest[tie]
    mean = add_by_query(tie, excess, n_ties) / ties.l
    distance = excess - mean[tie]
    spread = add_by_query(tie, distance * distance, n_ties)
    return sums, spread + (ties.l - ties.m) * (mean * mean)
