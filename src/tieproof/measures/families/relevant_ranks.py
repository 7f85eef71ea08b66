"""Measures of the ranks of relevant items: AP (all), Success, RR, FirstRank (the first), INP, FullRecall (the last).

AP: within a tie it is best if the relevant items come first, and worst if they come last; means and variances add up
over ties (Nicolaou et al. 2018, section 4.2). Success, RR and INP: only one tie matters, the first (k, 0, l, m) or
the last (k, n, l, m) that contains a relevant item. Counted from the front or from the back of that tie, the position
J of the nearest relevant item has P(J > j) = C(l-j, m) / C(l, m), which is a product.

>>> import numpy as np
>>> a = np.array
>>> figure_1 = Ties(query=a([0, 0]), k=a([0, 4]), n=a([0, 1]), l=a([2, 3]), m=a([1, 1]),
...                 n_relevant=a([2]), n_items=a([100]))
>>> lower, expected, upper, variance = AP(figure_1)
>>> print(f"{lower[0]:.6f} {expected[0]:.6f} {upper[0]:.6f}")
0.392857 0.544841 0.700000
>>> lower, expected, upper, variance = RR(figure_1)
>>> print(f"{lower[0]:.6f} {expected[0]:.6f} {upper[0]:.6f}")
0.500000 0.750000 1.000000
"""

from typing import Literal

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Definition, Estimates, Measure, Parameter, define
from tieproof.measures.numbers import SMALL_TIE, blockwise
from tieproof.measures.precision_sums import best, precision_of_hits, trapezoids_of_ties, worst
from tieproof.measures.rank_weights import HARMONIC, WeightTables
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, Ties


def tie_widths(k: IntArray, n: IntArray, l: IntArray, m: IntArray) -> FloatArray:
    """Return the largest minus the smallest sum of precisions of each tie; the sum of all is R times AP's width."""
    (widths,) = blockwise(lambda k, n, l, m: ((best(k, n, m, l) - worst(k, n, l, m, l)).hi,), k, n, l, m)
    return widths


def _average_precision(ties: Ties, measure: Measure) -> Estimates:
    last = measure.last_rank(ties)
    if measure["norm"] == "hits":
        return precision_of_hits(ties, last)
    divisor = np.minimum(ties.n_relevant, last) if measure["norm"] == "min" else ties.n_relevant
    estimates, room = np.zeros((4, ties.n_queries)), np.empty((3, ties.largest))
    tables = HARMONIC.tables(min(int(last.max(initial=0)), ties.depth_of_several), ties.largest)
    divisors = divisor.astype(np.float64)
    sum_precisions(ties.starts, ties.k, ties.n, ties.l, ties.m, last, tables, room, divisors, estimates)
    return Estimates(*estimates)


def _trapezoid(ties: Ties, measure: Measure) -> Estimates:
    estimates, several = np.zeros((4, ties.n_queries)), ties.several
    terms = trapezoids_of_ties(*(column[several] for column in (ties.k, ties.n, ties.l, ties.m)))
    add_trapezoids(ties.starts, ties.k, ties.n, ties.l, terms, estimates)
    return Estimates(*estimates).divided_by(np.maximum(ties.n_relevant, 1.0))


def _queries(ties: Ties, at: Literal["first", "last"]) -> IntArray:
    """Return the queries, sorted so that those with equal first or last ties are adjacent, if that saves time."""
    # Kernels compute adjacent equal ties only once. Queries without a tie may be left out.
    if ties.largest <= SMALL_TIE:
        return np.arange(ties.n_queries)
    queries = np.flatnonzero(np.diff(ties.starts))
    tie = ties.starts[queries] if at == "first" else ties.starts[queries + 1] - 1
    if ties.l[tie].max() <= SMALL_TIE:
        return queries
    return queries[np.lexsort((ties.m[tie], ties.l[tie], ties.k[tie]))]


def _success(ties: Ties, measure: Measure) -> Estimates:
    estimates, ends = np.zeros((4, ties.n_queries)), measure.last_rank(ties)
    find_successes(_queries(ties, "first"), ties.starts, ties.k, ties.l, ties.m, ends, estimates)
    return Estimates(*estimates)


def _reciprocal_rank(ties: Ties, measure: Measure) -> Estimates:
    estimates, ends = np.zeros((4, ties.n_queries)), measure.last_rank(ties)
    tables = HARMONIC.tables(min(int(ends.max(initial=0)), ties.depth_of_several), ties.largest)
    queries = _queries(ties, "first")
    find_first_reciprocals(queries, ties.starts, ties.k, ties.l, ties.m, ends, tables, estimates)
    return Estimates(*estimates)


def _inverse_penalty(ties: Ties, measure: Measure) -> Estimates:
    estimates, queries = np.zeros((4, ties.n_queries)), _queries(ties, "last")
    find_last_reciprocals(queries, ties.starts, ties.k, ties.n, ties.l, ties.m, ties.n_relevant, estimates)
    return Estimates(*estimates)


def _first_rank(ties: Ties, measure: Measure) -> Estimates:
    queries = np.flatnonzero(ties.n_relevant)
    lacking = int((np.diff(ties.starts)[queries] == 0).sum())
    if lacking:
        raise InputError(
            f"FirstRank needs a relevant item of known rank, which the lists of {lacking:,} of {len(queries):,} "
            "queries lack. Rank the whole gallery, or use RR or Success@10, which count 0 there."
        )
    first = ties.starts[queries]
    k, l, m = (column[first].astype(np.float64) for column in (ties.k, ties.l, ties.m))
    estimates = np.zeros((4, ties.n_queries))
    estimates[0, queries] = k + 1.0
    estimates[1, queries] = k + (l + 1.0) / (m + 1.0)
    estimates[2, queries] = k + (l - m + 1.0)
    estimates[3, queries] = m * (l + 1.0) * (l - m) / ((m + 1.0) * (m + 1.0) * (m + 2.0))
    return Estimates(*estimates)


def _full_recall(ties: Ties, measure: Measure) -> Estimates:
    """Whether no relevant item of the last tie is among those of its places that are beyond the cutoff."""
    queries = np.flatnonzero((ties.n_relevant > 0) & (ties.missing == 0))
    tie, ends = ties.starts[queries + 1] - 1, measure.last_rank(ties)[queries]
    l, m, none = ties.l[tie], ties.m[tie], np.zeros_like(tie)
    beyond = np.clip(ties.k[tie] + l - ends, 0, l)
    beside, places = np.zeros((4, len(queries))), np.arange(len(queries) + 1)
    find_successes(places[:-1], places, none, l, m, beyond, beside)
    lower, some, upper, variance = beside
    expected = np.divide(variance, some, out=np.ones_like(some), where=some > 0)  # variance is some * (1 - some)
    estimates = np.zeros((4, ties.n_queries))
    estimates[:, queries] = 1.0 - upper, np.minimum(expected, 1.0), 1.0 - lower, variance
    return Estimates(*estimates)


@native
def sum_precisions(
    starts: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    harmonic: WeightTables,
    room: Output[FloatArray],  # (3, items in the largest tie)
    divisors: FloatArray,
    estimates: Output[FloatArray],
) -> None:
    """Estimate the sum of the precisions at the relevant items of each query, divided; a divisor of 0 counts as 1."""


@native
def add_trapezoids(
    starts: IntArray, k: IntArray, n: IntArray, l: IntArray, several: FloatArray, estimates: Output[FloatArray]
) -> None:
    """Add up, for each query, the given terms of ties of several items, (4, such ties), and those of single items."""
    # A single item adds the mean of the precision before it (1 at the first rank) and the precision at it.


@native
def find_successes(
    queries: IntArray,
    starts: IntArray,
    k: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    estimates: Output[FloatArray],
) -> None:
    """Estimate whether a relevant item is found, for `queries`."""


@native
def find_first_reciprocals(
    queries: IntArray,
    starts: IntArray,
    k: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    harmonic: WeightTables,
    estimates: Output[FloatArray],
) -> None:
    """Estimate 1 / the rank of the first relevant item, for `queries`."""


@native
def find_last_reciprocals(
    queries: IntArray,
    starts: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    n_relevant: IntArray,
    estimates: Output[FloatArray],
) -> None:
    """Estimate R / the rank of the last relevant item, or 0 if one is missing, for `queries`."""


AP = define(
    Definition(
        name="AP",
        compute=_average_precision,
        meaning="Average precision: the mean over the relevant items of the precision at their ranks; items beyond "
        "the cutoff count 0. AP@R has the query's number of relevant items as its cutoff (MAP@R).",
        formula="(1/R) sum over hits at ranks r <= k of (hits up to r) / r",
        source="Buckley and Voorhees 2000; under ties Nicolaou et al. 2018, section 4.2, and McSherry and Najork "
        "2008, equation 6; AP@R: Musgrave et al. 2020, equation 2",
        cutoff="optional",
        rank_r=True,
        falls_with=("norm", "hits"),
        parameters=(
            Parameter(
                "norm",
                "R",
                "the divisor of the sum: R, the number of relevant items; min, the smaller of R and the cutoff; "
                "hits, the number of relevant items above the cutoff (not monotone: one more hit can lower it)",
                choices=("R", "min", "hits"),
            ),
        ),
    )
)

AP_TRAPEZOID = define(
    Definition(
        name="AP(trapezoid)",
        compute=_trapezoid,
        meaning="Average precision by the trapezoid rule: every relevant item counts the mean of the precision "
        "before it (1 at rank 1) and the precision at it.",
        formula="(1/R) sum over hits at ranks r of ((hits before r)/(r-1) + (hits up to r)/r) / 2",
        source="Philbin et al. 2007 (the Oxford buildings protocol); Radenović et al. 2018 (revisitop)",
    )
)

Success = define(
    Definition(
        name="Success",
        compute=_success,
        meaning="Whether a relevant item is among the first k items: cumulative match characteristic (CMC), hit "
        "rate; 'Recall@k' in metric learning.",
        formula="1 if the first relevant item has rank <= k, else 0",
        source="Moon and Phillips 2001 (CMC); under ties McSherry and Najork 2008, section 3",
        cutoff="required",
    )
)

RR = define(
    Definition(
        name="RR",
        compute=_reciprocal_rank,
        meaning="Reciprocal rank of the first relevant item; 0 if it is beyond the cutoff.",
        formula="1 / (rank of the first relevant item)",
        source="Voorhees 1999 (TREC-8 question answering); under ties McSherry and Najork 2008, section 3",
        cutoff="optional",
    )
)

INP = define(
    Definition(
        name="INP",
        compute=_inverse_penalty,
        meaning="Inverse negative penalty: the precision at the rank of the last relevant item; 0 if a relevant item "
        "is not in the list.",
        formula="R / (rank of the last relevant item)",
        source="Ye et al. 2021, Deep Learning for Person Re-identification, section 4.1 (mINP)",
    )
)

FirstRank = define(
    Definition(
        name="FirstRank",
        compute=_first_rank,
        meaning="Rank of the first relevant item, from 1: its mean is the mean rank (MnR), and `Result.median` the "
        "median rank (MedR). It is better the smaller it is, so 'upper' is what no ordering of ties exceeds.",
        formula="rank of the first relevant item; in a tie k + (l + 1) / (m + 1) is expected",
        source="Bordes et al. 2013 (mean rank); Faghri et al. 2018, VSE++ (median rank)",
        smaller_is_better=True,
    )
)

FullRecall = define(
    Definition(
        name="FullRecall",
        compute=_full_recall,
        meaning="Whether all relevant items are among the first k; 0 if a relevant item is not in the list.",
        formula="1 if the last relevant item has rank <= k, else 0",
        source="Wu et al. 2024, LongMemEval (recall_all@k)",
        cutoff="required",
    )
)
