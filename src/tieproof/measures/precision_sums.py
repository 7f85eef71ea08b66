"""Sums of precisions over the ranks of relevant items: what one tie adds to average precision.

k, n, l, m are those of `Ties`; s is how many of the tie's l places count (all, or those above a cutoff). The
sums cancel (a tie far down adds m hits less nearly as much again), so they are pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tieproof.measures.kernels import precision_terms, trapezoid_variances
from tieproof.measures.numbers import Pair, once
from tieproof.measures.rank_weights import HARMONIC
from tieproof.ties import FloatArray, IntArray

_SMALL = 32  # finding equal ties costs more than computing small ones


@dataclass(frozen=True)
class PrecisionSum:
    """A way of adding up precisions.

    row(k, n, count) : `count` relevant items at ranks k+1 … k+count
    mean(k, n, l, m, s) : the mean over all arrangements of a tie
    variance(k, n, l, m, s) : the variance over them
    """

    row: Callable[[IntArray, IntArray, IntArray], Pair]
    mean: Callable[[IntArray, IntArray, IntArray, IntArray, IntArray], Pair]
    variance: Callable[[IntArray, IntArray, IntArray, IntArray, IntArray], FloatArray]

    def best(self, k: IntArray, n: IntArray, m: IntArray, s: IntArray) -> Pair:
        """Return the sum with the relevant items first."""
        return self.row(k, n, np.minimum(m, s))

    def worst(self, k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> Pair:
        """Return the sum with the relevant items last: what of them does not fit below the cutoff comes at it."""
        hits = np.maximum(0, s - (l - m))
        return self.row(k + s - hits, n, hits)


def _row(k: IntArray, n: IntArray, count: IntArray) -> Pair:
    """Return sum_{j=1..count} (n+j)/(k+j) = count + (n-k) (H(k+count) - H(k))."""
    return (n - k) * HARMONIC.sum(k, k + count) + count


def _mean(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> Pair:
    """Return (m/l) sum_{i=1..s} (n + 1 + (i-1) rho)/(k+i), rho = (m-1)/(l-1)."""
    return _mean_of(n + 1, HARMONIC.sum(k, k + s), k + 1, l, m, s)


def _mean_of(first: IntArray, inverses: Pair, rank: IntArray, l: IntArray, m: IntArray, s: IntArray) -> Pair:
    """Return (m/l) sum_{i=0..s-1} (first + i rho)/(rank + i), given the sum of 1/(rank + i)."""
    others = np.maximum(l - 1, 1)
    scaled = Pair.of(first * others - (m - 1) * rank) * inverses + (m - 1) * s
    return scaled * m / (l * others)


def terms_of_ties(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
    """Return what ties of which s places count add at worst, on average and at best, and the variance, (4, T).

    Constant time per tie where it is large against its depth or holds one relevant item; linear in s elsewhere.
    """
    terms, longest = np.empty((4, len(k))), int(s.max(initial=0))
    tables = HARMONIC.tables(int((k + s).max(initial=0)), longest)
    precision_terms(k, n, l, m, s, tables, np.empty((3, longest)), terms)
    return terms


def _variance(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
    """Return the variance of sum_i X_i (n + X_1 + … + X_i)/(k+i) over the first s places of each tie."""
    variance: FloatArray = terms_of_ties(k, n, l, m, s)[3]
    return variance


RANKS = PrecisionSum(_row, _mean, _variance)
"""Every hit adds its precision."""


def _before(k: IntArray, length: IntArray) -> Pair:
    """Return the sum of 1/i over i = k … k+length-1, without i = 0."""
    start = np.maximum(k - 1, 0)
    return HARMONIC.sum(start, np.maximum(k + length - 1, start))


def _trapezoid_row(k: IntArray, n: IntArray, count: IntArray) -> Pair:
    """Return the mean of the rows at ranks k+1 … and, for the precisions before the hits, k …."""
    return (_row(k, n, count) + ((n - k) * _before(k, count) + count)) * 0.5


def _trapezoid_mean(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> Pair:
    """Return the mean of the two sums; at rank 1 the precision before counts as 1, where it would be 0/0.

    Without items before, the sum over i of (i-1) rho/(i-1) gives the first place rho; it takes 1.
    """
    others = np.maximum(l - 1, 1)
    first = Pair.of(np.where(k == 0, l - m, 0)) * m / l / others
    return (_mean(k, n, l, m, s) + _mean_of(n, _before(k, s), k, l, m, s) + first) * 0.5


def _trapezoid_variance(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
    """Return the variance; equal ties are computed once where they are large."""

    def compute(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> tuple[FloatArray]:
        variance = np.zeros(len(k))
        trapezoid_variances(k, n, l, m, s, np.empty((3, s.max(initial=0))), variance)
        return (variance,)

    variance = np.zeros(len(k))
    small = s <= _SMALL
    (variance[small],) = compute(*(x[small] for x in (k, n, l, m, s)))
    (variance[~small],) = once(compute, *(x[~small] for x in (k, n, l, m, s)))
    return variance


TRAPEZOIDS = PrecisionSum(_trapezoid_row, _trapezoid_mean, _trapezoid_variance)
"""Every hit adds the mean of the precisions before it and at it."""
