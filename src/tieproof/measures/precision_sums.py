"""Sums of precisions over the ranks of relevant items: what one tie adds to average precision.

k, n, l, m are those of `Ties`; s is how many of the tie's l places count (all, or those above a cutoff). The
sums cancel (a tie far down adds m hits less nearly as much again), so they are pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tieproof.measures.numbers import Pair, blockwise, once
from tieproof.measures.rank_weights import HARMONIC
from tieproof.ties import FloatArray, IntArray

_SMALL = 32  # finding equal ties costs more than computing small ones


class Terms(NamedTuple):
    """What each tie of several items adds to a sum of precisions at worst, on average and at best; the variance."""

    lower: FloatArray
    expected: FloatArray
    upper: FloatArray
    variance: FloatArray


@dataclass(frozen=True)
class PrecisionSum:
    """A way of adding up precisions.

    add(starts, k, n, l, last, several) : the sum of each query, given those of its ties of several items
    row(k, n, count) : `count` relevant items at ranks k+1 … k+count
    mean(k, n, l, m, s) : the mean over all arrangements of a tie
    variance(k, n, l, m, s) : the variance over them
    """

    add: Callable[[IntArray, IntArray, IntArray, IntArray, IntArray, FloatArray], FloatArray]
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

    def terms(self, k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> Terms:
        """Return the terms of ties of which s places count."""
        (upper,) = blockwise(lambda k, n, m, s: (self.best(k, n, m, s).hi,), k, n, m, s)
        lower, expected, variance = upper.copy(), upper.copy(), np.zeros(len(upper))
        ambiguous = np.flatnonzero(m < l)
        if ambiguous.size:
            tied = tuple(column[ambiguous] for column in (k, n, l, m, s))
            lower[ambiguous], expected[ambiguous] = blockwise(
                lambda k, n, l, m, s: (self.worst(k, n, l, m, s).hi, self.mean(k, n, l, m, s).hi), *tied
            )
            variance[ambiguous] = self.variance(*tied)
        return Terms(lower, expected, upper, variance)


class _Ranks(PrecisionSum):
    """Every hit adds its precision. What most evaluations ask for has a kernel."""

    def terms(self, k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> Terms:
        """Return the terms of ties of which s places count."""
        terms = np.empty((4, len(k)))
        if len(k):
            from tieproof.measures.precision_terms import FAR, LONG, precision_terms

            end = k + s
            long = (m < l) & (s > LONG)
            followed = (m < l) & ~(long & (k <= FAR * s))
            sums = HARMONIC.sums.up_to(int(end.max()))
            squares = HARMONIC.squares.up_to(int(end[long].max(initial=0)))
            room = np.empty((3, s[followed].max(initial=0)))
            precision_terms(k, n, l, m, s, sums, squares, room, terms)
        return Terms(*terms)


def _add_precisions(starts: IntArray, *columns: Any) -> FloatArray:
    from tieproof.measures.sums_by_query import add_precisions

    sums = np.zeros(len(starts) - 1)
    add_precisions(False, starts, *(*columns, sums))
    return sums


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


def _variance(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
    """Return the variance of sum_i X_i (n + X_1 + … + X_i)/(k+i) over the first s places of each tie.

    Constant time per tie where the tie is large against its depth or holds one relevant item; linear in s elsewhere.
    """
    return RANKS.terms(k, n, l, m, s).variance


RANKS = _Ranks(_add_precisions, _row, _mean, _variance)
"""Every hit adds its precision."""


def _before(k: IntArray, length: IntArray) -> Pair:
    """Return the sum of 1/i over i = k … k+length-1, without i = 0."""
    start = np.maximum(k - 1, 0)
    return HARMONIC.sum(start, np.maximum(k + length - 1, start))


def _add_trapezoids(starts: IntArray, *columns: Any) -> FloatArray:
    from tieproof.measures.sums_by_query import add_precisions

    sums = np.zeros(len(starts) - 1)
    add_precisions(True, starts, *(*columns, sums))
    return sums


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
    from tieproof.measures.arrangements import trapezoid_variances

    def compute(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> tuple[FloatArray]:
        variance = np.zeros(len(k))
        trapezoid_variances(k, n, l, m, s, np.empty((3, s.max(initial=0))), variance)
        return (variance,)

    variance = np.zeros(len(k))
    small = s <= _SMALL
    (variance[small],) = compute(*(x[small] for x in (k, n, l, m, s)))
    (variance[~small],) = once(compute, *(x[~small] for x in (k, n, l, m, s)))
    return variance


TRAPEZOIDS = PrecisionSum(_add_trapezoids, _trapezoid_row, _trapezoid_mean, _trapezoid_variance)
"""Every hit adds the mean of the precisions before it and at it."""
