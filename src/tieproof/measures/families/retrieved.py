"""Measures of what was retrieved: of the list as a set, in which no order counts, and of how much of it was judged.

Counts are those of the list as it is, and are added up over the queries. A measure of sets is a function of three
numbers, hits, items and R, which no order of ties changes. Measures of judgments read the ties of the unjudged items
(`Ties.unjudged`). The k-th rank is in at most one tie that straddles it, of which s of l items count, and the number
of its m unjudged items among these is hypergeometric.
"""

from collections.abc import Callable

import numpy as np

from tieproof.measures.base import Definition, Estimates, Measure, Parameter, define
from tieproof.measures.families.weighted_ranks import weighted_sum
from tieproof.measures.rank_weights import Geometric
from tieproof.ties import FloatArray, IntArray, Ties

ValueOfSet = Callable[[FloatArray, FloatArray, FloatArray, Measure], FloatArray]
"""The value of a measure of sets, from the hits, the number of items, which may be infinite, and R, (Q,) each."""

OF_SETS: dict[str, ValueOfSet] = {
    "SetP": lambda hits, items, relevant, measure: hits / items,
    "SetRelP": lambda hits, items, relevant, measure: hits / np.minimum(items, relevant),
    "SetR": lambda hits, items, relevant, measure: hits / relevant,
    "SetF": lambda hits, items, relevant, measure: (
        (1.0 + float(measure["beta"])) * hits / (float(measure["beta"]) * relevant + items)
    ),
    "SetAP": lambda hits, items, relevant, measure: hits / items * (hits / relevant),
}
"""The measures of sets by their names. A further relevant item lowers none of them, another item raises none."""


def value_of_set(
    measure: Measure, ties: Ties, relevant: IntArray | int = 0, others: FloatArray | int = 0
) -> FloatArray:
    """Return the value of each list with so many more relevant and other items, (Q,)."""
    items = np.maximum(ties.n_items + relevant + others, 1.0)
    hits, all_relevant = (ties.listed + relevant).astype(np.float64), np.maximum(ties.n_relevant, 1.0)
    return np.asarray(OF_SETS[measure.name](hits, items, all_relevant, measure))


def _of_set(ties: Ties, measure: Measure) -> Estimates:
    value = value_of_set(measure, ties)
    return Estimates(value, value, value, np.zeros_like(value))


def _define_set(name: str, meaning: str, formula: str, source: str, *parameters: Parameter) -> Measure:
    return define(Definition(name, _of_set, meaning, formula, source, parameters=parameters))


SetP = _define_set(
    "SetP",
    "Precision of the retrieved set: the share of relevant items in the list, however long it is. In embeddings, and "
    "in neighbors unless search is returned, the list is the whole gallery.",
    "hits / N",
    "Cleverdon et al. 1966; trec_eval (set_P)",
)

SetRelP = _define_set(
    "SetRelP",
    "Relative precision of the retrieved set: the hits, as a share of the most hits possible in its length.",
    "hits / min(N, R)",
    "trec_eval (set_relative_P)",
)

SetR = _define_set(
    "SetR",
    "Recall of the retrieved set: the share of the relevant items that are in the list.",
    "hits / R",
    "Cleverdon et al. 1966; trec_eval (set_recall)",
)

SetF = _define_set(
    "SetF",
    "Weighted harmonic mean of the precision P and the recall of the retrieved set.",
    "(beta + 1) SetP SetR / (beta SetP + SetR)",
    "van Rijsbergen 1979, Information Retrieval, chapter 7; trec_eval (set_F), where beta is not squared",
    Parameter("beta", 1, "the importance of recall relative to precision", limits=(0.0, float("inf"))),
)

SetAP = _define_set(
    "SetAP",
    "Average precision of the retrieved set, whose relevant items all have its precision.",
    "SetP SetR",
    "trec_eval (set_map)",
)


def _unjudged(ties: Ties) -> Ties:
    """Return the ties of the unjudged items; there are none if all are judged."""
    if ties.unjudged is not None:
        return ties.unjudged
    none = np.zeros(0, dtype=np.int64)
    return Ties(none, none, none, none, none, n_relevant=np.zeros_like(ties.n_items), n_items=ties.n_items)


def _share(ties: Ties, measure: Measure) -> Estimates:
    """Estimate the share of unjudged items among the first k ranks, or of judged ones among the first k items."""
    of_unjudged, judged, cutoff = _unjudged(ties), measure.name == "Judged", measure.last_rank(ties)
    last = np.minimum(cutoff, ties.n_items)
    ends = of_unjudged.k + of_unjudged.l - last[of_unjudged.query]
    above = np.bincount(of_unjudged.query, np.where(ends <= 0, of_unjudged.m, 0), ties.n_queries)
    rows = np.flatnonzero((ends > 0) & (of_unjudged.k < last[of_unjudged.query]))
    query, l, m = of_unjudged.query[rows], of_unjudged.l[rows], of_unjudged.m[rows]
    places = last[query] - of_unjudged.k[rows]
    if judged:
        counted = last.copy()
        counted[query] -= places
        above, m = counted - above, l - m
    lower, expected, upper = (above.astype(np.float64) for _ in range(3))
    lower[query] += np.maximum(places - (l - m), 0)
    expected[query] += places * m / l
    upper[query] += np.minimum(places, m)
    variance = np.zeros_like(lower)
    variance[query] = places * (m / l) * ((l - m) / l) * ((l - places) / np.maximum(l - 1, 1))
    return Estimates(lower, expected, upper, variance).divided_by(np.maximum(last if judged else cutoff, 1.0))


def _residual(ties: Ties, measure: Measure) -> Estimates:
    of_unjudged, weights = _unjudged(ties), Geometric(float(measure["p"]))
    sums = weighted_sum(of_unjudged, weights, measure.last_rank(ties), np.ones(ties.n_queries))
    behind = np.where(of_unjudged.n_relevant > 0, weights.power(ties.n_items).hi, 0.0)
    return Estimates(sums.lower + behind, sums.expected + behind, sums.upper + behind, sums.variance)


OF_JUDGMENTS = " In embeddings and lists every item counts as judged."

Judged = define(
    Definition(
        name="Judged",
        compute=_share,
        meaning="The share of documents with a judgment among the first k of a run. A negative grade is no judgment, "
        "as in trec_eval." + OF_JUDGMENTS,
        formula="judged documents / min(k, N)",
        source="ir_measures (Judged), which counts negative grades as judgments",
        cutoff="required",
        unjudged=True,
        graded=True,
    )
)

Unjudged = define(
    Definition(
        name="Unjudged",
        compute=_share,
        meaning="The share of documents without a judgment, or with a negative grade, among the first k ranks of a "
        "run; ranks behind its end count as judged." + OF_JUDGMENTS,
        formula="unjudged documents / k",
        source="trec_eval 10 (unj)",
        cutoff="required",
        unjudged=True,
        graded=True,
    )
)

RBPResidual = define(
    Definition(
        name="RBPResidual",
        compute=_residual,
        meaning="What RBP would gain if all documents without a judgment, and all that might follow the list, were "
        "relevant; 0 if every document in the list is judged, as in trec_eval. A negative grade is no judgment."
        + OF_JUDGMENTS,
        formula="(1-p) sum over unjudged ranks r of p^(r-1), plus p^N; 0 if none is unjudged",
        source="Moffat and Zobel 2008, section 3.3; trec_eval 10 (rbp_resid, with p=0.9)",
        unjudged=True,
        graded=True,
        parameters=(Parameter("p", 0.8, "the probability of going on"),),
    )
)


def _define_count(
    name: str,
    count: Callable[[Ties], IntArray],
    meaning: str,
    formula: str,
    theirs: str,
    graded: bool = False,
    unjudged: bool = False,
) -> Measure:
    def compute(ties: Ties, measure: Measure) -> Estimates:
        value = count(ties).astype(np.float64)
        return Estimates(value, value, value, np.zeros_like(value))

    meaning += " Counts are added up over the queries, not averaged."
    source = f"trec_eval ({theirs})"
    return define(Definition(name, compute, meaning, formula, source, graded=graded, unjudged=unjudged, total=True))


NumQ = _define_count(
    "NumQ", lambda ties: np.ones_like(ties.n_items), "The number of evaluated queries.", "1", "num_q", graded=True
)
NumRet = _define_count(
    "NumRet",
    lambda ties: ties.n_items,
    "The number of retrieved items: the length of the list; in embeddings, and in neighbors unless search is "
    "returned, of the gallery.",
    "N",
    "num_ret",
    graded=True,
)
NumRel = _define_count(
    "NumRel", lambda ties: ties.n_relevant, "The number of relevant items, in the list or not.", "R", "num_rel"
)
NumRelRet = _define_count(
    "NumRelRet", lambda ties: ties.listed, "The number of relevant items in the list.", "hits", "num_rel_ret"
)
NumNonRelJudgedRet = _define_count(
    "NumNonRelJudgedRet",
    lambda ties: ties.n_items - ties.listed - _unjudged(ties).listed,
    "The number of items in the list that were judged not relevant. A negative grade is no judgment." + OF_JUDGMENTS,
    "N - hits - unjudged items",
    "num_nonrel_judged_ret",
    unjudged=True,
)
