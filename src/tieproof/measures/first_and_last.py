"""Measures of the rank of the first relevant item (Success, RR) or of the last one (INP).

Only one tie matters: the first (k, 0, l, m) or the last (k, n, l, m) that holds a relevant item. Seen from its
front or its back, the place J of the nearest relevant item has P(J > j) = C(l-j, m) / C(l, m), a product.

>>> import numpy as np
>>> a = np.array
>>> ties = Ties(query=a([0]), k=a([1]), n=a([0]), l=a([3]), m=a([1]), n_relevant=a([1]), n_items=a([9]))
>>> lower, expected, upper, variance = RR(ties)
>>> print(f"{lower[0]:.6f} {expected[0]:.6f} {upper[0]:.6f}")
0.250000 0.361111 0.500000
"""

from typing import Literal

import numpy as np

from tieproof.measures.base import Definition, Estimates, Measure, define
from tieproof.measures.kernels import find_first_reciprocals, find_last_reciprocals, find_successes
from tieproof.measures.rank_weights import HARMONIC
from tieproof.ties import IntArray, Ties

_SMALL = 64
"""Putting equal ties side by side costs more than computing those of so many items."""


def _queries(ties: Ties, at: Literal["first", "last"]) -> IntArray:
    """Return the queries, those whose first or last ties are equal side by side where that is worth it.

    Queries without a tie may be left out.
    """
    if ties.largest <= _SMALL:
        return np.arange(ties.n_queries)
    queries = np.flatnonzero(np.diff(ties.starts))
    tie = ties.starts[queries] if at == "first" else ties.starts[queries + 1] - 1
    if ties.l[tie].max() <= _SMALL:
        return queries
    return queries[np.lexsort((ties.m[tie], ties.l[tie], ties.k[tie]))]


def _success(ties: Ties, measure: Measure) -> Estimates:
    estimates, ends = np.zeros((4, ties.n_queries)), ties.last_ranks(measure.last_rank(ties))
    find_successes(_queries(ties, "first"), ties.starts, ties.k, ties.l, ties.m, ends, estimates)
    return Estimates(*estimates)


def _reciprocal_rank(ties: Ties, measure: Measure) -> Estimates:
    estimates, ends = np.zeros((4, ties.n_queries)), ties.last_ranks(measure.last_rank(ties))
    tables = HARMONIC.tables(min(int(ends.max(initial=0)), ties.depth_of_several), ties.largest)
    queries = _queries(ties, "first")
    find_first_reciprocals(queries, ties.starts, ties.k, ties.l, ties.m, ends, tables, estimates)
    return Estimates(*estimates)


def _inverse_penalty(ties: Ties, measure: Measure) -> Estimates:
    estimates, queries = np.zeros((4, ties.n_queries)), _queries(ties, "last")
    find_last_reciprocals(queries, ties.starts, ties.k, ties.n, ties.l, ties.m, ties.n_relevant, estimates)
    return Estimates(*estimates)


Success = define(
    Definition(
        name="Success",
        compute=_success,
        meaning="Whether a relevant item is among the first k: cumulative match characteristic (CMC), hit rate; "
        "'Recall@k' in metric learning.",
        formula="1 if the first relevant item has rank <= k, else 0",
        source="Moon and Phillips 2001 (CMC); under ties McSherry and Najork 2008, section 3",
        cutoff="required",
        aliases={
            "trec_eval": {"success_{k}": "Success@{k}", "success.{k}": "Success@{k}"},
            "ranx": {"hit_rate@{k}": "Success@{k}"},
            "MTEB": {
                "hit_rate_at_{k}": "Success@{k}",
                "accuracy_at_{k}": "Success@{k}",
                "cv_recall_at_{k}": "Success@{k}",
            },
            "BEIR": {"accuracy@{k}": "Success@{k}"},
            "sentence-transformers": {"accuracy@{k}": "Success@{k}"},
            "torchmetrics": {"hit_rate@{k}": "Success@{k}"},
            "open-metric-learning": {"cmc@{k}": "Success@{k}", "cmc/{k}": "Success@{k}"},
            "re-identification": {"rank-{k}": "Success@{k}", "rank@{k}": "Success@{k}", "cmc@{k}": "Success@{k}"},
            "metric learning (Recall@k of Oh Song et al. 2016)": {"recall@{k}": "Success@{k}"},
        },
    )
)

RR = define(
    Definition(
        name="RR",
        compute=_reciprocal_rank,
        meaning="Reciprocal rank of the first relevant item; 0 when it lies beyond the cutoff.",
        formula="1 / (rank of the first relevant item)",
        source="Voorhees 1999 (TREC-8 question answering); under ties McSherry and Najork 2008, section 3",
        cutoff="optional",
        aliases={
            "trec_eval": {"recip_rank": "RR"},
            "ranx": {"mrr": "RR", "mrr@{k}": "RR@{k}"},
            "ir_measures": {"mrr": "RR", "mrr@{k}": "RR@{k}"},
            "BEIR": {"mrr@{k}": "RR@{k}"},
            "sentence-transformers": {"mrr@{k}": "RR@{k}"},
            "MTEB": {"mrr_at_{k}": "RR@{k}"},
            "torchmetrics": {"RetrievalMRR": "RR", "retrieval_reciprocal_rank": "RR", "mrr": "RR"},
            "pytorch-metric-learning": {"mean_reciprocal_rank": "RR"},
        },
    )
)

INP = define(
    Definition(
        name="INP",
        compute=_inverse_penalty,
        meaning="Inverse negative penalty: the precision at the rank of the last relevant item; 0 when one of "
        "them is not in the list.",
        formula="R / (rank of the last relevant item)",
        source="Ye et al. 2021, Deep Learning for Person Re-identification, section 4.1 (mINP)",
        aliases={"re-identification": {"mINP": "INP"}},
    )
)
