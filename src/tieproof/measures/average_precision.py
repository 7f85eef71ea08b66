"""Average precision and its variants: the mean of the precisions at the ranks of the relevant items.

Within a tie the relevant items first is best and last is worst; in between, means and variances add up over ties
(Nicolaou et al. 2018, section 4.2).

>>> import numpy as np
>>> a = np.array
>>> figure_1 = Ties(query=a([0, 0]), k=a([0, 4]), n=a([0, 1]), l=a([2, 3]), m=a([1, 1]),
...                 n_relevant=a([2]), n_items=a([100]))
>>> lower, expected, upper, variance = AP(figure_1)
>>> print(f"{lower[0]:.6f} {expected[0]:.6f} {upper[0]:.6f}")
0.392857 0.544841 0.700000
"""

import numpy as np

from tieproof.measures.base import Definition, Estimates, Measure, Parameter, define
from tieproof.measures.kernels import add_trapezoids, sum_precisions
from tieproof.measures.numbers import blockwise
from tieproof.measures.precision_of_hits import precision_of_hits
from tieproof.measures.precision_sums import best, trapezoids_of_ties, worst
from tieproof.measures.rank_weights import HARMONIC
from tieproof.ties import FloatArray, IntArray, Ties


def tie_widths(k: IntArray, n: IntArray, l: IntArray, m: IntArray) -> FloatArray:
    """Return what each tie adds to the sum of precisions at best, less what it adds at worst.

    Divided by R they add up to the width of AP's interval.

    >>> tie_widths(*(np.array([value]) for value in (0, 0, 2, 1)))
    array([0.5])
    """
    (widths,) = blockwise(lambda k, n, l, m: ((best(k, n, m, l) - worst(k, n, l, m, l)).hi,), k, n, l, m)
    return widths


def _average_precision(ties: Ties, measure: Measure) -> Estimates:
    last = measure.last_rank(ties)
    if measure["norm"] == "hits":
        return precision_of_hits(ties, ties.n_items if last is None else last)
    divisor = ties.n_relevant
    if measure["norm"] == "min" and last is not None:
        divisor = np.minimum(divisor, last)
    estimates, ends = np.zeros((4, ties.n_queries)), ties.last_ranks(last)
    tables = HARMONIC.tables(min(int(ends.max(initial=0)), ties.depth_of_several), ties.largest)
    room = np.empty((3, ties.largest))
    divisors = divisor.astype(np.float64)
    sum_precisions(ties.starts, ties.k, ties.n, ties.l, ties.m, ends, tables, room, divisors, estimates)
    return Estimates(*estimates)


def _trapezoid(ties: Ties, measure: Measure) -> Estimates:
    estimates, several = np.zeros((4, ties.n_queries)), ties.several
    terms = trapezoids_of_ties(*(column[several] for column in (ties.k, ties.n, ties.l, ties.m)))
    add_trapezoids(ties.starts, ties.k, ties.n, ties.l, terms, estimates)
    return Estimates(*estimates).divided_by(np.maximum(ties.n_relevant, 1.0))


AP = define(
    Definition(
        name="AP",
        compute=_average_precision,
        meaning="Average precision: the mean over the relevant items of the precision at their rank; 0 for "
        "those beyond the cutoff. AP@R cuts off at the query's number of relevant items (MAP@R).",
        formula="(1/R) sum over hits at ranks r <= k of (hits up to r) / r",
        source="Buckley and Voorhees 2000; under ties Nicolaou et al. 2018, section 4.2, and McSherry and Najork "
        "2008, equation 6; AP@R: Musgrave et al. 2020, equation 2",
        cutoff="optional",
        rank_r=True,
        parameters=(
            Parameter(
                "norm",
                "R",
                "what the sum is divided by: R, the relevant items; min, the smaller of R and the cutoff; hits, "
                "the relevant items above the cutoff (not monotone: one more hit can lower it)",
                choices=("R", "min", "hits"),
            ),
        ),
        aliases={
            "trec_eval": {"map": "AP", "map_cut_{k}": "AP@{k}", "map_cut.{k}": "AP@{k}"},
            "ranx": {"map": "AP", "map@{k}": "AP@{k}"},
            "ir_measures": {"map": "AP", "map@{k}": "AP@{k}"},
            "BEIR": {"map@{k}": "AP@{k}"},
            "MTEB": {"map_at_{k}": "AP@{k}"},
            "sentence-transformers": {"map@{k}": "AP(norm=min)@{k}"},
            "open-metric-learning": {"map": "AP", "map@{k}": "AP(norm=hits)@{k}", "map/{k}": "AP(norm=hits)@{k}"},
            "torchmetrics": {
                "RetrievalMAP": "AP",
                "retrieval_average_precision": "AP",
                "map@{k}": "AP(norm=hits)@{k}",
            },
            "pytorch-metric-learning": {
                "mean_average_precision": "AP",
                "mean_average_precision_at_r": "AP@R",
                "map@r": "AP@R",
                "map_at_r": "AP@R",
            },
            "re-identification": {"mAP": "AP"},
        },
    )
)

AP_TRAPEZOID = define(
    Definition(
        name="AP(trapezoid)",
        compute=_trapezoid,
        meaning="Average precision by the trapezoid rule: every relevant item counts the mean of the precision "
        "before it (1 at rank 1) and at it.",
        formula="(1/R) sum over hits at ranks r of ((hits before r)/(r-1) + (hits up to r)/r) / 2",
        source="Philbin et al. 2007 (the Oxford buildings protocol); Radenović et al. 2018 (revisitop)",
    )
)
