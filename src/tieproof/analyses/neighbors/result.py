"""`Neighbors`: the k nearest items of each query in exact order, with the whole tie at rank k."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import type_name
from tieproof.inputs.options import check_whole
from tieproof.show.parts import count, distance_meant
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

NOBODY = -1  # the id at the ranks behind the last item that a query ranks


@dataclass(frozen=True, eq=False, repr=False)
class Neighbors(Shown, AsFrame):
    """The k nearest items of each query.

    ids : (q, k) the nearest items, nearest first, tied items by ascending id; -1 where a query ranks fewer than k
        items
    distances : (q, k) their distances: the real numbers, each rounded once to float64; NaN where the id is -1
    tie_starts : (q,) how many items are strictly nearer than the item at rank k (or at the last rank, if a query
        ranks fewer items)
    tie_indptr, tie_ids : (q + 1,) and (t,) all items that are exactly as near as that item, whether or not their
        rank is at most k: those of query i are tie_ids[tie_indptr[i]:tie_indptr[i + 1]], ascending
    n_ties : (q,) how many ties of two or more items have an item among the k nearest
    nearer : (q, k) how many items are strictly nearer than the one at each rank, the same number for items that are
        tied; -1 where the id is -1
    duplicates : how many items of the gallery are equal to an earlier one, number by number
    k : how many nearest items were asked for
    n_items : how many items the gallery has
    distance : the name of the distance

    >>> import tieproof as tp
    >>> found = tp.nearest([[0.0]], [[1.0], [3.0], [-1.0], [2.0], [1.0]], k=2, distance="euclidean")
    >>> found.ids, found.tie(0)
    (array([[0, 2]]), array([0, 2, 4]))
    >>> print(found)
    nearest items                            queries
    ------------------------------------------------
    with ties                                      1
    with a tie that continues behind rank 2        1
    <BLANKLINE>
    The largest tie at the last rank holds 3 items.
    1 item is equal to an earlier one.
    1 more: --explain, or to_text(explain=True)
    """

    ids: IntArray
    distances: FloatArray
    tie_starts: IntArray
    tie_indptr: IntArray
    tie_ids: IntArray
    n_ties: IntArray
    nearer: IntArray
    duplicates: int
    k: int
    n_items: int
    distance: str

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.ids)

    @property
    def ranked(self) -> IntArray:
        """(q,) how many items each query has among its k nearest: k, or all that it ranks."""
        counts: IntArray = (self.ids != NOBODY).sum(axis=1)
        return counts

    @property
    def before_tie(self) -> BoolArray:
        """(q, k) which ranks are before the tie at the last rank."""
        return np.asarray((self.nearer != NOBODY) & (self.nearer < self.tie_starts[:, None]))

    @property
    def tie_sizes(self) -> IntArray:
        """(q,) the number of items of each query's tie at its last rank; 0 if it ranks no items."""
        return np.diff(self.tie_indptr)

    @property
    def cut(self) -> Array:
        """(q,) whether the tie at rank k continues behind it, so that other choices of the k nearest exist."""
        return np.asarray(self.tie_starts + self.tie_sizes > self.k)

    def tie(self, query: int) -> IntArray:
        """All items at exactly the distance of the query's item at rank k (or at its last rank), ascending."""
        check_whole("query", query, 0)
        if query >= len(self.ids):
            raise InputError(f"query is {query}, but the last query is {len(self.ids) - 1}.", "query")
        start, stop = self.tie_indptr[int(query) : int(query) + 2]
        return self.tie_ids[start:stop]

    def level(self, query: IntArray, item: IntArray) -> IntArray:
        """How many items are nearer to a query than an item, for pairs of both.

        It is `n_items` for items that are neither listed nor in the tie at rank k.

        >>> import tieproof as tp
        >>> found = tp.nearest([[0.0]], [[1.0], [3.0], [-1.0], [0.0]], k=2, distance="euclidean")
        >>> found.level(np.array([0, 0, 0]), np.array([3, 2, 1])).tolist()
        [0, 1, 4]
        """
        listed = self.before_tie
        first = np.arange(self.n_queries) * self.n_items
        known = np.concatenate([(first[:, None] + self.ids)[listed], np.repeat(first, self.tie_sizes) + self.tie_ids])
        levels = np.concatenate([self.nearer[listed], np.repeat(self.tie_starts, self.tie_sizes)])
        order = np.argsort(known)
        wanted = query * self.n_items + item
        at = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
        return np.where(known[at] == wanted, levels[at], self.n_items)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers and strings."""
        return {
            "k": self.k,
            "queries": self.n_queries,
            "n_items": self.n_items,
            "distance": self.distance,
            "queries_with_ties": int((self.n_ties > 0).sum()),
            "queries_with_cut_ties": int(self.cut.sum()),
            "queries_with_fewer_items": int((self.ranked < self.k).sum()),
            "ties": int(self.n_ties.sum()),
            "largest_tie": int(self.tie_sizes.max(initial=0)),
            "duplicates": self.duplicates,
        }

    def columns(self) -> dict[str, Array]:
        """A long table with a row for each neighbor, as arrays of equal length; ranks are counted from 1."""
        query, place = np.nonzero(self.ids != NOBODY)
        return {
            "query": query,
            "rank": place + 1,
            "id": self.ids[query, place],
            "distance": self.distances[query, place],
        }

    def _table(self) -> Table:
        counts = self.to_dict()
        rows = [
            ("with ties", f"{counts['queries_with_ties']:,}"),
            (f"with a tie that continues behind rank {self.k:,}", f"{counts['queries_with_cut_ties']:,}"),
        ]
        if fewer := counts["queries_with_fewer_items"]:
            rows.append((f"that rank fewer than {self.k:,} items", f"{fewer:,}"))
        return Table(("nearest items", "queries"), [rows], [*self._sentences()], ("queries",))

    def _sentences(self) -> Iterator[str]:
        largest = int(self.tie_sizes.max(initial=0))
        if largest > 1:
            yield f"The largest tie at the last rank holds {largest:,} items."
        if self.duplicates:
            yield about_duplicates(self.duplicates, "")
        yield (
            f"The {self.k:,} nearest of {count(self.n_items, 'item')} for {count(self.n_queries, 'query')}, under "
            f"{distance_meant(self.distance)}. Tied items are sorted by their ids."
        )

    def __repr__(self) -> str:
        return (
            f"<Neighbors of {count(self.n_queries, 'query')}: {self.k:,} nearest of {count(self.n_items, 'item')}, "
            f"{count(int(self.cut.sum()), 'tie')} cut>"
        )


def repeated_in_rows(ids: IntArray) -> BoolArray:
    """Return which ids, (q, n), stand in their row already."""
    order = np.argsort(ids, axis=1, kind="stable")
    ranked = np.take_along_axis(ids, order, axis=1)
    again = np.zeros(ids.shape, dtype=np.bool_)
    again[:, 1:] = ranked[:, 1:] == ranked[:, :-1]
    repeated = np.empty_like(again)
    np.put_along_axis(repeated, order, again, axis=1)
    return repeated


def check_id_lists(array: Array, name: str, advice: str) -> None:
    """Refuse what is not a matrix of integers, with a row for each query."""
    if array.dtype.kind not in "iu" or array.ndim != 2 or 0 in array.shape:
        raise InputError(
            f"The {name} must be integers of the shape (queries, neighbors), but are {type_name(array.dtype)} of "
            f"the shape {array.shape}. {advice}"
        )


def about_duplicates(duplicates: int, of: str = " of the gallery") -> str:
    """Say how many items of the gallery are equal to an earlier one."""
    return f"{count(duplicates, 'item')}{of} {'is' if duplicates == 1 else 'are'} equal to an earlier one."
