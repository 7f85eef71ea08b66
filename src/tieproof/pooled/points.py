"""Operating points from counts over a pool of pairs."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from tieproof.distances import Distance, DistanceFunction, make_space
from tieproof.distances.functions import FunctionGauge
from tieproof.distances.gauge import Gauge
from tieproof.distances.space import Resources
from tieproof.exact.reals import least_rounding_to
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.relevance import Relevance
from tieproof.pooled.counting import Progress, order_statistics, relevant_beyond
from tieproof.pooled.pool import Pool
from tieproof.results.rates import (
    OperatingPoint,
    between,
    check_threshold,
    exact_rank,
    linear_place,
    point,
    tied_estimate,
)

PASSES = 2
"""Over all pairs, where the sample of pairs leads to the right windows at once."""

LONGEST_SUM = 2**16
"""Dimensions of a product that are summed up at once, so that its bound never runs out."""


def make_gauge(
    queries: Embeddings,
    gallery: Embeddings | None,
    kind: Distance | DistanceFunction,
    relevance: Relevance,
    memory: int,
) -> Gauge:
    """The gauge of a distance of ours, or of a function."""
    if not isinstance(kind, Distance):
        return FunctionGauge(kind, queries, queries if gallery is None else gallery)
    resources = Resources(keep_bytes=memory // 4, dtype=np.dtype(np.float64), chunk=LONGEST_SUM)
    return kind.gauge(make_space(kind, queries, gallery, relevance.order(), resources))


def linear_points(
    pool: Pool, rates: Sequence[float], totals: tuple[int, int], progress: Progress
) -> Iterator[OperatingPoint]:
    """Thresholds between float64 distances; a relevant pair counts where its own float64 is at or beyond."""
    n_relevant, n_others = totals
    places = [linear_place(rate, n_others) for rate in rates]
    orders = order_statistics(pool, [rank for place in places for rank in place[:2]], n_others, progress)
    thresholds = []
    for rate, (first, second, part) in zip(rates, places, strict=True):
        near, far = (pool.gauge.distance(orders[rank].key) for rank in (first, second))
        thresholds.append(check_threshold(between(near, far, part), rate))
    boundaries = [least_rounding_to(threshold) for threshold in thresholds]
    counts = relevant_beyond(pool, [pool.gauge.key_of(boundary) for boundary, _ in boundaries])
    for rate, threshold, (_, reached), (beyond, equal) in zip(rates, thresholds, boundaries, counts, strict=True):
        yield OperatingPoint(rate, threshold, point((beyond + (equal if reached else 0)) / n_relevant))


def exact_points(
    pool: Pool, rates: Sequence[float], totals: tuple[int, int], progress: Progress
) -> Iterator[OperatingPoint]:
    """Thresholds that are distances, compared as real numbers."""
    n_relevant, n_others = totals
    ranks = [exact_rank(rate, n_others) for rate in rates]
    orders = order_statistics(pool, ranks, n_others, progress)
    counts = relevant_beyond(pool, [Fraction(orders[rank].key) for rank in ranks])
    for rate, rank, (beyond, equal) in zip(rates, ranks, counts, strict=True):
        order = orders[rank]
        threshold = check_threshold(pool.gauge.distance(order.key), rate)
        fnmr = tied_estimate(beyond, equal, n_relevant, rank - order.before + 1, order.equal)
        yield OperatingPoint(rate, threshold, fnmr)


POINTS: dict[str, Callable[[Pool, Sequence[float], tuple[int, int], Progress], Iterator[OperatingPoint]]] = {
    "linear": linear_points,
    "exact": exact_points,
}
