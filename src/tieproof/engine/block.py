"""Room for the ranked relevant items of a block of queries, which threads fill, each for queries of its own."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.engine import guide
from tieproof.inputs.relevance import ranges
from tieproof.ties import FloatArray, IntArray, SmallIntArray


class RankedItems(NamedTuple):
    """The relevant items of Q queries, one entry each, nearest first: `Thresholds` and `Counts`, without gaps."""

    pointer: IntArray  # (Q + 1,)
    key: FloatArray
    reach: FloatArray  # (Q,)
    gap: SmallIntArray
    equal: SmallIntArray
    item: SmallIntArray  # distinct items
    grades: FloatArray | None
    n_items: IntArray  # (Q,)


class Block(NamedTuple):
    """The entries of query q are start[q] … stop[q]-1; there is room for as many as it can have."""

    start: IntArray
    stop: IntArray
    key: FloatArray
    reach: FloatArray
    gap: SmallIntArray
    equal: SmallIntArray
    item: SmallIntArray
    known: npt.NDArray[np.bool_]
    grades: FloatArray | None
    n_items: IntArray
    guide: SmallIntArray
    scale: FloatArray

    @classmethod
    def of(cls, at_most: IntArray, graded: bool) -> "Block":
        """Room for queries with at most so many relevant items."""
        count, ends = len(at_most), np.cumsum(at_most)
        size = int(ends[-1])
        table, scale = guide.room(size, count)
        return cls(
            start=ends - at_most,
            stop=np.empty_like(ends),
            key=np.empty(size),
            reach=np.empty(count),
            gap=np.zeros(size, dtype=np.int32),
            equal=np.zeros(size, dtype=np.int32),
            item=np.empty(size, dtype=np.int32),
            known=np.zeros(count, dtype=np.bool_),
            grades=np.ones(size) if graded else None,
            n_items=np.empty_like(ends),
            guide=table,
            scale=scale,
        )

    def put(self, places: IntArray, entries: RankedItems) -> None:
        """Store the entries of the queries at `places`."""
        self.stop[places] = self.start[places] + np.diff(entries.pointer)
        self.reach[places], self.n_items[places], self.known[places] = entries.reach, entries.n_items, True
        if not entries.pointer[-1]:
            return
        to = self.places_of(places)
        self.key[to], self.gap[to], self.equal[to] = entries.key, entries.gap, entries.equal
        self.item[to] = entries.item
        if self.grades is not None and entries.grades is not None:
            self.grades[to] = entries.grades
        self.make_guide(places)

    def make_guide(self, places: IntArray) -> None:
        """Write the tables of the queries at `places`, whose keys are there."""
        guide.fill(places, self.start, self.stop, self.key, self.guide, self.scale)

    def places_of(self, queries: IntArray) -> slice | IntArray:
        """Where the entries of some queries are, one query after the other."""
        start, length = self.start[queries], self.stop[queries] - self.start[queries]
        if start[0] + length.sum() == self.stop[queries[-1]] and len(queries) == queries[-1] - queries[0] + 1:
            return slice(start[0], self.stop[queries[-1]])
        return ranges(start, length)[1]
