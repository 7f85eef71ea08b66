"""The relevant items of some queries in exact order, memory for them, and the counts of other items between them.

`RankedQueries` contains these items in the form in which other portions of an evaluation get them (`portions.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Scale
from tieproof.engine.structures import CONTINUED, Counts, Targets, Thresholds, Undecided
from tieproof.inputs.relevance import ranges
from tieproof.native.calls import Output, native
from tieproof.ties import BoolArray, FloatArray, IntArray, SmallIntArray, Ties

KEYS = 8
"""The approximate number of thresholds for each step of a guide (measured)."""

FARTHEST = 60
"""The largest exponent, in powers of two, between two scales for which keys are converted; none overflows."""

TINIEST = 2.0**-1022
"""The error of a key that becomes subnormal when it is converted."""


class Block(NamedTuple):
    """Arrays of entries: query q has start[q] … stop[q]-1, with room for as many entries as it can have."""

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
        """An empty block for queries with at most `at_most` relevant items each."""
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
        """Write the guides of the queries at `places`, whose keys have been written."""
        fill_guides(places, self.start, self.stop, self.key, self.guide, self.scale)

    def places_of(self, queries: IntArray) -> slice | IntArray:
        """The indices of the entries of some queries, one query after the other."""
        start, length = self.start[queries], self.stop[queries] - self.start[queries]
        if start[0] + length.sum() == self.stop[queries[-1]] and len(queries) == queries[-1] - queries[0] + 1:
            return slice(start[0], self.stop[queries[-1]])
        return ranges(start, length)[1]


class ThresholdItems:
    """The distinct item of each threshold: stored if it was ranked pair by pair, otherwise found on demand.

    The items are rarely needed. Threads that need them hold the lock of their queries, so no item is found twice.
    """

    def __init__(self, item: SmallIntArray, known: npt.NDArray[np.bool_], find: Callable[[IntArray], None]) -> None:
        """`item` (T,) is valid for the queries for which `known` (Q,) is set; `find` fills in both for others."""
        self.item, self.known, self.find = item, known, find

    def of(self, queries: IntArray) -> SmallIntArray:
        """The items of all thresholds, which are valid at least for these queries."""
        unknown = np.unique(queries[~self.known[queries]])
        if len(unknown):
            self.find(unknown)
        return self.item


def room_for_guides(keys: int, queries: int) -> tuple[SmallIntArray, FloatArray]:
    """Empty guides for `keys` keys of `queries` queries, and their scales."""
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
    """Write for each of these queries, step by step, how many of its keys are in earlier steps.

    A guide shows where to search for a nearness among a query's thresholds. The range of its keys is cut into equal
    steps, one for every eight thresholds. The step is a monotone function of the nearness, even with rounding,
    because each operation rounds monotonically. So keys of earlier steps are larger, keys of later steps are smaller,
    and only keys of the same step have to be compared.

    A scale of 0 means that there is no guide: there are few keys, all keys are equal, or their difference overflows.
    """


@dataclass(frozen=True)
class Ranked:
    """A block of queries whose relevant items are ranked, with the counts to which tiles are added.

    grades : the grade of each threshold, descending within a tie; None if all grades are 1
    partial : distinct items of which only some are excluded, which no tile can count
    n_items : (Q,) the number of items ranked for each query
    """

    targets: Targets
    thresholds: Thresholds
    counts: Counts
    grades: FloatArray | None
    partial: Undecided
    n_items: IntArray
    items: ThresholdItems

    def ties(self, start: int = 0, stop: int | None = None) -> Ties:
        """The counts for the queries start … stop-1, as ties."""
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
    """Write the rows query, k, n, l, m of `ties` for queries whose thresholds are first[q] … last[q]-1.

    Returns the number of ties.
    """


class RankedQueries(NamedTuple):
    """The relevant items of some queries in exact order: query q has start[q] … start[q+1]-1, nearest first.

    scale : the scale of the keys (`Space.scale`)
    key : the key of each item, descending within a query
    reach : for each query, how far the exact nearness may be from the key
    leads : whether each item is the first of its tie
    grades : the grade of each item, descending within a tie; None if all grades are 1
    """

    scale: Scale | None
    start: IntArray
    key: FloatArray
    reach: FloatArray
    leads: BoolArray
    grades: FloatArray | None

    @classmethod
    def of(cls, scale: Scale | None, ranked: Ranked, order: IntArray) -> "RankedQueries":
        """The ranked items of the queries `order`, sorted by the queries' numbers."""
        back = np.argsort(order)
        first, last = ranked.thresholds.start[back], ranked.thresholds.stop[back]
        start = np.zeros(len(order) + 1, dtype=np.int64)
        np.cumsum(last - first, out=start[1:])
        place = ranges(first, last - first)[1]
        return cls(
            scale,
            start,
            ranked.thresholds.key[place],
            ranked.thresholds.reach[back],
            ranked.counts.gap[place] != CONTINUED,
            None if ranked.grades is None else ranked.grades[place],
        )


class Known(NamedTuple):
    """The ranked items of a portion's queries: the fields of `RankedQueries`, converted to the scale of its space.

    usable : whether the keys of each query could be converted to that scale
    """

    usable: BoolArray
    start: IntArray
    key: FloatArray
    reach: FloatArray
    leads: BoolArray

    @classmethod
    def of(cls, parts: Sequence[RankedQueries], scale: Scale | None) -> "Known":
        """The converted items of the queries of all parts, one part after the other."""
        usable, keys, reaches = [], [], []
        for part in parts:
            steps = steps_between(part.scale, scale)
            usable.append(np.full(len(part.reach), steps is not None))
            keys.append(np.ldexp(part.key, steps) if steps else part.key)
            reaches.append(np.ldexp(part.reach, steps) + TINIEST if steps else part.reach)
        before = np.cumsum([0, *(len(part.key) for part in parts)])
        starts = [part.start[:-1] + shift for part, shift in zip(parts, before, strict=False)]
        return cls(
            np.concatenate(usable),
            np.concatenate([*starts, before[-1:]]),
            np.concatenate(keys),
            np.concatenate(reaches),
            np.concatenate([part.leads for part in parts]),
        )

    def hand_over(self, queries: IntArray, block: Block, places: IntArray) -> None:
        """Write the entries of queries, whose relevant items are equal to no other item, to `places` of a block."""
        length = self.start[queries + 1] - self.start[queries]
        block.stop[places] = block.start[places] + length
        own, theirs = ranges(block.start[places], length)[1], ranges(self.start[queries], length)[1]
        block.key[own] = self.key[theirs]
        block.gap[own] = np.where(self.leads[theirs], 0, CONTINUED)
        block.reach[places] = self.reach[queries]
        block.make_guide(places)


def steps_between(own: Scale | None, other: Scale | None) -> int | None:
    """The exponent of two that converts keys to another scale; None for a scale of another kind or too far away.

    >>> steps_between(Scale(("floats",), 3), Scale(("floats",), 1)), steps_between(Scale(("bits",)), None)
    (2, None)
    """
    if own is None or other is None or own.kind != other.kind:
        return None
    steps = own.exponent - other.exponent
    return steps if abs(steps) <= FARTHEST else None
