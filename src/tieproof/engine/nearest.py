"""The nearest items: of all queries or of some, by a distance, by a function of distances, or by given numbers."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple, cast

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.gauge import FunctionGauge
from tieproof.distances.space import Space
from tieproof.engine.listed import Admit, NearestLists, RowMembers, TiedRows, listed
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Search, Watch
from tieproof.engine.rounded import nearness_of, target_of
from tieproof.ties import FloatArray, IntArray

ROWS = 0.2  # the share of the budget for the rows of each side that are converted once


def nearest_space(problem: Search) -> Space | None:
    """The space in which `nearest_lists` ranks; None for a distance function."""
    if not isinstance(problem.distance, Distance):
        return None
    plan = Plan(problem.budget)
    plan.resources = plan.resources._replace(keep_bytes=int(ROWS * plan.memory))
    return plan.space_of(problem)


def nearest_lists(
    problem: Search, space: Space | None, k: int, watch: Watch, admit: Admit, queries: IntArray | None = None
) -> Iterator[NearestLists]:
    """The k nearest items of all queries, with all items that are tied with the last one; each query occurs once.

    space : what `nearest_space` returned
    queries : a few queries, which get a list of their own each, in this order; None: all of them
    """
    if space is None:
        return _by_function(problem, k, watch, admit, queries)
    from tieproof.engine.neighbors import lists_by_tiles

    return lists_by_tiles(problem, space, k, watch, admit, queries)


def _by_function(
    problem: Search, k: int, watch: Watch, admit: Admit, queries: IntArray | None
) -> Iterator[NearestLists]:
    """The lists by a distance function, which is called with the same blocks as in an evaluation."""
    excluding, gauge = problem.excluded, cast(FunctionGauge, problem.gauge())
    target = None if problem.format is None else target_of(problem.format)
    everyone = RowMembers(np.arange(excluding.n_items + 1), np.arange(excluding.n_items))
    height, stripe, values = gauge.stripe_rows or 1, slice(0, 0), np.empty((0, 0))
    with watch(problem.pairs) as advance:
        for query in range(excluding.n_queries) if queries is None else queries.tolist():
            if not stripe.start <= query < stripe.stop:
                start = query // height * height
                stripe = slice(start, min(start + height, excluding.n_queries))
                values = gauge.values(stripe, slice(0, excluding.n_items))
            distances = values[query - stripe.start]
            nearness = -distances if target is None else nearness_of(distances[None], target)[0]
            own = np.array([query])
            near = nearest_of_numbers(nearness, excluding.block(own).excluded, k)
            one, starts_tie = np.ones_like(near.item), np.diff(near.tie, prepend=-1) > 0
            tied = TiedRows(np.zeros_like(near.item), near.item, starts_tie, one)
            yield listed(own, tied, distances[near.item[starts_tie]], k, everyone, None, admit)
            advance(excluding.n_items)


class NearestItems(NamedTuple):
    """The nearest items of a query with complete ties, nearest first, tied items in the order of the gallery."""

    item: IntArray  # (c,) the index of each item in the gallery
    tie: IntArray  # (c,) the number of each item's tie, from 0 on


def nearest_of_numbers(nearness: FloatArray, excluded: IntArray, count: int) -> NearestItems:
    """The `count` nearest items of one query by numbers (larger is nearer), and all items tied with the last one.

    >>> nearest_of_numbers(np.array([0.5, 0.9, 0.5, 0.7, 0.1]), np.array([3]), 2).item.tolist()
    [1, 0, 2]
    """
    items = np.delete(np.arange(len(nearness)), excluded)
    ranked = items[np.lexsort((items, -nearness[items]))]
    keys = nearness[ranked]
    stop = np.searchsorted(-keys, -keys[min(count, len(keys)) - 1], side="right") if len(keys) else 0
    return NearestItems(ranked[:stop], np.cumsum(np.diff(keys[:stop], prepend=keys[:1]) != 0))


def neighbors_of(problem: Search, queries: IntArray, count: int) -> Iterator[tuple[NearestItems, FloatArray]]:
    """The `count` nearest items of each query, all items tied with the last one, and the distance of each tie.

    Distances are rounded once: to float64, or to the format that the problem ranks.
    """
    space, watch = nearest_space(problem), lambda _: nullcontext(lambda done: None)
    for lists in nearest_lists(problem, space, count, watch, lambda items: None, queries):
        start = int(lists.tie_starts[0])
        nearer = np.append(lists.nearer[0, :start], np.full(len(lists.tie_ids), start))
        first, tie = np.unique(nearer, return_inverse=True)
        yield NearestItems(np.append(lists.ids[0, :start], lists.tie_ids), tie), lists.distances[0, first]
