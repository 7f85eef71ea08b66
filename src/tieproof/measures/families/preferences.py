"""Measures of how many items that are not relevant are ranked above each relevant item: bpref, and BinG.

bpref counts judged items only. Items without a judgment are left out of the ranking before its ties are formed, so
the letters below are then those of the judged items (`Ties.judged`). A relevant item with c items that are not
relevant above it counts max(D - c, 0) / D with D = min(N, R) in bpref, and 1 / log2(c + 2) in BinG. A tie contains o
= l - m items that are not relevant, and c = k - n such items are ranked above the tie. The number of items of the tie
that are ranked above one of its relevant items is uniform on 0 … o, so that all values follow from sums over these
numbers. For two of its relevant items these numbers, sorted, are uniform on all pairs 0 <= a <= b <= o. Therefore
their covariance is v / (o + 2), where v is the variance of the value of one item, and the variance of the sum of all
m is m v (l + 1) / (o + 2).
"""

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Definition, Estimates, Measure, define
from tieproof.measures.cut_off import CutOffTies
from tieproof.measures.numbers import add_by_query
from tieproof.measures.rank_weights import LOGARITHMIC, spread_in_tie
from tieproof.ties import FloatArray, IntArray, Ties


def _binary_preference(ties: Ties, measure: Measure) -> Estimates:
    ties, n_others = _judged(ties, measure)
    divisor = np.maximum(np.minimum(n_others, ties.n_relevant), 1)
    m, others = ties.m, ties.l - ties.m
    first = np.maximum(
        divisor[ties.query] - (ties.k - ties.n), 0
    )  # D times the value of an item before all others of the tie
    last = np.maximum(first - others, 0)
    counted = np.minimum(first, others + 1)  # the positions between the others at which an item counts more than 0
    total = counted * first - counted * (counted - 1) // 2

    sums = _sums(ties, last, m * total / (others + 1), first, _variance(counted, others))
    return sums.divided_by(divisor * np.maximum(ties.n_relevant, 1.0))


def _binary_gain(ties: Ties, measure: Measure) -> Estimates:
    before, others = ties.k - ties.n, ties.l - ties.m
    end = before + others + 1
    first, last = (LOGARITHMIC.sum(place, place + 1).hi for place in (before, end - 1))
    mean = ties.m * (LOGARITHMIC.sum(before, end).hi / (others + 1))
    sums = _sums(ties, last, mean, first, spread_in_tie(LOGARITHMIC, before, others + 1, end) / (others + 1))
    lower, expected, upper, variance = sums.divided_by(np.maximum(ties.n_relevant, 1.0))
    return Estimates(lower, np.clip(expected, lower, upper), upper, variance)


def _sums(
    ties: Ties,
    last: FloatArray | IntArray,  # last, first: its value after and before all other items of the tie
    total: FloatArray | IntArray,  # the mean of the sum of all m in a random order
    first: FloatArray | IntArray,
    variance: FloatArray,  # of its value in a random order
) -> Estimates:
    """Return the sums over the relevant items of each query, from the values of one item of each tie (T,)."""
    m, others = ties.m, ties.l - ties.m
    terms = (m * last, total, m * first, m * variance * ((ties.l + 1) / (others + 2)))
    return Estimates(*(add_by_query(ties.query, values, ties.n_queries) for values in terms))


def _variance(counted: IntArray, others: IntArray) -> FloatArray:
    """Return the variance of c, c - 1, …, 1 and zeros, others + 1 numbers in all that are equally likely."""
    places = others + 1
    spread = 2 * (2 * counted + 1) * places - 3 * counted * (counted + 1)
    shares = counted / places * ((counted + 1) / places)
    return np.where(others > 0, shares * (spread / 12.0), 0.0)


def _judged(ties: Ties, measure: Measure) -> tuple[Ties, IntArray]:
    """Return the ties of the judged items, and how many were judged not relevant, (Q,)."""
    if ties.judged is not None:
        return ties.judged.ties, ties.judged.n_others
    if isinstance(ties, CutOffTies):
        raise InputError(
            f"'{measure}' divides by the number of judged items that are not relevant, which is unknown for lists "
            "that were cut off. Pass whole lists, without n_relevant, or pass qrels and a run to evaluate_run."
        )
    return ties, ties.n_items - ties.listed


bpref = define(
    Definition(
        name="bpref",
        compute=_binary_preference,
        meaning="Binary preference: for each relevant item, the share of the items judged not relevant, at most R of "
        "them, that are ranked below it; bpref is the mean of these shares over the relevant items, and a relevant "
        "item that is not in the list counts 0. In a run, documents without a judgment or with a negative grade are "
        "left out first; in embeddings and lists every item that is not excluded counts as judged.",
        formula="(1/R) sum over relevant items of 1 - min(others judged above it, R) / min(others judged, R)",
        source="Buckley and Voorhees 2004; the divisor min(others judged, R) is that of trec_eval",
        judged_only=True,
    )
)

BinG = define(
    Definition(
        name="BinG",
        compute=_binary_gain,
        meaning="Binary gain: a relevant item gains less, the more items that are not relevant are ranked above it; "
        "relevant items above it cost nothing. BinG is the mean over the relevant items, and one that is not in the "
        "list counts 0.",
        formula="(1/R) sum over relevant items of 1 / log2(2 + others above it)",
        source="trec_eval (binG), 2008, as an experimental measure",
    )
)
