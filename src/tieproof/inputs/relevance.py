"""The relevant and the excluded items of all queries; the engine reads them one block of queries at a time.

`relevance_by_labels.py` and `judgments.py` have the kinds of relevance.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tieproof.ties import Array, BoolArray, FloatArray, IntArray


class RelevantBlock(NamedTuple):
    """The relevant and the excluded items of some queries; no item is both, and none occurs twice.

    Query i of the block has items[pointer[i]:pointer[i+1]], and the excluded items likewise.
    """

    pointer: IntArray
    items: IntArray
    grades: FloatArray | None  # None: every grade is 1
    excluded_pointer: IntArray
    excluded: IntArray


class Excluded(NamedTuple):
    """The items that are left out of rankings, in addition to the query itself."""

    groups: tuple[Array, Array] | None = None  # of queries and items: of the query's label, those of its group
    pairs: IntArray | None = None  # query * n_items + item, ascending


NOTHING = Excluded()


@dataclass(frozen=True, eq=False)
class Exclusions(ABC):
    """The items that queries do not rank.

    leave_one_out : the queries are the gallery, and each is excluded from its own ranking, by index
    """

    n_queries: int
    n_items: int
    leave_one_out: bool
    excluded: Excluded

    @abstractmethod
    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Return (position in `queries`, item, grade) of all pairs in labels or triples, positions ascending.

        A grade below 0 excludes the item; None means that all grades are 1.
        """

    def order(self) -> tuple[IntArray, IntArray]:
        """Return orders of the queries and of the items in which those with common relevant items are adjacent."""
        return np.arange(self.n_queries), np.arange(self.n_items)

    def block(self, queries: IntArray) -> RelevantBlock:
        """Return the relevant and the excluded items of `queries`."""
        position, item, grade = self.pairs(queries)
        groups, pairs = self.excluded

        out = np.zeros(len(item), dtype=np.bool_)
        if self.leave_one_out:
            out |= item == queries[position]
        if groups is not None:
            out |= groups[0][queries[position]] == groups[1][item]
        if grade is not None:
            out |= grade < 0
        excluded = [position[out] * self.n_items + item[out]]
        if self.leave_one_out:
            excluded.append(np.arange(len(queries)) * self.n_items + queries)
        if pairs is not None:
            of_query, what = self._listed(pairs, queries)
            excluded.append(of_query * self.n_items + what)
            out |= sorted_contains(pairs, queries[position] * self.n_items + item)
        keep = ~out if grade is None else ~out & (grade > 0)
        code = np.sort(np.concatenate(excluded))
        if len(code):
            code = code[np.concatenate([[True], code[1:] != code[:-1]])]
        return RelevantBlock(
            pointers(position[keep], len(queries)),
            item[keep],
            None if grade is None else grade[keep],
            pointers(code // self.n_items, len(queries)),
            code % self.n_items,
        )

    def _listed(self, pairs: IntArray, queries: IntArray) -> tuple[IntArray, IntArray]:
        """The excluded pairs that belong to `queries`, as (position, item)."""
        start = np.searchsorted(pairs, queries * self.n_items)
        stop = np.searchsorted(pairs, (queries + 1) * self.n_items)
        position, index = ranges(start, stop - start)
        return position, pairs[index] % self.n_items

    def excluded_among(self, queries: IntArray, items: IntArray) -> Excluded:
        """Return the exclusions among these queries and items, numbered by their positions here."""
        groups, pairs = self.excluded
        own = None if groups is None else (groups[0][queries], groups[1][items])
        if pairs is None:
            return Excluded(own)
        position, item = self._listed(pairs, queries)
        inside, place = places_among(items, item)
        return Excluded(own, np.sort(position[inside] * len(items) + place))


@dataclass(frozen=True, eq=False)
class Relevance(Exclusions):
    """The relevance of a whole evaluation, and its exclusions; `graded`: grades may differ from 1."""

    graded: bool

    @abstractmethod
    def at_most(self) -> IntArray:
        """An upper bound on the number of relevant items of each query, (n_queries,)."""

    def negative(self) -> int:
        """The number of pairs of a query and an item that a negative grade excludes."""
        return 0

    def shared(self, queries: IntArray, usable: BoolArray, at_least: int) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield queries with the same relevant items, except for themselves: (positions in `queries`, items).

        Only groups of at least so many items, all of them `usable` (n_items,), and only if nothing but the query
        itself is excluded. By default there are none.
        """
        return iter(())

    def query_order(self) -> IntArray:
        """Return the order of the queries alone, which takes no memory for items."""
        return self.order()[0]

    @abstractmethod
    def related(self, queries: IntArray) -> IntArray:
        """Return all items that are relevant to any of these queries, ascending; some may be excluded."""

    @abstractmethod
    def among(self, queries: IntArray, items: IntArray) -> "Relevance":
        """Return the relevance of these queries and items (in leave-one-out the same), by their positions here."""

    def ranked(self, queries: IntArray) -> IntArray:
        """Return how many items each of these queries ranks: all that are not excluded."""
        return self.n_items - np.diff(self.block(queries).excluded_pointer)


def pointers(position: IntArray, count: int) -> IntArray:
    """Return where each of the values 0 … count-1 starts in an ascending `position`, and the end."""
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(position, minlength=count), out=starts[1:])
    return starts


def ranges(start: IntArray, length: IntArray) -> tuple[IntArray, IntArray]:
    """Return (i, start[i] + j) for every i and every j below length[i]."""
    position = np.repeat(np.arange(len(start)), length)
    ends = np.cumsum(length)
    return position, np.arange(len(position)) + (start - ends + length)[position]


def places_among(items: IntArray, sought: IntArray) -> tuple[BoolArray, IntArray]:
    """Return which of `sought` are in `items`, which may have any order, and their positions there."""
    order = np.argsort(items)
    inside = sorted_contains(items[order], sought)
    return inside, order[np.searchsorted(items[order], sought[inside])]


def sorted_contains(sorted_values: IntArray, values: IntArray) -> BoolArray:
    """Whether each value is among `sorted_values`."""
    if not len(sorted_values):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(sorted_values, values), len(sorted_values) - 1)
    return np.asarray(sorted_values[place] == values)
