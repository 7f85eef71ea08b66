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

from typing import NamedTuple

import numpy as np

from tieproof.measures.base import Definition, Estimates, Measure, define
from tieproof.measures.numbers import groups_of, once, total
from tieproof.measures.rank_weights import HARMONIC, one_of
from tieproof.ties import FloatArray, IntArray, Ties


class _First(NamedTuple):
    """The first tie of each query that has one: its query, k, l, m, and how many of its places count."""

    query: IntArray
    k: IntArray
    l: IntArray
    m: IntArray
    s: IntArray


def _first_of_each_query(ties: Ties, measure: Measure) -> _First:
    """Return the first tie of each query, where it begins above the cutoff."""
    rows = ties.first[:-1]
    last = measure.last_rank(ties)
    if last is not None:
        rows = rows[ties.k[rows] < last[ties.query[rows]]]
    query, k, l = ties.query[rows], ties.k[rows], ties.l[rows]
    return _First(query, k, l, ties.m[rows], l if last is None else np.minimum(last[query] - k, l))


def _waiting(width: int, l: IntArray, m: IntArray, steps: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return P(J = j), j = 1 … width along axis 0 (0 after `steps`), and P(J > steps)."""
    j = np.arange(1, width + 1)[:, None]
    counts = j <= steps
    left = np.maximum(l - j + 1, 1)
    survival = np.cumprod(np.where(counts, np.maximum(l - m - j + 1, 0) / left, 1.0), axis=0)
    before = np.concatenate((np.ones((1, len(l))), survival[:-1]))
    return np.where(counts, before * (m / left), 0.0), survival[-1]


def _padded(steps: IntArray) -> IntArray:
    """Return the power of two at or above `steps`: few shapes to compute with."""
    power: IntArray = np.ldexp(1.0, np.frexp(np.maximum(steps - 1.0, 0.0))[1]).astype(np.int64)
    return power


def _success(ties: Ties, measure: Measure) -> Estimates:
    query, _, l, m, s = _first_of_each_query(ties, measure)
    lower, expected, upper, variance = np.zeros((4, ties.n_queries))
    upper[query] = 1.0
    lower[query] = expected[query] = np.where(s > l - m, 1.0, 0.0)
    open_ = np.flatnonzero(s <= l - m)
    if open_.size:
        some, none = once(_any_and_none, l[open_], m[open_], s[open_])
        expected[query[open_]] = np.where(none < 0.5, 1.0 - none, some)
        variance[query[open_]] = some * none
    return Estimates(lower, expected, upper, variance)


def _any_and_none(l: IntArray, m: IntArray, s: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the probabilities that some, and that none, of m relevant items among l is in the first s places.

    Each adds up or multiplies positive terms, so that neither loses digits when it is small; m and s play the
    same part, and the smaller is the number of factors.
    """
    steps, others = np.minimum(m, s), np.maximum(m, s)
    some, none = np.zeros((2, len(l)))
    for width, rows in groups_of(_padded(steps)):
        hit, none[rows] = _waiting(width, l[rows], others[rows], steps[rows])
        some[rows] = total(hit)
    return some, none


def _steps(k: IntArray, l: IntArray, m: IntArray) -> IntArray:
    """Return how many places of a tie can change a value by 2^-60 of itself.

    P(J > j) <= (1 - m/l)^j < 2^(-1.44 j m/l), and no two values differ by more than a factor (k + l)^2, nor
    their squared distances from the mean by more than (k + l)^4 l^2.
    """
    bits = 64 + 6 * np.frexp((k + l).astype(np.float64))[1].astype(np.int64)
    steps: IntArray = np.minimum(l - m + 1, bits * l // m + 1)
    return steps


def _reciprocal_rank(ties: Ties, measure: Measure) -> Estimates:
    query, k, l, m, s = _first_of_each_query(ties, measure)
    lower, expected, upper, variance = np.zeros((4, ties.n_queries))
    upper[query] = 1.0 / (k + 1)
    lower[query] = np.where(s > l - m, 1.0 / (k + l - m + 1), 0.0)
    expected[query] = upper[query]
    for one, compute in ((True, _one_reciprocal), (False, _first_reciprocal)):
        chosen = np.flatnonzero((m < l) & ((m == 1) == one))
        if chosen.size:
            expected[query[chosen]], variance[query[chosen]] = once(
                compute, k[chosen], l[chosen], m[chosen], s[chosen]
            )
    return Estimates(lower, expected, upper, variance)


def _one_reciprocal(k: IntArray, l: IntArray, m: IntArray, s: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of 1/rank of the one relevant item, 0 beyond the first s places."""
    return one_of(HARMONIC, k, l, s)


def _first_reciprocal(k: IntArray, l: IntArray, m: IntArray, s: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of 1/(k+J), 0 for J > s, from the distances 1/(k+1) - 1/(k+J)."""
    expected, variance = np.zeros((2, len(k)))
    steps = np.minimum(_steps(k, l, m), s)
    for width, rows in groups_of(_padded(steps)):
        chance, rest = _waiting(width, l[rows], m[rows], steps[rows])
        first = k[rows] + 1.0
        j = np.arange(width)[:, None]
        distance = j / ((first + j) * first)
        mean = total(chance / (first + j))
        mean_distance = total(chance * distance) + rest / first
        expected[rows] = np.where(mean_distance < 0.5 / first, 1.0 / first - mean_distance, mean)
        distance = distance - mean_distance
        variance[rows] = total(chance * (distance * distance)) + rest * (mean * mean)
    return expected, variance


def _inverse_penalty(ties: Ties, measure: Measure) -> Estimates:
    rows = np.flatnonzero(np.diff(ties.query, append=ties.n_queries))  # the last tie of each query
    rows = rows[ties.n[rows] + ties.m[rows] == ties.n_relevant[ties.query[rows]]]
    query, k, l, m = ties.query[rows], ties.k[rows], ties.l[rows], ties.m[rows]
    relevant = ties.n_relevant[query]
    lower, expected, upper, variance = np.zeros((4, ties.n_queries))
    lower[query], upper[query] = relevant / (k + l), relevant / (k + m)
    expected[query] = lower[query]
    ambiguous = np.flatnonzero(m < l)
    if ambiguous.size:
        query, relevant = query[ambiguous], relevant[ambiguous]
        above, spread = once(_last_reciprocal, k[ambiguous], l[ambiguous], m[ambiguous])
        expected[query] += relevant * above
        variance[query] = spread * relevant * relevant
    return Estimates(lower, expected, upper, variance)


def _last_reciprocal(k: IntArray, l: IntArray, m: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of 1/(k+l+1-J) - 1/(k+l), J counted from the back of the tie."""
    mean, variance = np.zeros((2, len(k)))
    steps = _steps(k, l, m)
    for width, rows in groups_of(_padded(steps)):
        chance, _ = _waiting(width, l[rows], m[rows], steps[rows])
        last = (k + l)[rows].astype(np.float64)
        j = np.arange(width)[:, None]
        distance = j / (np.maximum(last - j, 1.0) * last)
        mean[rows] = total(chance * distance)
        distance = distance - mean[rows]
        variance[rows] = total(chance * (distance * distance))
    return mean, variance


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
