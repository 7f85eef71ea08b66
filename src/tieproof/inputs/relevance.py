"""The relevant and the excluded items of all queries; the engine reads them one block of queries at a time.

The same label is one kind of relevance, and is here; `judgments.py` has triples (query, item, grade).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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


@dataclass(frozen=True, eq=False)
class Labels(Relevance):
    """Relevance by labels: items with the query's label are relevant."""

    query_labels: Array
    item_labels: Array
    query_class: IntArray  # a number for each label; a query whose label no item has gets one class more
    item_class: Array
    members: Array  # the items, sorted by their class; as int32 where that is enough, as item_class
    start: IntArray  # of each class in `members`, and of the additional class
    size: IntArray  # of each class; the additional one is empty

    @classmethod
    def of(cls, query_labels: Array, item_labels: Array | None, excluded: Excluded = NOTHING) -> "Labels":
        """Relevance by a label for each query and each item; no labels of items: leave-one-out."""
        items = query_labels if item_labels is None else item_labels
        members = np.argsort(items, kind="stable")
        ordered = items[members]
        bounds = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
        known, sizes = ordered[bounds[:-1]], bounds[1:] - bounds[:-1]
        small = np.dtype(np.int32 if len(items) < 2**31 else np.int64)
        item_class = np.empty(len(items), dtype=small)
        item_class[members] = np.repeat(np.arange(len(known), dtype=small), sizes)
        place = np.minimum(np.searchsorted(known, query_labels), len(known) - 1)
        return cls(
            n_queries=len(query_labels),
            n_items=len(items),
            leave_one_out=item_labels is None,
            graded=False,
            excluded=excluded,
            query_labels=query_labels,
            item_labels=items,
            query_class=np.where(known[place] == query_labels, place, len(known)),
            item_class=item_class,
            members=members.astype(small),
            start=bounds,
            size=np.concatenate([sizes, [0]]),
        )

    @property
    def plain(self) -> bool:
        """Whether nothing but the query itself is excluded."""
        return self.excluded.groups is None and self.excluded.pairs is None

    def at_most(self) -> IntArray:
        """Sizes of classes, less the query itself."""
        return self.size[self.query_class] - int(self.leave_one_out)

    def shared(self, queries: IntArray, usable: BoolArray, at_least: int) -> Iterator[tuple[IntArray, IntArray]]:
        """The members of each class."""
        if not self.plain:
            return
        good = self.size >= at_least
        if not good.any():
            return
        good &= np.bincount(self.item_class, ~usable, len(self.size)) == 0
        of_query = self.query_class[queries]
        places = np.flatnonzero(good[of_query])
        starts = np.flatnonzero(np.diff(of_query[places], prepend=-1) != 0)
        for start, stop in zip(starts, np.append(starts, len(places))[1:], strict=True):
            members = places[start:stop]
            known = of_query[members[0]]
            yield members, self._members(slice(self.start[known], self.start[known] + self.size[known]))

    def order(self) -> tuple[IntArray, IntArray]:
        """The queries and the items, each sorted by their class."""
        return self.query_order(), self._members(slice(None))

    def query_order(self) -> IntArray:
        """The queries, sorted by their class."""
        return np.argsort(self.query_class, kind="stable")

    def _members(self, places: slice | IntArray) -> IntArray:
        return self.members[places].astype(np.int64)

    def related(self, queries: IntArray) -> IntArray:
        """The members of the queries' classes."""
        classes = np.unique(self.query_class[queries])
        return np.sort(self._members(ranges(self.start[classes], self.size[classes])[1]))

    def among(self, queries: IntArray, items: IntArray) -> "Labels":
        """The classes, as labels."""
        of_items = None if self.leave_one_out else self.item_class[items].astype(np.int64)
        return Labels.of(self.query_class[queries], of_items, self.excluded_among(queries, items))

    def ranked(self, queries: IntArray) -> IntArray:
        """All items but the query itself, where nothing else is excluded."""
        if not self.plain:
            return super().ranked(queries)
        return np.full(len(queries), self.n_items - int(self.leave_one_out))

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Every member of the query's class."""
        of_query = self.query_class[queries]
        position, index = ranges(self.start[of_query], self.size[of_query])
        return position, self._members(index), None


@dataclass(frozen=True, eq=False)
class MultiLabels(Relevance):
    """Relevance by columns of 0/1, in float32: items that share at least one class with the query are relevant."""

    query_labels: npt.NDArray[np.float32]
    item_labels: npt.NDArray[np.float32]

    @classmethod
    def of(cls, query_labels: Array, item_labels: Array | None, excluded: Excluded = NOTHING) -> "MultiLabels":
        """Relevance by columns of labels; none of items: leave-one-out."""
        own = query_labels.astype(np.float32)
        of_items = own if item_labels is None else item_labels.astype(np.float32)
        return cls(len(own), len(of_items), item_labels is None, excluded, False, own, of_items)

    def at_most(self) -> IntArray:
        """The sum of the sizes of a query's classes."""
        sizes = self.item_labels.sum(axis=0, dtype=np.float64)
        return np.asarray(np.minimum(self.query_labels @ sizes, self.n_items).astype(np.int64))

    def related(self, queries: IntArray) -> IntArray:
        """Items with a label that any of the queries has."""
        return np.flatnonzero(self.item_labels @ self.query_labels[queries].max(axis=0) > 0)

    def among(self, queries: IntArray, items: IntArray) -> "MultiLabels":
        """Return the relevance of these queries and items."""
        of_items = None if self.leave_one_out else self.item_labels[items]
        return MultiLabels.of(self.query_labels[queries], of_items, self.excluded_among(queries, items))

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Items whose labels have a positive product with the query's."""
        size = max(1, 2**22 // self.n_items)
        parts = []
        for start in range(0, len(queries), size):
            shared = self.query_labels[queries[start : start + size]] @ self.item_labels.T
            position, item = np.nonzero(shared > 0)
            parts.append((position + start, item))
        position = np.concatenate([part[0] for part in parts])
        return position, np.concatenate([part[1] for part in parts]), None


def by_labels(own: Array, of_items: Array | None, excluded: Excluded = NOTHING) -> Relevance:
    """Relevance by checked labels: one each, or columns."""
    return MultiLabels.of(own, of_items, excluded) if own.ndim == 2 else Labels.of(own, of_items, excluded)


@dataclass(frozen=True, eq=False)
class Unjudged(Exclusions):
    """Only items to leave out: those of the query's group (by labels; None: no groups), itself and given pairs."""

    of_groups: Labels | None

    @classmethod
    def of(cls, n_queries: int, n_items: int | None, excluded: Excluded = NOTHING) -> "Unjudged":
        """The exclusions of so many queries and items; n_items None: leave-one-out."""
        groups = None if excluded.groups is None else Labels.of(*excluded.groups)
        count = n_queries if n_items is None else n_items
        return cls(n_queries, count, n_items is None, Excluded(None, excluded.pairs), groups)

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """The items of the queries' groups, with a grade that excludes them."""
        if self.of_groups is None:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, None
        position, item, _ = self.of_groups.pairs(queries)
        return position, item, np.full(len(item), -1.0)

    def order(self) -> tuple[IntArray, IntArray]:
        """The queries and the items, each sorted by their group."""
        return super().order() if self.of_groups is None else self.of_groups.order()
