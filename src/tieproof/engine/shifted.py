"""Thresholds for noise: the far and the near end of each relevant item's distance, counted beside the distance itself.

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
from tieproof.engine.extremes import ranking_of
from tieproof.engine.ranked import Ranked, RoomToSort, fill_guides, room_for_guides
from tieproof.engine.ranking import Ordered, sort_by_key
from tieproof.engine.structures import CONTINUED, Counts, Thresholds, Undecided
from tieproof.exact.bounds import EXACT_INTEGERS, SAFETY
from tieproof.inputs.relevance import ranges
from tieproof.problem import Noise
from tieproof.ties import BoolArray, ExtremeTies, FloatArray, IntArray

STEPS = 38
"""Ends are multiples of 2^-38 of the largest distance, which is far above the errors of keys (measured)."""

FARTHEST = 4.0
"""Ends beyond this many times the largest distance mean the same as this many times."""

CHUNK = 2**15
"""The number of thresholds whose ends are computed at a time, so that they stay in the cache."""


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

    def extremes(self, start: int, stop: int) -> ExtremeTies:
        """The worst and the best rankings of the queries start … stop-1 of the block, from the counts."""
        first, last = self.thresholds.start[start:stop], self.thresholds.stop[start:stop]
        own = slice(int(first[0]), int(last[-1]))
        leads = self.counts.gap[own] != CONTINUED
        tie = np.cumsum(leads) - 1
        gap = np.where(leads, self.counts.gap[own], 0).astype(np.int64)
        before = np.cumsum(gap)
        query = np.repeat(np.arange(stop - start), last - first)
        before -= np.append(0, before)[first - own.start][query]
        far = self.is_far[own]
        worst = (before + self.counts.equal[own][np.flatnonzero(leads)][tie])[far]
        n_relevant, n_items = (last - first) // 2, self.n_items[start:stop]
        return ExtremeTies(
            ranking_of(query[far], worst, n_relevant, n_items),
            ranking_of(query[~far], before[~far], n_relevant, n_items),
        )

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
    ties : the first threshold of each tie of `ranked`, query after query
    ties_before, ends_before : (T + 1,) how many of the ties, and of the ends, are before each threshold
    """

    ranked: Ranked
    ends: Ends
    first_of_tie: IntArray
    ties_before: IntArray
    ends_before: IntArray

    @property
    def parts(self) -> Sequence[Ranked]:
        """The two parts."""
        return self.ranked, self.ends

    def hand_out(self) -> None:
        """Add the counts to those of the two parts."""
        start, stop, key = self.thresholds.start, self.thresholds.stop, self.thresholds.key
        gap, equal = self.counts
        query = np.repeat(np.arange(len(start)), stop - start)
        counted = np.flatnonzero((gap > 0) | (equal > 0))
        for part, place in zip(self.parts, self._places(query[counted], counted), strict=True):
            inside = place < part.thresholds.stop[query[counted]]
            place, here = place[inside], counted[inside]
            np.add.at(part.counts.gap, place, gap[here])
            same = part.thresholds.key[place] == key[here]
            np.add.at(part.counts.equal, place[same], equal[here[same]])

    def _places(self, query: IntArray, at: IntArray) -> tuple[IntArray, IntArray]:
        """The first thresholds of both parts that are not before thresholds `at` of queries, or the queries' ends."""
        tie = self.ties_before[at]
        last = self.ties_before[self.thresholds.stop[query]]
        known = np.append(self.first_of_tie, 0)
        return np.where(tie < last, known[tie], self.ranked.thresholds.stop[query]), self.ends_before[at]

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

    def far(self, distance: FloatArray, radius: FloatArray) -> FloatArray:
        """An end beyond the distance, rounded to float64, plus twice the radius; it never falls with the distance."""
        end = np.minimum(distance + 2 * radius, self.most) / self.size
        return np.asarray((np.ceil(end) + 0.25) * self.size)

    def near(self, distance: FloatArray, radius: FloatArray) -> FloatArray:
        """An end before the distance, rounded to float64, minus twice the radius; it never falls with the distance."""
        end = np.maximum(distance - 2 * radius, -self.most) / self.size
        return np.asarray((np.floor(end) - 0.25) * self.size)


class _Entries(NamedTuple):
    """The thresholds of a block of queries, without gaps.

    query, place : of each threshold, its query in the block and its place in the arrays of the block
    length : (Q,) the number of thresholds of each query
    """

    query: IntArray
    place: IntArray
    length: IntArray

    @classmethod
    def of(cls, ranked: Ranked) -> "_Entries":
        """The thresholds of ranked queries."""
        length = ranked.thresholds.stop - ranked.thresholds.start
        return cls(*ranges(ranked.thresholds.start, length), length)


def ends_of(space: Space, ranked: Ranked, noise: Noise, queries: IntArray) -> Ends:
    """The ends of the relevant items of ranked queries, whose other items are not counted yet.

    queries : the number of each query of the block
    """
    assert noise.distance is not None
    gauge, entries = noise.distance.gauge(space), _Entries.of(ranked)
    stop = np.cumsum(2 * entries.length)
    start = stop - 2 * entries.length
    # The far ends of a query, and then its near ends, are each from the nearest on.
    far = np.arange(len(entries.query)) + (start // 2)[entries.query]
    near = far + entries.length[entries.query]
    end, is_far = np.empty(2 * len(far)), np.zeros(2 * len(far), dtype=np.bool_)
    end[far], end[near] = _ends(gauge, ranked, entries, noise.radius[queries], Steps.of(noise.extent))
    is_far[far] = True
    owner = np.repeat(np.arange(len(start)), 2 * entries.length)
    order = _falling(owner, -end)
    end, is_far = end[order], is_far[order]
    reach = np.zeros(len(start))
    key, apart = _keys(space, gauge, ranked.targets.row[owner], end, is_far, owner, reach)
    return Ends(
        targets=ranked.targets,
        thresholds=_thresholds(start, stop, key, reach),
        counts=_counts(owner, apart),
        grades=None,
        partial=_apart_from_tiles(ranked, entries),
        n_items=ranked.n_items,
        items=ranked.items,
        gauge=gauge,
        end=end,
        is_far=is_far,
    )


def together(space: Space, ranked: Ranked, ends: Ends) -> Together:
    """The thresholds of ranked queries and of their ends, in one order of keys."""
    entries = _Entries.of(ranked)
    leads = ranked.counts.gap[entries.place] != CONTINUED
    first_of_tie, of_tie = entries.place[leads], entries.query[leads]
    count = len(entries.length)
    ties = np.bincount(of_tie, minlength=count)
    stop = np.cumsum(ties + 2 * entries.length)
    start = stop - ties - 2 * entries.length
    owner = np.repeat(np.arange(count), ties + 2 * entries.length)
    is_tie = np.zeros(len(owner), dtype=np.bool_)
    is_tie[np.arange(len(of_tie)) + ends.thresholds.start[of_tie]] = True
    key = np.empty(len(owner))
    key[is_tie], key[~is_tie] = ranked.thresholds.key[first_of_tie], ends.thresholds.key
    order = _falling(owner, key)
    key, is_tie = key[order], is_tie[order]
    before = np.zeros((2, len(owner) + 1), dtype=np.int64)
    np.cumsum(is_tie, out=before[0, 1:])
    np.cumsum(~is_tie, out=before[1, 1:])
    return Together(
        targets=ranked.targets,
        thresholds=_thresholds(start, stop, key, np.maximum(ranked.thresholds.reach, ends.thresholds.reach)),
        counts=_counts(owner, key if space.all_errors.certain else np.arange(len(key))),
        grades=None,
        partial=Undecided(*np.empty((5, 0), dtype=np.int64)),
        n_items=ranked.n_items,
        items=ranked.items,
        ranked=ranked,
        ends=ends,
        first_of_tie=first_of_tie,
        ties_before=before[0],
        ends_before=before[1],
    )


def _falling(owner: IntArray, key: FloatArray) -> IntArray:
    """The order in which the keys of each query fall; equal keys keep their order."""
    count = len(key)
    longest = int(np.bincount(owner).max(initial=0))
    found = Ordered(np.empty_like(owner), np.empty(count), np.empty(count), np.empty(count, dtype=np.bool_))
    sort_by_key(owner, key, np.zeros(count), RoomToSort.of(longest), found)
    order = found.order
    again = (order[1:] < order[:-1]) & (found.key[1:] == found.key[:-1]) & (owner[1:] == owner[:-1])
    return np.lexsort((-key, owner)) if again.any() else order


def _thresholds(start: IntArray, stop: IntArray, key: FloatArray, reach: FloatArray) -> Thresholds:
    """Thresholds without margins, with their guides."""
    guide, scale = room_for_guides(len(key), len(start))
    fill_guides(np.arange(len(start)), start, stop, key, guide, scale)
    return Thresholds(start, stop, key, reach, np.zeros(len(start)), guide, scale)


def _counts(owner: IntArray, apart: FloatArray | IntArray) -> Counts:
    """Counts of zero; neighboring thresholds of a query that are equal in `apart` belong together."""
    gap, equal = np.zeros((2, len(owner)), dtype=np.int32)
    gap[1:][(owner[1:] == owner[:-1]) & (apart[1:] == apart[:-1])] = CONTINUED
    return Counts(gap, equal)


def _ends(
    gauge: SpaceGauge, ranked: Ranked, entries: _Entries, radius: FloatArray, steps: Steps
) -> tuple[FloatArray, FloatArray]:
    """The far and the near end of each threshold."""
    far, near = np.empty((2, len(entries.query)))
    unsure = np.zeros(len(far), dtype=np.bool_)
    for first in range(0, len(far), CHUNK):
        some = slice(first, first + CHUNK)
        query = entries.query[some]
        key, reach = ranked.thresholds.key[entries.place[some]], ranked.thresholds.reach[query]
        with np.errstate(over="ignore", invalid="ignore"):
            least, most = gauge.distance_range(ranked.targets.row[query], key - reach, key + reach)
            far[some], near[some] = steps.far(least, radius[query]), steps.near(least, radius[query])
            unsure[some] = far[some] != steps.far(most, radius[query])
            unsure[some] |= near[some] != steps.near(most, radius[query])
    left = np.flatnonzero(unsure)
    if len(left):
        query = entries.query[left]
        items = ranked.items.of(np.unique(query))[entries.place[left]].astype(np.int64)
        distances = gauge.distances(ranked.targets.row[query], items)
        far[left], near[left] = steps.far(distances, radius[query]), steps.near(distances, radius[query])
    return far, near


def _keys(
    space: Space,
    gauge: SpaceGauge,
    rows: IntArray,
    end: FloatArray,
    is_far: BoolArray,
    owner: IntArray,
    reach: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The keys of ends, and numbers that differ where thresholds do; the reach of each query is written to `reach`.

    If keys have no error, ends are rounded to keys on the safe side: whole numbers if keys are whole.
    """
    low, high = gauge.key_range(rows, end)
    if not space.all_errors.certain:
        np.maximum.at(reach, owner, (high - low) * SAFETY)
        return low + (high - low) / 2, end
    if space.form.whole:
        most = EXACT_INTEGERS[space.tile_type]
        low, high = np.clip(np.ceil(low), -most, most), np.clip(np.floor(high), -most, most)
    key = np.where(is_far, low, high)
    return key, key


def _apart_from_tiles(ranked: Ranked, entries: _Entries) -> Undecided:
    """The items that no tile counts: those that queries exclude in part, and those equal to a relevant item."""
    query, place, length = entries
    equal = ranked.counts.equal[place]
    tied = np.flatnonzero((equal > 0) & (ranked.counts.gap[place] != CONTINUED))
    none = np.zeros(len(tied), dtype=np.int64)
    owners, where = query[tied], place[tied]
    items = ranked.items.of(np.unique(owners))[where].astype(np.int64) if len(tied) else none
    of_relevant = Undecided(owners, items, equal[tied].astype(np.int64), none, 2 * length[owners])
    partial = ranked.partial._replace(last=2 * length[ranked.partial.query])
    return Undecided(*(np.concatenate(both) for both in zip(partial, of_relevant, strict=True)))
