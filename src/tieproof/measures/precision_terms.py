"""What one tie adds to a sum of precisions at worst, on average and at best, and the variance.

The formulas are those of `precision_sums` and `arrangements`; only what cancels is computed in pairs.
"""

from tieproof.native.calls import native
from tieproof.ties import FloatArray, IntArray

LONG, FAR = 32, 200
"""Variances over s places below k items go by closed form where s > LONG and k <= FAR · s."""


@native
def precision_terms(
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    s: IntArray,
    sums: FloatArray,
    squares: FloatArray,
    room: FloatArray,
    terms: FloatArray,
) -> None:
    """Write lower, expected, upper and variance, the rows of `terms`, of ties of which s places count.

    sums, squares : (2, ranks) running sums of 1/r and of 1/r², hi and lo; the latter for s > LONG
    room : (3, the largest s that has no closed form)
    """
