"""The nearest items of queries and their distances, for every kind of distance."""

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.functions import FunctionGauge
from tieproof.distances.gauge import SpaceGauge
from tieproof.engine.nearest import NearestItems, nearest_of, nearest_of_numbers
from tieproof.engine.plan import Plan
from tieproof.engine.rounded.kernels import nearness_of, target_of
from tieproof.engine.rounded.space import RoundedSpace
from tieproof.exact.blas import check_products, single_threaded
from tieproof.exact.reals import rounded
from tieproof.problem import Problem
from tieproof.ties import FloatArray, IntArray


class Neighbours(NamedTuple):
    """The nearest items of one query, with complete ties.

    item, tie : (c,) as in `NearestItems`, with ties counted from 0
    distance : (t,) the distance of each tie, rounded once: to float64, or to the format that the problem ranks
    """

    item: IntArray
    tie: IntArray
    distance: FloatArray


def neighbours_of(problem: Problem, queries: IntArray, count: int) -> Iterator[Neighbours]:
    """The `count` nearest items of each query, and all items tied with the last one."""
    gauge = problem.gauge()
    block = problem.relevance.block(queries)
    excluded = np.split(block.excluded, block.excluded_pointer[1:-1])
    if not isinstance(problem.distance, Distance):
        yield from by_function(problem, cast(FunctionGauge, gauge), queries, excluded, count)
        return
    space = cast(SpaceGauge, gauge).space
    if problem.format is not None:
        space = RoundedSpace(cast(SpaceGauge, gauge), problem.format, Plan(problem.budget).undecided)
    check_products()
    count = min(count, problem.relevance.n_items)
    with single_threaded():
        for place, query in enumerate(queries):
            found = nearest_of(space, np.array([query]), [excluded[place]], count)
            yield with_distances(problem, cast(SpaceGauge, gauge), query, found)


def with_distances(problem: Problem, gauge: SpaceGauge, query: int, found: NearestItems) -> Neighbours:
    """The items of one query, with the distance of each tie."""
    numbers, first = np.unique(found.tie, return_index=True)
    columns = gauge.identity[1][found.item[first]]
    rows = np.full(len(columns), gauge.identity[0][query])
    rounding = rounded if problem.format is None else problem.format.rounded
    keys = gauge.exact(gauge.values_of_pairs(rows, columns), rows, columns)
    distances = np.array([gauge.distance(key * gauge.unit, rounding) for key in keys], dtype=np.float64)
    return Neighbours(found.item, np.searchsorted(numbers, found.tie), distances)


def by_function(
    problem: Problem, gauge: FunctionGauge, queries: IntArray, excluded: list[IntArray], count: int
) -> Iterator[Neighbours]:
    """The nearest items by a distance function, which is called with the same blocks as in an evaluation."""
    relevance = problem.relevance
    target = None if problem.format is None else target_of(problem.format)
    for place, query in enumerate(queries.tolist()):
        start = query // gauge.stripe_rows * gauge.stripe_rows
        stripe = slice(start, min(start + gauge.stripe_rows, relevance.n_queries))
        distances = gauge.values(stripe, slice(0, relevance.n_items))[query - start]
        nearness = -distances if target is None else nearness_of(distances[None], target)[0]
        _, item, tie = nearest_of_numbers(nearness, excluded[place], count)
        _, first = np.unique(tie, return_index=True)
        yield Neighbours(item, tie, distances[item[first]])
