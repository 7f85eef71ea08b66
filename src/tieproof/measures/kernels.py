"""The kernels of the measures, one pass over all ties each; `native/kernels` has them in C.

The ties of query q are starts[q] … starts[q+1]-1, the nearest first; those from rank last[q] on do not count. Terms
are added up in the order of the ties. The rows of `estimates`, (4, Q), are lower, expected, upper value and variance,
and come as zeros.
"""

from typing import NamedTuple

from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

LONG = 32
"""Variances of sums of precisions over more places than these may go by closed form, which takes sums of 1/r²."""

SUMMED = 64
"""Runs up to this length are summed term by term to tell how far their weights spread; longer ones by tables."""


class WeightTables(NamedTuple):
    """What ranks weigh; the weights of `rank_weights` make it, and the kernels here read it.

    sums, squares : (2, ranks + 1) running sums of the weights and of their squares, hi and lo; without sums every
        rank weighs 1, and squares are read for runs longer than LONG alone
    persistence : p > 0 where a run that begins after `start` ranks weighs p^start times the first weights
    """

    sums: FloatArray | None
    squares: FloatArray | None
    persistence: float


@native
def sum_precisions(
    starts: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    harmonic: WeightTables,
    room: Output[FloatArray],
    estimates: Output[FloatArray],
) -> None:
    """Estimate the sum of the precisions at the relevant items of each query.

    harmonic : the weights 1/r
    room : (3, items in the largest tie)
    """


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
    """Write lower, expected, upper and variance, the rows of `terms`, of ties of which s places count.

    harmonic : the weights 1/r
    room : (3, the largest s)
    """


@native
def add_trapezoids(
    starts: IntArray, k: IntArray, n: IntArray, l: IntArray, several: FloatArray, estimates: Output[FloatArray]
) -> None:
    """Add up, for each query, what is given for its ties of several items, (4, such ties), and what single items add.

    An item adds the mean of the precision before it, 1 at the first rank, and at it.
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
    """Write lower, expected, upper and variance of what ties add to a sum of trapezoids, the rows of `terms`.

    harmonic : the weights 1/r
    room : (3, items in the largest tie)
    """


@native
def sum_weights(
    starts: IntArray,
    k: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    weights: WeightTables,
    bounds: FloatArray,
    estimates: Output[FloatArray],
) -> None:
    """Estimate the sum of the weights of the relevant items' ranks of each query; `bounds` (Q,) are on these sums."""


@native
def find_successes(
    queries: IntArray,
    starts: IntArray,
    k: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    estimates: Output[FloatArray],
) -> None:
    """Estimate whether a relevant item is found, for `queries`.

    Neighbours with equal ties cost one.
    """


@native
def find_first_reciprocals(
    queries: IntArray,
    starts: IntArray,
    k: IntArray,
    l: IntArray,
    m: IntArray,
    last: IntArray,
    harmonic: WeightTables,
    estimates: Output[FloatArray],
) -> None:
    """Estimate 1 / the rank of the first relevant item, for `queries`.

    Neighbours with equal ties cost one.
    """


@native
def find_last_reciprocals(
    queries: IntArray,
    starts: IntArray,
    k: IntArray,
    n: IntArray,
    l: IntArray,
    m: IntArray,
    n_relevant: IntArray,
    estimates: Output[FloatArray],
) -> None:
    """Estimate R / the rank of the last relevant item, 0 where one is missing, for `queries`.

    Neighbours with equal ties cost one.
    """
