"""Measures that are a sum over ranks of weight × gain, divided by a number that does not depend on the ranking.

Within a tie descending gains are best and ascending gains are worst. The mean is the mean of the gains times the sum
of the weights. The variance is that of a sum of products under random pairing (McSherry and Najork 2008; for the
variance, sampling without replacement). Weights beyond a cutoff are 0.
"""

from collections.abc import Callable

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Definition, Estimates, Measure, Parameter, define
from tieproof.measures.graded_gains import gains, graded_gain, ideal_gain, is_graded, largest_gain, weights_of
from tieproof.measures.numbers import add_by_query
from tieproof.measures.rank_weights import LOGARITHMIC, UNIFORM, Weights, WeightTables
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, Ties


def weighted_sum(ties: Ties, weights: Weights, last: IntArray, divisors: FloatArray) -> Estimates:
    """Return the sum of the weights at the relevant items' ranks, down to rank `last` of each query, divided."""
    estimates = np.zeros((4, ties.n_queries))
    deepest = 0 if weights is UNIFORM else min(int(last.max(initial=0)), ties.depth)  # which needs no tables
    tables = weights.tables(deepest, ties.largest)
    bounds = ideal_sum(ties.n_relevant, weights, last)
    sum_weights(ties.starts, ties.k, ties.l, ties.m, last, tables, bounds, divisors, estimates)
    return Estimates(*estimates)


def ideal_sum(relevant: IntArray, weights: Weights, last: IntArray) -> FloatArray:
    """Return the sum of the first weights, one for each relevant item down to the last rank, shape (Q,)."""
    return weights.first(np.minimum(relevant, last))


def ideal_discounts(ties: Ties, measure: Measure) -> FloatArray:
    """Return the largest sum of discounts that the relevant items of each query can have in nDCG, (Q,)."""
    relevant = ties.listed if measure["ideal"] == "list" else ties.n_relevant
    return np.asarray(ideal_sum(relevant, LOGARITHMIC, measure.last_rank(ties)))


def _weighted_gain(ties: Ties, measure: Measure) -> Estimates:
    """Estimate nDCG or RBP, which differ in their weights and divisors."""
    weights, last = weights_of(measure), measure.last_rank(ties)
    if ties.grades is None or not is_graded(measure):
        divisor = ideal_discounts(ties, measure) if measure.name == "nDCG" else np.ones(ties.n_queries)
        return weighted_sum(ties, weights, last, divisor)
    gain, divisor = gains_and_divisor(measure, ties)
    return graded_gain(ties, gain, weights, divisor, last)


def gains_and_divisor(measure: Measure, ties: Ties) -> tuple[FloatArray, FloatArray]:
    """Return the gains of the listed relevant items in nDCG or RBP, and the divisor of their weighted sum, (Q,)."""
    in_list = measure.name == "nDCG" and measure["ideal"] == "list"
    missing_grades = _missing_grades(measure, ties, ties.listed if in_list else ties.n_relevant)
    listed, missing = gains(measure, ties, missing_grades)
    if measure.name == "nDCG":
        return listed, ideal_gain(ties, listed, missing, measure.last_rank(ties))
    return listed, largest_gain(ties, listed, missing, missing_grades)


def _missing_grades(measure: Measure, ties: Ties, relevant: IntArray) -> FloatArray:
    """Return the grades of the relevant items that are not in the list, none where all of `relevant` are listed."""
    listed = ties.listed
    if not np.any(relevant != listed):
        return np.zeros(0)
    if ties.missing_grades is None:
        query = int(np.flatnonzero(relevant != listed)[0])
        alone = "use 'nDCG(ideal=list)', " if measure.name == "nDCG" else ""
        raise InputError(
            f"'{measure}' needs the grades of all relevant items: query {query} has {relevant[query]}, but only "
            f"{listed[query]} are in the list. Pass the whole list, {alone}or use evaluate_run, which reads all "
            "grades from the qrels."
        )
    return ties.missing_grades


def _area_under_curve(ties: Ties, measure: Measure) -> Estimates:
    """Return the share of pairs in the right order; m (l-m) (l+1)/12 is the variance of the rank-sum statistic."""
    query, m, others = ties.query, ties.m, ties.l - ties.m

    def by_query(values: FloatArray | IntArray) -> FloatArray:
        return add_by_query(query, values, ties.n_queries)

    irrelevant = ties.n_items - by_query(m).astype(np.int64)
    pairs = irrelevant * ties.n_relevant
    after = irrelevant[query] - (ties.k - ties.n) - others
    vacuous = (pairs == 0) & (ties.n_relevant > 0) & (ties.n_items > 0)
    won = by_query(m * after) + vacuous
    tied = by_query(m * others)
    variance = by_query(m * others * ((ties.l + 1) / 12.0))
    return Estimates(won, won + tied / 2.0, won + tied, variance).divided_by(np.maximum(pairs, 1.0))


@native
def sum_weights(
    starts: IntArray,
    k: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    weights: WeightTables,
    bounds: FloatArray,  # (Q,) upper bounds on these sums before the division
    divisors: FloatArray,
    estimates: Output[FloatArray],
) -> None:
    """Estimate the sum of the weights of each query's relevant ranks, divided; a divisor of 0 counts as 1."""


Divisor = Callable[[FloatArray, FloatArray], FloatArray]

# By what measures of hits divide them, by their names: from R and the cutoff of each query, (Q,).
DIVISORS: dict[str, Divisor] = {}


def _define_hits(name: str, divisor: Divisor, meaning: str, formula: str, source: str, cut: bool = True) -> Measure:
    """Define the hits down to a cutoff, or if not `cut` down to the rank R, divided."""

    def compute(ties: Ties, measure: Measure) -> Estimates:
        last = measure.last_rank(ties) if cut else ties.n_relevant
        return weighted_sum(ties, UNIFORM, last, divisor(ties.n_relevant.astype(np.float64), last.astype(np.float64)))

    DIVISORS[name] = divisor
    of_cut = Definition(name, compute, meaning, formula, source, cutoff="required", at_rank_r="Rprec")
    return define(of_cut if cut else Definition(name, compute, meaning, formula, source))


P = _define_hits(
    "P",
    lambda relevant, cutoff: cutoff,
    "Precision: the share of relevant items among the first k ranks.",
    "hits / k",
    "Cleverdon et al. 1966; under ties McSherry and Najork 2008, equation 3",
)

RelP = _define_hits(
    "RelP",
    np.minimum,
    "Relative precision: the hits among the first k ranks, as a share of the most hits possible there.",
    "hits / min(k, R)",
    "trec_eval (relative_P); precision@k of open-metric-learning",
)

R = _define_hits(
    "R",
    lambda relevant, cutoff: relevant,
    "Recall: the share of the relevant items that are among the first k ranks.",
    "hits / R",
    "Cleverdon et al. 1966; under ties McSherry and Najork 2008, section 3",
)

F1 = _define_hits(
    "F1",
    lambda relevant, cutoff: (relevant + cutoff) / 2.0,
    "Harmonic mean of precision and recall of the first k ranks.",
    "2 hits / (k + R)",
    "van Rijsbergen 1979, Information Retrieval, chapter 7",
)

Rprec = _define_hits(
    "Rprec",
    lambda relevant, cutoff: relevant,
    "R-precision: precision (and recall) at the rank R, the query's number of relevant items.",
    "hits among the first R ranks / R",
    "Buckley and Voorhees 2000; trec_eval (Rprec)",
    cut=False,
)

RBP = define(
    Definition(
        name="RBP",
        compute=_weighted_gain,
        meaning="Rank-biased precision: the probability that the item at which a reader stops is relevant, if the "
        "reader goes on to the next rank with probability p.",
        formula="(1-p) sum over hits at ranks r <= k of p^(r-1)",
        source="Moffat and Zobel 2008, equation 4; gain=linear: trec_eval 10 (rbp, with p=0.9)",
        cutoff="optional",
        parameters=(
            Parameter("p", 0.8, "the probability of going on"),
            Parameter(
                "gain",
                "binary",
                "the gain of a relevant item: 1, or linear: its grade, as a share of the query's largest grade if "
                "that is above 1",
                ("binary", "linear"),
            ),
        ),
    )
)

AUC = define(
    Definition(
        name="AUC",
        compute=_area_under_curve,
        meaning="Area under the query's ROC curve: the share of pairs of a relevant item and another item in which "
        "the relevant item is nearer. Relevant items that are not in the list rank after it; without other items the "
        "value is 1.",
        formula="pairs in order / (R (N - R)); a tied pair counts 0, one half, 1",
        source="Mann and Whitney 1947; Hanley and McNeil 1982",
    )
)

nDCG = define(  # noqa: N816
    Definition(
        name="nDCG",
        compute=_weighted_gain,
        meaning="Normalized discounted cumulative gain: the sum of the gains of the ranked items, discounted by the "
        "logarithm of their ranks, divided by the same sum in the best order.",
        formula="sum_{r <= k} gain(r)/log2(r+1) / (the same with all relevant items by descending gain)",
        source="Järvelin and Kekäläinen 2002; gain=exp: Burges et al. 2005; under ties McSherry and Najork 2008, "
        "equation 5",
        graded=True,
        cutoff="optional",
        parameters=(
            Parameter(
                "gain", "linear", "the gain of a grade: the grade itself, or exp: 2^grade - 1", ("linear", "exp")
            ),
            Parameter(
                "ideal",
                "all",
                "the items of the best order: all relevant items, or only those in the list. With list a short list "
                "inflates the value, and missing relevant items count as any other item, also if they continue a "
                "list that was cut off",
                ("all", "list"),
            ),
        ),
    )
)
