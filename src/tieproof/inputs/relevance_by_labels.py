"""Relevance by labels: one for each query and each item, or columns of 0/1 of which they may have several.

`Unjudged` is no relevance, and only leaves out the items of groups, which are labels, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tieproof.inputs.relevance import NOTHING, Excluded, Exclusions, Relevance, ranges
from tieproof.ties import Array, BoolArray, FloatArray, IntArray


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
