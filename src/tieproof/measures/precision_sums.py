"""Sums of precisions over the ranks of relevant items, and `AP(norm=hits)@k`, which divides by hits."""

import numpy as np

from tieproof.measures.base import Estimates
from tieproof.measures.numbers import Pair, add_by_query, groups_of, once, sum_by_query, total
from tieproof.measures.rank_weights import HARMONIC, WeightTables
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, Ties


def best(k: IntArray, n: IntArray, m: IntArray, s: IntArray) -> Pair:
    """Return the sum with the relevant items first."""
    return _row(k, n, np.minimum(m, s))


def worst(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> Pair:
    """Return the sum with the relevant items last; those that do not fit beyond the cutoff are just above it."""
    hits = np.maximum(0, s - (l - m))
    return _row(k + s - hits, n, hits)


def _row(k: IntArray, n: IntArray, count: IntArray) -> Pair:
    """Return sum_{j=1..count} (n+j)/(k+j) = count + (n-k) (H(k+count) - H(k))."""
    return (n - k) * HARMONIC.sum(k, k + count) + count


def mean(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> Pair:
    """Return the mean over all arrangements, (m/l) sum_{i=1..s} (n + 1 + (i-1) rho)/(k+i), rho = (m-1)/(l-1)."""
    others = np.maximum(l - 1, 1)
    scaled = Pair.of((n + 1) * others - (m - 1) * (k + 1)) * HARMONIC.sum(k, k + s) + (m - 1) * s
    return scaled * m / (l * others)


def terms_of_ties(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
    """Return the worst, mean and best sums of ties of which s ranks count, and their variance, (4, T)."""
    # Constant time per tie where it is large against its depth or holds one relevant item; linear in s elsewhere.
    terms, longest = np.empty((4, len(k))), int(s.max(initial=0))
    tables = HARMONIC.tables(int((k + s).max(initial=0)), longest)
    precision_terms(k, n, l, m, s, tables, np.empty((3, longest)), terms)
    return terms


def trapezoids_of_ties(k: IntArray, n: IntArray, l: IntArray, m: IntArray) -> FloatArray:
    """Return the contributions of ties to a sum of trapezoids, (4, T); large equal ties are computed once."""
    tables = HARMONIC.tables(int((k + l).max(initial=0)), 0)

    def compute(k: IntArray, n: IntArray, l: IntArray, m: IntArray) -> FloatArray:
        terms = np.empty((4, len(k)))
        trapezoid_terms(k, n, l, m, tables, np.empty((3, l.max(initial=0))), terms)
        return terms

    return once(compute, 4, l, k, n, l, m)


@native
def precision_terms(
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    s: IntArray,
    harmonic: WeightTables,
    room: Output[FloatArray],  # (3, the largest s)
    terms: Output[FloatArray],
) -> None:
    """Write the rows of `terms`: lower, expected and upper value and variance of ties of which s ranks count."""


@native
def trapezoid_terms(
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    harmonic: WeightTables,
    room: Output[FloatArray],  # (3, items in the largest tie)
    terms: Output[FloatArray],
) -> None:
    """Write the rows of `terms`: lower, expected and upper part of ties in a sum of trapezoids, and variance."""


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
