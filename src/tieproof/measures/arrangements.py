"""The variance of a sum over the places of a tie and over the pairs of its places.

The measures of the average-precision family are, within a tie of l items of which m are relevant,

    Z = sum_i X_i a_i + sum_{i<j} X_i X_j b_j,

X_i = 1 where place i holds a relevant item, every arrangement equally likely. The textbook route, E[Z²] - E[Z]²,
cancels. Here Z is split into orthogonal parts (Hoeffding's decomposition for sampling without replacement), and
only squares are added:

    Var Z = m (l-m) / (l (l-1)) · sum_i (g_i - mean g)²
          + m (m-1) (l-m) (l-m-1) / (l (l-1) (l-2) (l-3)) · sum_{i<j} B_ij²

with r_i = (i-1) b_i + sum_{j>i} b_j the sum of row i of the matrix of pairs (b_max(i,j), 0 on the diagonal),
g_i = a_i + (m-1)/(l-2) r_i, and B_ij = b_max(i,j) - (r_i + r_j)/(l-2) + sum r / ((l-1)(l-2)) the matrix with
its rows and columns centred. Adding a constant to all a or to all b changes nothing.
"""

from collections.abc import Callable

import numpy as np

from tieproof.measures.numbers import blockwise
from tieproof.measures.rank_weights import HARMONIC, one_of
from tieproof.ties import FloatArray, IntArray

_LONG, _FAR = 32, 200
"""Sums over s places below k items go by closed form where s > _LONG and k <= _FAR · s. Their cancellation grows
as (k/s)^5; at these limits leaves some 1e-14 of the pairs' 1e-30."""

_SHORT = 64
"""Places up to which one relevant item is followed through all of them; beyond, running sums are quicker."""


def _combine(linear: FloatArray, pairs: FloatArray, l: IntArray, m: IntArray) -> FloatArray:
    """Return the variance from the two sums of squares."""
    single = m / l * ((l - m) / (l - 1))
    double = single * ((m - 1) / np.maximum(l - 2, 1)) * ((l - m - 1) / np.maximum(l - 3, 1))
    return single * linear + double * pairs


def precision_variance(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
    """Return the variance of sum_i X_i (n + X_1 + … + X_i)/(k+i) over the first s places of each tie, shape (T,).

    Constant time per tie where the tie is large against its depth or holds one relevant item; linear in s elsewhere.
    """
    variance = np.zeros(len(l))
    closed = (s > _LONG) & (k <= _FAR * s)
    rows = np.flatnonzero(closed)
    if rows.size:
        (variance[rows],) = blockwise(_precision_variance, k[rows], n[rows], l[rows], m[rows], s[rows])
    compiled = ~closed & ((m > 1) | (s <= _SHORT))
    rows = np.flatnonzero(~closed & ~compiled)  # one relevant item: no pairs
    variance[rows] = (n[rows] + 1.0) * (n[rows] + 1.0) * one_of(HARMONIC, k[rows], l[rows], s[rows])[1]
    rows = np.flatnonzero(compiled)
    if rows.size:
        from tieproof.measures.arrangement_kernels import precision_variances

        variance[rows] = compiled_variances(precision_variances, *(column[rows] for column in (k, n, l, m, s)))
    return variance


def trapezoid_variance(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
    """Return the same for hits that add the mean of the precisions before them and at them; linear in s."""
    from tieproof.measures.arrangement_kernels import trapezoid_variances

    return compiled_variances(trapezoid_variances, k, n, l, m, s)


def compiled_variances(
    kernel: Callable[..., None], k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray
) -> FloatArray:
    """Return what one of `arrangement_kernels` finds, shape (T,)."""
    variance = np.zeros(len(k))
    kernel(k, n, l, m, s, np.empty((3, s.max(initial=0))), variance)
    return variance


def _precision_variance(k: IntArray, n: IntArray, l: IntArray, m: IntArray, s: IntArray) -> tuple[FloatArray]:
    """Return the same in constant time: every sum in terms of sum w and sum w², in pairs."""
    w = HARMONIC.sum(k, k + s)
    ww = HARMONIC.squares.between(k, k + s)
    before = s - (k + 1) * w  # sum (i-1) w
    before_w = w - (k + 1) * ww  # sum (i-1) w²
    before_before = before - (k + 1) * before_w  # sum (i-1)² w²
    pairs = (w * w - ww) * 0.5  # sum_{i<j} w w
    pairs_before = before - (k + 1) * pairs  # sum_{i<j} (i-1) w w
    row_row = before_before + before_w + 4.0 * pairs_before  # sum r²

    # Multiplied by what they are divided by in the end: what is left after the cancellation needs no pair.
    weight_spread = (ww * l - w * w).hi / l
    common = ((before_w + pairs) * l - 2.0 * w * before).hi / l
    square_of_before = before * before
    row_spread = (row_row * l - 4.0 * square_of_before).hi / l
    square = ((before_w * (l - 2) - row_row) * (l - 1) + 2.0 * square_of_before).hi / ((l - 1.0) * (l - 2.0))

    c, share = n + 1.0, (m - 1) / (l - 2)
    linear = c * c * weight_spread + 2.0 * c * share * common + share * share * row_spread
    return (_combine(linear, square, l, m),)
