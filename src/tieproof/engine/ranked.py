"""The items that queries rank and leave out, room for their thresholds, and the counts of other items between these.

`ranking.py` begins with `Paired` and ends with `Ranked`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Space
from tieproof.engine.structures import Counts, Targets, Thresholds, Undecided
from tieproof.inputs.relevance import RelevantBlock, pointers, ranges
from tieproof.native.calls import Output, native
from tieproof.ties import BoolArray, FloatArray, IntArray, SmallIntArray, Ties

KEYS = 8  # the approximate number of thresholds for each step of a guide (measured)


class RoomToSort(NamedTuple):
    """Working memory for sorting lists of at most n numbers with their positions; only kernels read it."""

    value: FloatArray  # (3, n)
    place: SmallIntArray  # (3, n)
    key: npt.NDArray[np.uint64]  # (2, n)

    @classmethod
    def of(cls, longest: int) -> "RoomToSort":
        """Working memory for lists of at most `longest` numbers."""
        return cls(
            np.empty((3, longest)), np.empty((3, longest), dtype=np.int32), np.empty((2, longest), dtype=np.uint64)
        )


def left_out(space: Space, rows: IntArray, block: RelevantBlock) -> tuple[Targets, tuple[IntArray, IntArray]]:
    """Queries with these rows, and the rows of items that they leave out, because all of these are excluded.

    Returns also pairs of a query and a row of which it ranks some items, as position * rows + row, ascending, and how
    many items these are.
    """
    count, n_rows = len(block.excluded_pointer) - 1, len(space.items)
    position = np.repeat(np.arange(count), np.diff(block.excluded_pointer))
    pair, excluded = np.unique(position * n_rows + space.items.identity[block.excluded], return_counts=True)
    rest = space.items.weight[pair % n_rows] - excluded
    whole = pair[rest == 0]
    # A run ends where the next row is not left out, or belongs to another query.
    starts = np.flatnonzero((np.diff(whole, prepend=-2) != 1) | (whole % n_rows == 0))
    first, length = whole[starts], np.diff(np.append(starts, len(whole)))
    run = np.stack([first % n_rows, first % n_rows + length], axis=1).astype(np.int32)
    ends = pointers(first // n_rows, count)
    return Targets(rows, ends[:-1], ends[1:], run), (pair[rest > 0], rest[rest > 0])


class Pairs(NamedTuple):
    """Pairs of a query and a distinct item that represents at least one relevant item, in ascending order."""

    query: IntArray
    item: IntArray
    relevant: IntArray  # how many of the represented items are relevant to the query
    # How many are neither relevant nor excluded; they are tied with the relevant ones at every distance.
    others: IntArray


class Paired(NamedTuple):
    """The items that queries rank and that they leave out of the count."""

    pairs: Pairs
    of_item: IntArray  # the pair to which each relevant item belongs; empty if no grades are needed
    targets: Targets
    partial: Undecided  # distinct items of which a query excludes some, and of which none is relevant


class PairedUp(NamedTuple):
    """The numbers of pairs, partial items and runs written."""

    pairs: int
    partial: int
    runs: int


def of_queries(pairs: Pairs, chosen: BoolArray) -> Pairs:
    """The pairs of the chosen queries, with the queries renumbered."""
    if chosen.all():
        return pairs
    kept = chosen[pairs.query]
    number = np.cumsum(chosen) - 1
    query, *others = (column[kept] for column in pairs)
    return Pairs(number[query], *others)


def room_for(relevant: RelevantBlock) -> RoomToSort:
    """Working memory for the longest list of relevant or excluded items."""
    pointers = (relevant.pointer, relevant.excluded_pointer)
    return RoomToSort.of(max(int((pointer[1:] - pointer[:-1]).max(initial=0)) for pointer in pointers))


def paired_rows(space: Space, rows: IntArray, relevant: RelevantBlock, room: RoomToSort) -> Paired:
    """The distinct items that queries with these rows rank and leave out."""
    n_relevant, n_left_out, count = len(relevant.items), len(relevant.excluded), len(relevant.pointer) - 1
    pairs, partial = np.empty((4, n_relevant), dtype=np.int64), np.empty((5, n_left_out), dtype=np.int64)
    of_item = np.empty(0 if relevant.grades is None else n_relevant, dtype=np.int64)
    ends, run = np.zeros(count + 1, dtype=np.int64), np.empty((n_relevant + n_left_out, 2), dtype=np.int32)
    identity, weight = space.items.identity, space.items.weight
    written = pair_up(relevant, identity, weight, room, pairs, of_item, partial, ends[1:], run)
    return Paired(
        Pairs(*pairs[:, : written.pairs]),
        of_item,
        Targets(rows, ends[:-1], ends[1:], run[: written.runs]),
        Undecided(*partial[:, : written.partial]),
    )


@native
def pair_up(
    relevant: RelevantBlock,
    identity: IntArray,
    weight: IntArray,
    room: Output[RoomToSort],
    pairs: Output[IntArray],
    of_item: Output[IntArray],
    partial: Output[IntArray],
    last: Output[IntArray],
    run: Output[SmallIntArray],
) -> PairedUp:
    """Write the contents of `Paired`: pairs, the pair of each item, partial items, and runs that end at `last`.

    The rows of `pairs` and of `partial` are the fields of `Pairs` and of `Undecided`.
    """


def join(parts: Sequence[Targets]) -> Targets:
    """Consecutive queries as one group."""
    before = np.cumsum([0, *(len(part.run) for part in parts)]).tolist()
    moved = [
        Targets(row, first + shift, last + shift, run)
        for (row, first, last, run), shift in zip(parts, before, strict=False)
    ]
    return Targets(*map(np.concatenate, zip(*moved, strict=True)))


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

    @property
    def counts(self) -> Counts:
        """The counts of the entries."""
        return Counts(self.gap, self.equal)

    def thresholds(self) -> Thresholds:
        """The entries as thresholds without margins."""
        margin = np.zeros(len(self.start))
        return Thresholds(self.start, self.stop, self.key, self.reach, margin, self.guide, self.scale)

    def make_guide(self, places: IntArray) -> None:
        """Write the guides of the queries at `places`, whose keys have been written."""
        fill_guides(places, self.start, self.stop, self.key, self.guide, self.scale)

    def places_of(self, queries: IntArray) -> slice | IntArray:
        """The indices of the entries of some queries, one query after the other."""
        start, length = self.start[queries], self.stop[queries] - self.start[queries]
        if start[0] + length.sum() == self.stop[queries[-1]] and len(queries) == queries[-1] - queries[0] + 1:
            return slice(start[0], self.stop[queries[-1]])
        return ranges(start, length)[1]


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
    """A block of queries whose relevant items are ranked, with the counts to which tiles are added."""

    targets: Targets
    thresholds: Thresholds
    counts: Counts
    grades: FloatArray | None  # the grade of each threshold, descending within a tie; None if all grades are 1
    partial: Undecided  # distinct items of which only some are excluded, which no tile can count
    n_items: IntArray  # (Q,) the number of items ranked for each query
    # Returns the distinct items of all thresholds, which are valid at least for some queries. They are rarely
    # needed, and found on demand; threads that need them hold the lock of their queries, so none is found
    # twice.
    items: Callable[[IntArray], SmallIntArray]

    @property
    def parts(self) -> "Sequence[Ranked]":
        """The ranked queries whose counts are asked for."""
        return (self,)

    def hand_out(self) -> None:
        """Add the counts of tiles to those of the parts, which differ from them only if there are several."""

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
