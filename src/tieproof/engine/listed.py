"""Lists of the k nearest items, from distinct rows in exact order that are replaced by the items they represent."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tieproof.inputs.relevance import pointers, ranges, sorted_contains
from tieproof.ties import BoolArray, FloatArray, IntArray, SmallIntArray

NOBODY = -1  # the id at the ranks behind the last item that a query ranks

Admit = Callable[[int], None]
"""Called with the number of items in last ties before they are listed; it may refuse them by an exception."""


class NearestLists(NamedTuple):
    """The k nearest items of some queries, in the order of `query`.

    ids, distances : (m, k) nearest first, tied items in the order of the gallery; -1 and NaN where a query ranks
        fewer items; distances are rounded once
    tie_starts : (m,) how many items are nearer than the last tie that has a listed item
    tie_indptr, tie_ids : all items of that tie, ascending, query by query, in int32 if possible
    n_ties : (m,) how many ties of two or more items have a listed item
    nearer : (m, k) how many items are nearer than the one at each rank, which tells ties apart; -1 where none is
    """

    query: IntArray
    ids: IntArray
    distances: FloatArray
    tie_starts: IntArray
    tie_indptr: IntArray
    tie_ids: IntArray | SmallIntArray
    n_ties: IntArray
    nearer: IntArray


class RowMembers(NamedTuple):
    """The items of each distinct row: row r has item[start[r]:start[r + 1]], ascending."""

    start: IntArray
    item: IntArray

    @classmethod
    def of(cls, identity: IntArray, rows: int) -> "RowMembers":
        """The items of rows, given the row of each item."""
        return cls(pointers(identity, rows), np.argsort(identity, kind="stable"))


class TiedRows(NamedTuple):
    """The nearest rows of some queries: query by query, nearest first."""

    query: IntArray  # the position of the query
    row: IntArray  # a distinct row of items
    starts_tie: BoolArray  # whether a tie starts here
    weight: IntArray  # how many items of the row the query ranks

    def within(self, k: int) -> "TiedRows":
        """The rows up to the end of the tie that contains the k-th item of each query."""
        kept = np.repeat(self.before() < k, self.lengths())
        return TiedRows(self.query[kept], self.row[kept], self.starts_tie[kept], self.weight[kept])

    def of_queries(self, start: int, stop: int) -> "TiedRows":
        """The rows of the queries start … stop - 1, which are numbered from 0 on."""
        part = slice(*np.searchsorted(self.query, [start, stop]).tolist())
        return TiedRows(self.query[part] - start, self.row[part], self.starts_tie[part], self.weight[part])

    def first(self) -> IntArray:
        """The place of the first row of each tie."""
        return np.flatnonzero(self.starts_tie)

    def lengths(self) -> IntArray:
        """The number of rows of each tie."""
        return np.diff(np.append(self.first(), len(self.row)))

    def sizes(self) -> IntArray:
        """The number of items of each tie."""
        first = self.first()
        return np.add.reduceat(self.weight, first) if len(first) else first

    def before(self) -> IntArray:
        """The number of items that are nearer than each tie of its query."""
        first, sizes = self.first(), self.sizes()
        ends = np.cumsum(sizes)
        query = self.query[first]
        new = np.diff(query, prepend=-1) > 0
        start = np.maximum.accumulate(np.where(new, ends - sizes, 0))
        return ends - sizes - start


def listed(
    query: IntArray,
    tied: TiedRows,
    distance: FloatArray,
    k: int,
    members: RowMembers,
    excluded: IntArray | None,
    admit: Admit,
) -> NearestLists:
    """The lists of queries from their nearest rows, as `TiedRows.within` returns them, and the distances of ties.

    excluded : pairs of a position and an item that the query does not rank, as position * items + item, ascending;
        None if every listed row has only items that are ranked
    """
    count = len(query)
    ids, nearer = np.full((2, count, k), NOBODY)
    distances = np.full((count, k), np.nan)
    first, sizes, before = tied.first(), tied.sizes(), tied.before()
    of_tie = tied.query[first]
    last = np.diff(of_tie, append=count) > 0
    starts, of_last = np.zeros((2, count), dtype=np.int64)
    starts[of_tie[last]], of_last[of_tie[last]] = before[last], sizes[last]
    admit(int(of_last.sum()))
    shown = np.minimum(sizes, k - before)
    place, rank = ranges(before, shown)
    distances[of_tie[place], rank], nearer[of_tie[place], rank] = distance[place], before[place]
    in_last = np.repeat(last, tied.lengths())
    tie = np.cumsum(tied.starts_tie) - 1
    for chosen in (~in_last, in_last):
        at, item = _items(tied, np.flatnonzero(chosen), tie, members, excluded)
        rank = before[at] + np.arange(len(at)) - np.searchsorted(at, at)
        seen = rank < k
        ids[of_tie[at[seen]], rank[seen]] = item[seen]
    return NearestLists(
        query=query,
        ids=ids,
        distances=distances,
        tie_starts=starts,
        tie_indptr=np.concatenate([[0], np.cumsum(of_last)]),
        tie_ids=item.astype(np.int32) if len(members.item) <= 2**31 else item,
        n_ties=np.bincount(of_tie[sizes > 1], minlength=count),
        nearer=nearer,
    )


def _items(
    tied: TiedRows, chosen: IntArray, tie: IntArray, members: RowMembers, excluded: IntArray | None
) -> tuple[IntArray, IntArray]:
    """The number of the tie, and the item, of each item that some rows represent: tie by tie, items ascending."""
    row = tied.row[chosen]
    place, where = ranges(members.start[row], members.start[row + 1] - members.start[row])
    at, item = tie[chosen[place]], members.item[where]
    if excluded is not None:
        ranked = ~sorted_contains(excluded, tied.query[chosen[place]] * len(members.item) + item)
        at, item = at[ranked], item[ranked]
    if len(chosen) > 1 and (tie[chosen[1:]] == tie[chosen[:-1]]).any():
        order = np.lexsort((item, at))
        item = item[order]
    return at, item
