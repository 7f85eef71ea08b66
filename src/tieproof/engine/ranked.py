"""The relevant items of some queries in exact order, room for them, and what tiles count between them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.engine.structures import Counts, Targets, Thresholds, Undecided
from tieproof.inputs.relevance import ranges
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, SmallIntArray, Ties

KEYS = 8
"""Thresholds for each step of a guide, about (measured)."""


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
        table, scale = room_for_guides(size, count)
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

    def make_guide(self, places: IntArray) -> None:
        """Write the guides of the queries at `places`, whose keys are there."""
        fill_guides(places, self.start, self.stop, self.key, self.guide, self.scale)

    def places_of(self, queries: IntArray) -> slice | IntArray:
        """Where the entries of some queries are, one query after the other."""
        start, length = self.start[queries], self.stop[queries] - self.start[queries]
        if start[0] + length.sum() == self.stop[queries[-1]] and len(queries) == queries[-1] - queries[0] + 1:
            return slice(start[0], self.stop[queries[-1]])
        return ranges(start, length)[1]


class ThresholdItems:
    """The distinct item of each threshold, written down where it was ranked pair by pair, else when it is asked for.

    It is rarely asked for. Threads that ask hold the lock of their queries, so nothing is found twice.
    """

    def __init__(self, item: SmallIntArray, known: npt.NDArray[np.bool_], find: Callable[[IntArray], None]) -> None:
        """`item` (T,) is known of those queries for which `known` (Q,) says so; `find` fills in both for others."""
        self.item, self.known, self.find = item, known, find

    def of(self, queries: IntArray) -> SmallIntArray:
        """The items of all thresholds, filled in for these queries at least."""
        unknown = np.unique(queries[~self.known[queries]])
        if len(unknown):
            self.find(unknown)
        return self.item


def room_for_guides(keys: int, queries: int) -> tuple[SmallIntArray, FloatArray]:
    """Guides for so many keys of so many queries, still empty, and their scales."""
    return np.zeros(keys // KEYS + queries, dtype=np.int32), np.zeros(queries)


@native
def fill_guides(
    queries: IntArray,
    start: IntArray,
    stop: IntArray,
    key: FloatArray,
    guide: Output[SmallIntArray],
    scale: Output[FloatArray],
) -> None:
    """For each of these queries, how many of its keys lie in earlier steps, step after step.

    A guide says where to look for a nearness among a query's thresholds. The span of its keys is cut into equal
    steps, one for every eight thresholds. The step of a nearness never falls as nearness does, whatever is rounded,
    since each operation rounds monotonically. So keys of earlier steps are larger, and keys of later steps smaller;
    only those of the same step have to be compared.

    A scale of 0 says that there is no guide: few keys, all of them equal, or too far apart for their difference.
    """


@dataclass(frozen=True)
class Ranked:
    """A block of queries whose relevant items are ranked, with the counts that tiles add to.

    grades : one per threshold, falling within a tie; None: all are 1
    partial : distinct items of which only some are excluded: no tile can weigh them
    n_items : (Q,) items ranked for each query
    """

    targets: Targets
    thresholds: Thresholds
    counts: Counts
    grades: FloatArray | None
    partial: Undecided
    n_items: IntArray
    items: ThresholdItems

    def ties(self, start: int = 0, stop: int | None = None) -> Ties:
        """What was counted for the queries start … stop-1, as ties."""
        span = slice(start, stop)
        first, last = self.thresholds.start[span], self.thresholds.stop[span]
        ties = np.empty((5, (last - first).sum()), dtype=np.int64)
        count = ties_of(first, last, self.counts.gap, self.counts.equal, ties)
        query, k, n, l, m = ties[:, :count]
        grades = None
        if self.grades is not None:
            parts = [self.grades[slice(*entries)] for entries in zip(first, last, strict=True)]
            grades = np.concatenate(parts) if parts else np.zeros(0)
        return Ties(query, k, n, l, m, n_relevant=last - first, n_items=self.n_items[span], grades=grades)


@native
def ties_of(first: IntArray, last: IntArray, gap: SmallIntArray, equal: SmallIntArray, ties: Output[IntArray]) -> int:
    """Write query, k, n, l, m, the rows of `ties`, of queries whose thresholds are first[q] … last[q]-1.

    Returns how many ties there are.
    """
