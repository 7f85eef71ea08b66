"""Operating points from counts over a pool of pairs."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from tieproof.errors import about
from tieproof.exact.reals import least_rounding_to
from tieproof.pooled.counting import order_statistics, relevant_beyond
from tieproof.pooled.pool import Pool
from tieproof.problem import Problem, Progress, Watch
from tieproof.results.rates import (
    Method,
    OperatingPoint,
    between,
    check_counts,
    check_threshold,
    exact_rank,
    linear_place,
    point,
    tied_estimate,
)

PASSES = 2
"""The number of passes over all pairs, if the sample of pairs gives the right windows at once."""


def linear_points(
    pool: Pool, rates: Sequence[float], totals: tuple[int, int], progress: Progress
) -> Iterator[OperatingPoint]:
    """Thresholds between float64 distances; a relevant pair counts if its float64 distance is at or beyond it."""
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


class Points(NamedTuple):
    """Operating points, and the numbers of pairs that are relevant and that are neither relevant nor excluded."""

    totals: tuple[int, int]
    points: tuple[OperatingPoint, ...]


def points_of(problem: Problem, rates: Sequence[float], method: Method, watch: Watch) -> Points:
    """The operating points at these false match rates, over all pairs of a problem."""
    pool = Pool(problem.gauge(), problem.relevance, problem.budget)
    with watch(PASSES * pool.entries) as advance, pool.products():
        totals = pool.totals()
        with about(problem.judged_by):
            check_counts(*totals)
        return Points(totals, tuple(POINTS[method](pool, rates, totals, advance)))
