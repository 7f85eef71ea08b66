"""Sums over the ties of each query, by kernels: most ties are single items, and nothing is kept for each of them.

The ties of query q are starts[q] … starts[q+1]-1; those from rank last[q] on do not count. Terms are added up in the
order of the ties.
"""

from tieproof.native.calls import native
from tieproof.ties import FloatArray, IntArray


@native
def add_precisions(
    trapezoid: bool,
    starts: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,
    last: IntArray,
    several: FloatArray,
    sums: FloatArray,
) -> None:
    """Add up the precisions at single items, and what is given for each tie of several that begins above `last`.

    trapezoid: the mean of the precision before an item, 1 at the first rank, and at it, instead of that at it.
    """


@native
def certain_hits(starts: IntArray, k: IntArray, l: IntArray, m: IntArray, last: IntArray, hits: IntArray) -> None:
    """Count the places down to rank `last` that ties of relevant items only take."""
