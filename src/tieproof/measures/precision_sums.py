"""Sums of precisions over the ranks of relevant items: the contribution of one tie to average precision.

k, n, l, m are those of `Ties`; s is how many of the tie's l places count (all, or those above a cutoff). The
sums cancel (a tie far down adds m hits less nearly as much again), so they are pairs.
"""

import numpy as np

from tieproof.measures.numbers import Pair, once
from tieproof.measures.rank_weights import HARMONIC, WeightTables
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

_SMALL = 32  # up to this size ties are computed one by one, because finding equal ties takes longer


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
    """Return the worst, mean and best sums of ties of which s ranks count, and their variance, (4, T).

    Constant time per tie where it is large against its depth or holds one relevant item; linear in s elsewhere.
    """
    terms, longest = np.empty((4, len(k))), int(s.max(initial=0))
    tables = HARMONIC.tables(int((k + s).max(initial=0)), longest)
    precision_terms(k, n, l, m, s, tables, np.empty((3, longest)), terms)
    return terms


def trapezoids_of_ties(k: IntArray, n: IntArray, l: IntArray, m: IntArray) -> FloatArray:
    """Return the contributions of ties to a sum of trapezoids, (4, T); large equal ties are computed once."""
    tables, terms = HARMONIC.tables(int((k + l).max(initial=0)), 0), np.empty((4, len(k)))

    def compute(k: IntArray, n: IntArray, l: IntArray, m: IntArray) -> tuple[FloatArray, ...]:
        found = np.empty((4, len(k)))
        trapezoid_terms(k, n, l, m, tables, np.empty((3, l.max(initial=0))), found)
        return tuple(found)

    small, large = np.flatnonzero(l <= _SMALL), np.flatnonzero(l > _SMALL)
    terms[:, small] = compute(*(column[small] for column in (k, n, l, m)))
    if large.size:
        terms[:, large] = once(compute, *(column[large] for column in (k, n, l, m)))
    return terms


@native
def precision_terms(
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    s: IntArray,
    harmonic: WeightTables,
    room: Output[FloatArray],
    terms: Output[FloatArray],
) -> None:
    """Write the rows of `terms`: lower, expected and upper value and variance of ties of which s ranks count.

    harmonic : the weights 1/r
    room : (3, the largest s)
    """


@native
def trapezoid_terms(
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    harmonic: WeightTables,
    room: Output[FloatArray],
    terms: Output[FloatArray],
) -> None:
    """Write the rows of `terms`: lower, expected and upper contribution of ties to a sum of trapezoids, and variance.

    harmonic : the weights 1/r
    room : (3, items in the largest tie)
    """
