"""Thresholds for noise: the far and the near end of each relevant item's distance, counted beside the item itself.

An item that is not relevant may stand before a relevant one if it is at most as far as the far end, and must stand
before it if it is nearer than the near end (docs/noise.md).

An end is a multiple of a small power of two, plus a quarter of it, on the safe side of the true end. So it does not
depend on the float64 keys from which it is computed, which differ between tiles and orders of summation: if the range
of a key leaves two ends possible, the distance itself, rounded once, decides. Ordinary distances are not at such
ends, so that float64 keys decide nearly all comparisons with them; fractions decide the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import NamedTuple

import numpy as np

from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import Space
from tieproof.engine.plan import cut
from tieproof.engine.ranked import Ranked, RoomToSort, fill_guides, room_for_guides
from tieproof.engine.structures import CONTINUED, Counts, Thresholds, Undecided
from tieproof.exact.bounds import EXACT_INTEGERS, SAFETY
from tieproof.inputs.relevance import ranges
from tieproof.native.calls import Output, native
from tieproof.problem import Noise
from tieproof.ties import BoolArray, FloatArray, IntArray, SmallIntArray

STEPS = 32
"""Ends are multiples of 2^-32 of the largest distance, which is far above the errors of keys (measured)."""

FARTHEST = 4.0
"""Ends beyond this many times the largest distance mean the same as this many times."""

NOTHING = Undecided(*np.empty((5, 0), dtype=np.int64))

CHUNK = 2**13
"""The number of thresholds whose ends are made at a time, so that they stay in the cache (measured)."""


@dataclass(frozen=True)
class Ends(Ranked):
    """Ranked queries whose thresholds are the far and the near ends of their relevant items, nearest first.

    gauge : of the distance of the ends
    end : the distance of each threshold
    is_far : whether it is a far end
    """

    gauge: SpaceGauge
    end: FloatArray
    is_far: BoolArray

    def others(self, start: int, stop: int) -> tuple[IntArray, IntArray, IntArray]:
        """The others before each relevant item of the queries start … stop-1 of the block, nearest item first.

        Returns the queries, counted from 0, and the counts in the worst and in the best rankings.
        """
        first, last = self.thresholds.start[start:stop], self.thresholds.stop[start:stop]
        own, length, place = slice(int(first[0]), int(last[-1])), last - first, np.arange(stop - start)
        gap, equal = self.counts.gap[own], self.counts.equal[own]
        leads = gap != CONTINUED
        if not leads.all():
            gap, equal = np.where(leads, gap, 0), equal[np.flatnonzero(leads)][np.cumsum(leads) - 1]
        before = np.cumsum(gap, dtype=np.int64)
        before -= np.repeat(np.append(0, before)[first - own.start], length)
        far = self.is_far[own]
        return np.repeat(place, length // 2), (before + equal)[far], before[~far]

    def place(self, items: Undecided, lock: Lock) -> None:
        """Count items that float64 leaves undecided, by exact fractions."""
        if not len(items.query):
            return
        rows, unit = self.targets.row[items.query], self.gauge.unit
        for part, keys in self.gauge.exact_by_part(np.zeros(len(rows)), rows, items.item):
            columns = zip(*(column[part].tolist() for column in items), strict=True)
            for (query, _, weight, first, last), key in zip(columns, keys, strict=True):
                start, stop = int(self.thresholds.start[query]), int(self.thresholds.stop[query])
                place, equal = self._place_of(Fraction(key) * unit, start + first, start + last)
                with lock:
                    if equal:
                        self.counts.equal[place] += weight
                        place += 1
                        while place < stop and self.counts.gap[place] == CONTINUED:
                            place += 1
                    if place < stop:
                        self.counts.gap[place] += weight

    def _place_of(self, key: Fraction, first: int, last: int) -> tuple[int, bool]:
        """The first threshold, before `last`, that is not nearer than a key, and whether it is equal to it."""
        for place in range(first, last):
            end = self.gauge.key_of(Fraction(float(self.end[place])))
            if key <= end:
                return place, key == end
        return last, False


@dataclass(frozen=True)
class Together(Ranked):
    """Ranked queries and their ends as thresholds of the same queries, so that tiles are searched and counted once.

    ranked, ends : the two parts, which receive the counts
    first_of_tie : the first threshold of each tie of `ranked`, query after query
    ties_before : (T + 1,) how many of the ties are before each threshold; all others before it are ends
    """

    ranked: Ranked
    ends: Ends
    first_of_tie: IntArray
    ties_before: SmallIntArray

    @property
    def parts(self) -> Sequence[Ranked]:
        """The two parts."""
        return self.ranked, self.ends

    def hand_out(self) -> None:
        """Add the counts to those of the two parts."""
        length = self.thresholds.stop - self.thresholds.start
        for span in cut(length, CHUNK):
            first, last = int(self.thresholds.start[span.start]), int(self.thresholds.stop[span.stop - 1])
            gap, equal = (counts[first:last] for counts in self.counts)
            here = np.flatnonzero((gap > 0) | (equal > 0))
            query = np.repeat(np.arange(span.start, span.stop), length[span])[here]
            key = self.thresholds.key[first:last]
            for part, place in zip(self.parts, self._places(query, first + here), strict=True):
                inside = place < part.thresholds.stop[query]
                own, theirs = here[inside], place[inside]
                np.add.at(part.counts.gap, theirs, gap[own])
                same = part.thresholds.key[theirs] == key[own]
                np.add.at(part.counts.equal, theirs[same], equal[own[same]])

    def _places(self, query: IntArray, at: IntArray) -> tuple[IntArray, IntArray]:
        """The first thresholds of both parts that are not before thresholds `at` of queries, or the queries' ends."""
        tie = self.ties_before[at]
        inside = tie < self.ties_before[self.thresholds.stop[query]]
        stop = self.ranked.thresholds.stop[query]
        return np.where(inside, self.first_of_tie[tie * inside], stop), at - tie

    def divide(self, items: Undecided, lock: Lock) -> tuple[Undecided, Undecided]:
        """The items as undecided among the thresholds of each part; those decided already are counted."""
        query, item, weight, first, last = items
        start = self.thresholds.start[query]
        divided = []
        both = zip(self.parts, self._places(query, start + first), self._places(query, start + last), strict=True)
        for part, begin, end in both:
            decided = begin == end
            inside = decided & (begin < part.thresholds.stop[query])
            with lock:
                np.add.at(part.counts.gap, begin[inside], weight[inside].astype(np.int32))
            own = part.thresholds.start[query]
            columns = (query, item, weight, begin - own, end - own)
            divided.append(Undecided(*(column[~decided] for column in columns)))
        return divided[0], divided[1]


class Steps(NamedTuple):
    """The ends that are possible for a radius: `size` is a power of two, `most` the farthest end."""

    size: float
    most: float

    @classmethod
    def of(cls, extent: float) -> "Steps":
        """The steps for distances up to `extent`."""
        size = 2.0 ** (int(np.frexp(extent)[1]) - STEPS)
        return cls(size, FARTHEST * 2.0**STEPS * size)


class Unmerged(NamedTuple):
    """The ends of some queries before they are sorted; the first row of `end` and `key` has the far ends.

    length, ties : (Q,) the number of thresholds, and of ties of relevant items, of each query
    tie_key : the keys of the ties, which fall
    end, key : (2, T) the distances and the keys of the ends of all thresholds
    """

    length: IntArray
    ties: IntArray
    tie_key: FloatArray
    end: FloatArray
    key: FloatArray


class Merged(NamedTuple):
    """The ends of some queries, the nearest of each query first, and their keys merged with those of ties."""

    end: FloatArray
    is_far: BoolArray
    key: FloatArray
    both: FloatArray
    is_tie: BoolArray


@native
def step_ends(
    least: FloatArray,
    most: FloatArray,
    radius: FloatArray,
    steps: Steps,
    ends: Output[FloatArray],
    unsure: Output[IntArray],
) -> int:
    """Write the far ends and the near ends, rows of `ends`, of distances between two numbers rounded to float64.

    A far end is beyond the distance plus twice the radius, a near end before the distance minus twice the radius.
    Returns the number of distances, which are written to `unsure`, whose ends depend on where between the numbers
    they are; theirs are those of the smaller number.
    """


@native
def merge_ends(ends: Unmerged, by_key: bool, room: Output[RoomToSort], merged: Output[Merged]) -> None:
    """Sort the ends of each query by their distances, or if `by_key` by their keys, and merge these with the ties.

    Equal ends keep their order, and ties are before ends with the same key.
    """


def together(space: Space, ranked: Ranked, noise: Noise, radius: FloatArray, items: slice) -> Together:
    """Ranked queries, whose other items are not counted yet, with the ends of their relevant items.

    radius : (Q,) of each query of the block; an end is twice as far from the item
    items : the distinct items that are counted
    """
    assert noise.distance is not None
    thresholds, targets = ranked.thresholds, ranked.targets
    length = thresholds.stop - thresholds.start
    ends = _Room.of(2 * length)
    place = ranges(thresholds.start, length)[1]
    leads = ranked.counts.gap[place] != CONTINUED
    first_of_tie = place[leads]
    ties = np.diff(np.append(0, np.cumsum(leads, dtype=np.int32))[np.append(0, np.cumsum(length))])
    both = _Room.of(ties + 2 * length)
    end, is_far = np.empty(len(ends.key)), np.empty(len(ends.key), dtype=np.bool_)
    is_tie = np.empty(len(both.key), dtype=np.bool_)
    making = _Making(space, noise.distance.gauge(space), ranked, radius, Steps.of(noise.extent), length, place)
    room = RoomToSort.of(3 * int(length.max(initial=0)))
    certain = space.all_errors.certain
    spans = list(cut(length, CHUNK))
    made = making.ends(spans)
    for span, of_thresholds in zip(spans, made, strict=True):
        own, all_own = ends.places(span), both.places(span)
        keys, ends.reach[span] = making.keys(span, of_thresholds)
        tie_keys = thresholds.key[first_of_tie[all_own.start - own.start : all_own.stop - own.stop]]
        unmerged = Unmerged(length[span], ties[span], tie_keys, of_thresholds, keys)
        merged = Merged(end[own], is_far[own], ends.key[own], both.key[all_own], is_tie[all_own])
        merge_ends(unmerged, certain, room, merged)
        ends.mark(span, ends.key[own] if certain else end[own])
        both.reach[span] = np.maximum(thresholds.reach[span], ends.reach[span])
        if certain:
            both.mark(span, both.key[all_own])
    ties_before = np.zeros(len(is_tie) + 1, dtype=np.int32)
    np.cumsum(is_tie, out=ties_before[1:])
    apart = _apart_from_tiles(ranked, length, first_of_tie)
    inside = (apart.item >= items.start) & (apart.item < items.stop)
    partial = Undecided(*(column[inside] for column in apart))
    return Together(
        targets=targets,
        grades=None,
        n_items=ranked.n_items,
        items=ranked.items,
        thresholds=both.thresholds(),
        counts=both.counts,
        partial=NOTHING,
        ranked=ranked,
        ends=Ends(
            targets=targets,
            grades=None,
            n_items=ranked.n_items,
            items=ranked.items,
            thresholds=ends.thresholds(),
            counts=ends.counts,
            partial=partial,
            gauge=making.gauge,
            end=end,
            is_far=is_far,
        ),
        first_of_tie=first_of_tie,
        ties_before=ties_before,
    )


class _Room(NamedTuple):
    """Thresholds while they are made, without gaps between queries; the counts are zero."""

    start: IntArray
    stop: IntArray
    key: FloatArray
    reach: FloatArray
    counts: Counts

    @classmethod
    def of(cls, length: IntArray) -> "_Room":
        """Room for so many thresholds of each query."""
        stop = np.cumsum(length)
        count = int(length.sum())
        return cls(
            stop - length, stop, np.empty(count), np.zeros(len(length)), Counts(*np.zeros((2, count), np.int32))
        )

    def places(self, span: slice) -> slice:
        """The places of the thresholds of some queries."""
        return slice(int(self.start[span.start]), int(self.stop[span.stop - 1]))

    def mark(self, span: slice, apart: FloatArray) -> None:
        """Mark neighboring thresholds of a query that are equal in `apart`, which belong together."""
        own = self.places(span)
        same = np.zeros(len(apart) + 1, dtype=np.bool_)
        np.equal(apart[1:], apart[:-1], out=same[1:-1])
        same[self.start[span] - own.start] = False
        self.counts.gap[own][same[:-1]] = CONTINUED

    def thresholds(self) -> Thresholds:
        """The thresholds with their guides, without margins."""
        guide, scale = room_for_guides(len(self.key), len(self.start))
        fill_guides(np.arange(len(self.start)), self.start, self.stop, self.key, guide, scale)
        return Thresholds(self.start, self.stop, self.key, self.reach, np.zeros(len(self.start)), guide, scale)


class _Making(NamedTuple):
    """Makes the ends of ranked queries; radius (Q,) is that of each query of the block.

    length : (Q,) the number of thresholds of each query
    place : the place of each threshold, query after query
    """

    space: Space
    gauge: SpaceGauge
    ranked: Ranked
    radius: FloatArray
    steps: Steps
    length: IntArray
    place: IntArray

    def of_span(self, span: slice) -> tuple[IntArray, IntArray]:
        """The query of each threshold of a span, and the place of the threshold."""
        query = np.repeat(np.arange(span.start, span.stop), self.length[span])
        first = int(self.length[: span.start].sum())
        return query, self.place[first : first + len(query)]

    def ends(self, spans: Sequence[slice]) -> list[FloatArray]:
        """The far and the near ends of the thresholds of each span of queries, as rows."""
        thresholds, rows = self.ranked.thresholds, self.ranked.targets.row
        made, left = [], []
        for span in spans:
            query, place = self.of_span(span)
            key, reach = thresholds.key[place], thresholds.reach[query]
            ends, unsure = np.empty((2, len(key))), np.empty(len(key), dtype=np.int64)
            with np.errstate(over="ignore", invalid="ignore"):
                least, most = self.gauge.distance_range(rows[query], key - reach, key + reach)
            some = unsure[: step_ends(least, most, self.radius[query], self.steps, ends, unsure)]
            made.append(ends)
            left.append((query[some], place[some], some))
        query, place = (np.concatenate(column) for column in list(zip(*left, strict=True))[:2])
        if len(query):
            items = self.ranked.items.of(np.unique(query))[place].astype(np.int64)
            distances, sure = self.gauge.distances(rows[query], items), np.empty((2, len(query)))
            step_ends(distances, distances, self.radius[query], self.steps, sure, np.empty_like(query))
            parts = np.split(sure, np.cumsum([len(some) for *_, some in left])[:-1], axis=1)
            for ends, (*_, some), part in zip(made, left, parts, strict=True):
                ends[:, some] = part
        return made

    def keys(self, span: slice, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The keys of the ends of some queries, and each query's reach.

        If keys have no error, ends are rounded to keys on the safe side: whole numbers if keys are whole. These keys,
        and not the ends, are then in the order in which ends are counted.
        """
        length, rows = self.length[span], self.ranked.targets.row[self.of_span(span)[0]]
        low, high = (np.empty_like(ends) for _ in range(2))
        for at, row in enumerate(ends):
            low[at], high[at] = self.gauge.key_range(rows, row)
        of_queries = np.zeros(len(length))
        if self.space.all_errors.certain:
            if self.space.form.whole:
                most_exact = EXACT_INTEGERS[self.space.tile_type]
                low, high = (np.clip(each, -most_exact, most_exact) for each in (np.ceil(low), np.floor(high)))
            return np.stack([low[0], high[1]]), of_queries
        widths = (high - low) * SAFETY
        asking = length > 0
        starts = (np.cumsum(length) - length)[asking]
        if len(starts):
            of_queries[asking] = np.maximum.reduceat(widths.max(axis=0), starts)
        return low + (high - low) / 2, of_queries


def _apart_from_tiles(ranked: Ranked, length: IntArray, first_of_tie: IntArray) -> Undecided:
    """The items that no tile counts: those that queries exclude in part, and those equal to a relevant item."""
    tied = first_of_tie[ranked.counts.equal[first_of_tie] > 0]
    query = np.searchsorted(ranked.thresholds.start, tied, side="right") - 1
    items = ranked.items.of(np.unique(query))[tied].astype(np.int64) if len(tied) else tied
    weight = ranked.counts.equal[tied].astype(np.int64)
    of_relevant = Undecided(query, items, weight, np.zeros_like(tied), 2 * length[query])
    partial = ranked.partial._replace(last=2 * length[ranked.partial.query])
    return Undecided(*(np.concatenate(both) for both in zip(partial, of_relevant, strict=True)))
