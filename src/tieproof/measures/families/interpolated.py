"""Interpolated precision: the largest precision at any rank where the recall is at least a given one.

It is the largest j / rank(j) of the j-th relevant item in the ranking, over all j that reach the recall. Ties are
independent, and the value of a query is the largest of those of its ties. In a tie, the largest precision is that of
its last relevant item if all of them come first, and also if all come last; so only a tie whose best value is above
the worst value of the query can change it. These two orders are the bounds: a relevant item that moves up raises the
precision at the ranks that it passes and lowers none, and so it lowers no maximum of precisions.

The expected value and the variance come from the distribution of the largest precision: for each value x that it may
have, a walk down the tie adds up the probability of a precision of x or more, and that of none, in l m steps. Both
are sums of products without a difference, and so are the moments: with F(x) and G(x) the probabilities of smaller
values, and of values from x on, E = low + sum of d(x) G(x), and the variance is the sum of d(x) d(y) F(min) G(max)
over all pairs of steps (Hoeffding's formula).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Definition, Estimates, Measure, Parameter, Value, define
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, Ties

_MOST_STEPS = 2**37  # the most steps of all ties together, which take about a minute
_BLOCK = 64  # the values of x that are walked at a time

_HITS: dict[str, Callable[[Value, int], int]] = {
    "enough": lambda recall, count: int(float(recall) * count + 0.9),
    "exact": lambda recall, count: math.ceil(Fraction(str(recall)) * count),
    "nearest": lambda recall, count: math.floor(float(recall) * count + 0.5),
}
"""How many of a number of relevant items have a recall; the first and the last are computed as in trec_eval 9 and 10.

Of 3 items and a recall of 0.7, `enough` is int(0.7 * 3 + 0.9) = int(2.9999999999999996) = 2, and `exact` is 3.
"""


def _reaching(measure: Measure, n_relevant: IntArray) -> IntArray:
    """Return how many relevant items reach the recall, at least 1, (Q,)."""
    different, which = np.unique(n_relevant, return_inverse=True)
    counts = list(map(partial(_HITS[str(measure["hits"])], measure["recall"]), different.tolist()))
    return np.maximum(np.array(counts, dtype=np.int64), 1)[which]


def largest_precisions(measure: Measure, ties: Ties) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value of each query over all orderings, (2, Q)."""
    lower, upper = np.zeros((2, ties.n_queries))
    rows = np.flatnonzero(ties.n + ties.m >= _reaching(measure, ties.n_relevant)[ties.query])
    query, hits = ties.query[rows], (ties.n + ties.m)[rows]
    np.maximum.at(lower, query, hits / (ties.k + ties.l)[rows])
    np.maximum.at(upper, query, hits / (ties.k + ties.m)[rows])
    return lower, upper


def _interpolated_precision(ties: Ties, measure: Measure) -> Estimates:
    lower, upper = largest_precisions(measure, ties)
    expected, variance = lower.copy(), np.zeros(ties.n_queries)
    first = np.maximum(_reaching(measure, ties.n_relevant)[ties.query] - ties.n, 1)  # hit of the tie that counts
    best = (ties.n + ties.m) / (ties.k + ties.m)
    rows = np.flatnonzero((first <= ties.m) & (ties.m < ties.l) & (best > lower[ties.query]))
    values = {row: _values(ties, row, int(first[row]), lower[ties.query[row]]) for row in rows.tolist()}
    steps = sum(float(ties.l[row]) * float(ties.m[row]) * len(values[row]) for row in values)
    if steps > _MOST_STEPS:
        raise InputError(
            f"'{measure}' would take minutes: ties of up to {ties.largest:,} items have too many orders. Use P at a "
            "cutoff, or leave the measure out."
        )
    for query in np.unique(ties.query[rows]).tolist():
        own = [row for row in rows.tolist() if ties.query[row] == query]
        at = np.unique(np.concatenate([values[row] for row in own]))
        below, above = np.ones_like(at), np.zeros_like(at)
        for row in own:
            k, n, l, m = (int(column[row]) for column in (ties.k, ties.n, ties.l, ties.m))
            of_tie = np.empty((2, len(at)))
            chances_of_precisions(k, n, l, m, int(first[row]), at, np.empty((m + 1, _BLOCK)), of_tie)
            above += below * of_tie[1]
            below *= of_tie[0]
        step = np.diff(at, prepend=lower[query])
        expected[query] += np.cumsum(step * above)[-1]
        before = np.cumsum(step * below)  # F of the smaller value of a pair, G of the larger one
        variance[query] = np.cumsum(step * above * (2.0 * before - step * below))[-1]
    expected = np.clip(expected, lower, upper)
    return Estimates(lower, expected, upper, variance)


def _values(ties: Ties, row: int, first: int, above: float) -> FloatArray:
    """Return all precisions of the relevant items of a tie that are larger than a number."""
    k, n, l, m = (int(column[row]) for column in (ties.k, ties.n, ties.l, ties.m))
    found = [np.zeros(0)]
    for hit in range(first, m + 1):
        values = (n + hit) / (k + np.arange(hit, l - m + hit + 1))
        found.append(values[values > above])
        if sum(map(len, found)) > _MOST_STEPS // (l * m):
            break  # too many, even if some are equal
    return np.concatenate(found)


@native
def chances_of_precisions(
    k: int, n: int, l: int, m: int, first: int, at: FloatArray, room: Output[FloatArray], chances: Output[FloatArray]
) -> None:
    """Write the rows of `chances`, (2, X): the probabilities that no precision, and that any one, reaches a value."""
    # The tie's hits count from `first` on; the values `at`, (X,), ascend; `room` is (m + 1, values walked at a time).


IPrec = define(
    Definition(
        name="IPrec",
        compute=_interpolated_precision,
        meaning="Interpolated precision: the largest precision at any rank down to which the recall is at least the "
        "given one; 0 if no rank has it.",
        formula="max over r with hits(r) >= recall R of hits(r) / r",
        source="van Rijsbergen 1979, Information Retrieval, chapter 7; trec_eval (iprec_at_recall)",
        parameters=(
            Parameter(
                "recall", 0, "the smallest recall that counts; 0 counts all ranks", limits=(0.0, 1.0), included=True
            ),
            Parameter(
                "hits",
                "enough",
                "how many hits have that recall if recall times R is no whole number: int(recall R + 0.9) as in "
                "ir_measures, pytrec_eval and trec_eval 9 (enough), the next larger number (exact), or the nearest "
                "one as in trec_eval 10. By rounding, 2 of 3 are enough for a recall of 0.7, and exact needs all 3",
                choices=tuple(_HITS),
            ),
        ),
    )
)

PRECISION_RECALL = tuple(f"IPrec(recall={tenths / 10:g})" for tenths in range(11))
"""Interpolated precision at the eleven usual levels of recall, which `Result.plot_precision_recall` draws."""
