"""Average precision divided by the hits above the cutoff, `AP(norm=hits)@k`: the one variant that is not monotone.

The ties above the cutoff contribute sums as for AP. Of the one tie that straddles the cutoff, h relevant items are
above it with the hypergeometric probability C(s,h) C(l-s,m-h) / C(l,m); given h, the s items above it are a tie of
which h are relevant. The bounds are the extremes over all possible h.
"""

import numpy as np

from tieproof.measures.base import Estimates
from tieproof.measures.numbers import Pair, add_by_query, groups_of, sum_by_query, total
from tieproof.measures.precision_sums import best, mean, terms_of_ties, worst
from tieproof.ties import FloatArray, IntArray, Ties


def precision_of_hits(ties: Ties, last: IntArray) -> Estimates:
    """Return the mean precision of the hits down to rank `last` (Q,), 0 without a hit."""
    query, k, n, l, m = ties.query, ties.k, ties.n, ties.l, ties.m
    place = last[query] - k
    inside = np.flatnonzero(place >= l)
    bound = np.maximum(ties.n_relevant, 1).astype(np.float64)
    *sums, variances = _tie_sums(k[inside], n[inside], l[inside], m[inside])
    sums = [sum_by_query(query[inside], terms, bound) for terms in sums]
    variance = add_by_query(query[inside], variances, ties.n_queries)
    hits = np.maximum(add_by_query(query[inside], m[inside], ties.n_queries), 1.0)
    lower, expected, upper = ((x / hits).hi for x in sums)
    estimates = Estimates(lower, expected, upper, variance / (hits * hits))

    straddling = np.flatnonzero((place > 0) & (place < l))
    s = place[straddling]
    k, n, l, m, query = (x[straddling] for x in (k, n, l, m, query))
    fewest = np.maximum(0, s - (l - m))
    for size, rows in groups_of(np.minimum(s, m) - fewest + 1):
        h = fewest[rows] + np.arange(size)[:, None]
        q = query[rows]
        estimates_here = _over_hits(
            h,
            _hypergeometric(h, l[rows], m[rows], s[rows]),
            [x[q] for x in sums],
            variance[q],
            *(np.broadcast_to(x[rows], h.shape) for x in (k, n, s)),
        )
        for whole, part in zip(estimates, estimates_here, strict=True):
            whole[q] = part
    return estimates


def _tie_sums(k: IntArray, n: IntArray, l: IntArray, m: IntArray) -> tuple[Pair, Pair, Pair, FloatArray]:
    """Return lower, expected, upper and variance of the sum of precisions of whole ties."""
    upper = best(k, n, m, l)
    variance = np.zeros(len(k))
    rows = np.flatnonzero((m < l) & (m > 0))
    tie = (k[rows], n[rows], l[rows], m[rows], l[rows])
    lower, expected = (Pair(upper.hi.copy(), upper.lo.copy()) for _ in range(2))
    for whole, sums in ((lower, worst(*tie)), (expected, mean(*tie))):
        whole.hi[rows], whole.lo[rows] = sums.hi, sums.lo
    variance[rows] = terms_of_ties(*tie)[3]
    return lower, expected, upper, variance


def _over_hits(
    h: IntArray,
    probability: FloatArray,
    sums: list[Pair],
    variance: FloatArray,
    k: IntArray,
    n: IntArray,
    s: IntArray,
) -> Estimates:
    """Return the estimates of (sums + sums of a tie of s items, h relevant) / (n + h); h varies along axis 0."""
    *ties, variances = _tie_sums(*(x.reshape(-1) for x in (k, n, s, h)))
    hits = np.maximum(n + h, 1)
    shaped = (Pair(x.hi.reshape(h.shape), x.lo.reshape(h.shape)) for x in ties)
    lower, means, upper = ((tie + x) / hits for tie, x in zip(shaped, sums, strict=True))
    smallest = (np.argmin(means.hi, axis=0), np.arange(h.shape[1]))
    least = Pair(means.hi[smallest], means.lo[smallest])
    above = (means - least).hi
    mean_above = total(probability * above)
    within = (variance + variances.reshape(h.shape)) / (hits * hits)
    distance = above - mean_above
    return Estimates(
        lower.hi.min(axis=0),
        (least + mean_above).hi,
        upper.hi.max(axis=0),
        total(probability * within) + total(probability * distance * distance),
    )


def _hypergeometric(h: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
    """Return C(s,h) C(l-s,m-h) / C(l,m) for all feasible h along axis 0, computed from the mode outwards."""
    t = h[:-1]
    ratio = ((s - t) / (t + 1)) * ((m - t) / (l - s - m + t + 1)).astype(np.float64)
    one = np.ones((1, h.shape[1]))
    down = np.where(ratio < 1.0, ratio, one)
    up = np.where(ratio < 1.0, one, 1.0 / ratio)
    rising = np.concatenate((one, np.cumprod(down, axis=0)))
    falling = np.cumprod(up[::-1], axis=0)[::-1]
    weight: FloatArray = np.multiply(rising, np.concatenate((falling, one)))
    return weight / total(weight)
