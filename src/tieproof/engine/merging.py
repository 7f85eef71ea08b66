"""The nearest items of a whole gallery from those of its parts, by exact comparison of equal rounded distances.

An item among the k nearest of all, or tied with the last of them, has fewer than k nearer items in its own part, so
it is among the k nearest there, or in the tie at rank k. Distances are rounded once, so a smaller one is a nearer
item. Items of equal rounded distance are compared exactly, one of each tie.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tieproof.distances.exact.bounds import single_threaded
from tieproof.engine.listed import NOBODY, Admit, NearestLists, RowMembers, TiedRows, listed
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Search
from tieproof.engine.ranking import exact_order
from tieproof.inputs.relevance import ranges
from tieproof.native.threads import cut
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

ProblemOf = Callable[[IntArray, IntArray], Search]
"""Returns the problem of queries, given by their positions, and of items, given by their ids."""


def merged_lists(
    parts: Sequence[NearestLists], k: int, problem_of: ProblemOf, most: int, admit: Admit
) -> NearestLists:
    """The k nearest items of the same queries in all parts together, whose lists have at least k places.

    Ids are those of the whole gallery.

    most : about how many items are compared exactly at a time
    """
    count = len(parts[0].query)
    of_all = np.concatenate([part.distances for part in parts], axis=1)
    bound = np.partition(np.where(np.isnan(of_all), np.inf, of_all), k - 1, axis=1)[:, k - 1]
    entries = [_entries(part, bound) for part in parts]
    number = np.repeat(np.arange(len(parts)), [len(query) for query, *_ in entries])
    query, item, level, distance = map(np.concatenate, zip(*entries, strict=True))
    order = np.lexsort((item, level, number, distance, query))
    query, item, level, number, distance = query[order], item[order], level[order], number[order], distance[order]
    starts_run, starts_row = _changes(query, distance), _changes(query, distance, number, level)
    starts = np.flatnonzero(starts_row)
    weight = np.diff(np.append(starts, len(item)))
    tied = TiedRows(query[starts], np.arange(len(starts)), starts_run[starts], weight).within(k)
    several = np.repeat(tied.lengths() > 1, tied.lengths())
    if several.any():
        tied = _exactly_tied(tied, np.flatnonzero(several), item[starts], problem_of, most).within(k)
    ids, numbers = np.unique(item, return_inverse=True)
    members = RowMembers(np.append(starts, len(item)), numbers)
    near = distance[starts[tied.row[tied.first()]]]
    lists = listed(np.arange(count), tied, near, k, members, None, admit)
    return lists._replace(ids=np.append(ids, NOBODY)[lists.ids], tie_ids=ids[lists.tie_ids])


def _changes(*columns: Array) -> BoolArray:
    """Whether some column differs from its entry before; True for the first entries."""
    new = np.ones(len(columns[0]), dtype=np.bool_)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return new


def _entries(part: NearestLists, bound: FloatArray) -> tuple[Array, ...]:
    """The items of a part, with all items of its last ties, that are not farther than a bound of each query.

    Returns their queries, ids, how many items of the part are nearer, and distances.
    """
    near = (part.nearer < part.tie_starts[:, None]) & (part.distances <= bound[:, None])
    query, rank = np.nonzero(near)
    last = np.fmax.reduce(part.distances, axis=1)  # NaN are behind it
    ties = np.flatnonzero(last <= bound)
    place, index = ranges(part.tie_indptr[ties], np.diff(part.tie_indptr)[ties])
    of_tie = ties[place]
    return (
        np.concatenate([query, of_tie]),
        np.concatenate([part.ids[query, rank], part.tie_ids[index]]),
        np.concatenate([part.nearer[query, rank], part.tie_starts[of_tie]]),
        np.concatenate([part.distances[query, rank], last[of_tie]]),
    )


def _exactly_tied(tied: TiedRows, open_: IntArray, item: IntArray, problem_of: ProblemOf, most: int) -> TiedRows:
    """The rows with those at `open_`, of which several have one rounded distance, in exact order.

    item : an item of each row, by its number
    """
    row, starts_tie, weight = tied.row.copy(), tied.starts_tie.copy(), tied.weight.copy()
    for part, order, starts in _exact_orders(tied.query[open_], item[tied.row[open_]], problem_of, most):
        places = open_[part]
        row[places], weight[places] = row[places[order]], weight[places[order]]
        starts_tie[places] |= starts
    return TiedRows(tied.query, row, starts_tie, weight)


def places_of_pairs(query: IntArray, item: IntArray, problem_of: ProblemOf, most: int) -> IntArray:
    """The place of each pair of a query, ascending, and an item among the pairs of its query; ties share a place.

    Places increase with the exact distance. About `most` pairs are compared at a time.
    """
    places = np.empty(len(query), dtype=np.int64)
    for part, order, starts in _exact_orders(query, item, problem_of, most):
        places[part.start + order] = np.cumsum(starts)
    return places


def _exact_orders(
    query: IntArray, item: IntArray, problem_of: ProblemOf, most: int
) -> Iterator[tuple[slice, IntArray, BoolArray]]:
    """Yield slices of pairs with about `most` pairs each, and what `_exact_order` returns for them."""
    for part in cut(np.bincount(query), most):
        some = slice(*np.searchsorted(query, [part.start, part.stop]).tolist())
        if some.start < some.stop:
            yield some, *_exact_order(query[some], item[some], problem_of)


def _exact_order(query: IntArray, item: IntArray, problem_of: ProblemOf) -> tuple[IntArray, BoolArray]:
    """The exact order of pairs of a query, ascending, and an item, and whether a tie starts at each in that order."""
    queries, position = np.unique(query, return_inverse=True)
    items, place = np.unique(item, return_inverse=True)
    problem = problem_of(queries, items)
    with single_threaded():
        space = Plan(problem.budget).space_of(problem)
        ordered = exact_order(space, space.queries.identity, position, space.items.identity[place])
    return ordered.order, ordered.starts_tie
