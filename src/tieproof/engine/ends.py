"""The ends of relevant items' distances under noise as thresholds, and the counts at them; `shifted.py` makes them.

An item that is not relevant may stand before a relevant one if it is at most as far as the far end, and must stand
before it if it is nearer than the near end (engine/README.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

import numpy as np

from tieproof.distances.gauge import SpaceGauge
from tieproof.engine.ranked import Ranked
from tieproof.engine.structures import CONTINUED, Undecided
from tieproof.native.threads import cut
from tieproof.ties import BoolArray, FloatArray, IntArray, SmallIntArray

CHUNK = 2**13  # how many thresholds are made, or handed out, at a time, so that they stay in the cache (measured)


@dataclass(frozen=True)
class Ends(Ranked):
    """Ranked queries whose thresholds are the far and the near ends of their relevant items, nearest first."""

    gauge: SpaceGauge  # of the distance of the ends
    end: FloatArray  # the distance of each threshold
    is_far: BoolArray  # whether it is a far end

    def others(self, start: int, stop: int) -> tuple[IntArray, IntArray, IntArray]:
        """The queries start … stop-1, from 0, of all relevant items, and the others before them at worst and best."""
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
    """The ties and the ends of each query, merged into one list of thresholds, so that tiles are searched once."""

    # ranked, ends: the queries with their ties alone, and with their ends alone; they receive the counts.
    ranked: Ranked
    ends: Ends
    first_of_tie: IntArray  # the first threshold of each tie of `ranked`, query after query
    # (T + 1,) how many of the ties are before each threshold; all others before it are ends.
    ties_before: SmallIntArray

    @property
    def parts(self) -> Sequence[Ranked]:
        """The queries with their ties, and with their ends."""
        return self.ranked, self.ends

    def hand_out(self) -> None:
        """Add what was counted at the merged thresholds to the counts of the ties and to those of the ends."""
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
        """Where the merged thresholds `at` of queries stand, or those that follow them, among their ties and ends."""
        tie = self.ties_before[at]
        inside = tie < self.ties_before[self.thresholds.stop[query]]
        stop = self.ranked.thresholds.stop[query]
        return np.where(inside, self.first_of_tie[tie * inside], stop), at - tie

    def divide(self, items: Undecided, lock: Lock) -> tuple[Undecided, Undecided]:
        """The items whose place among the ties, and among the ends, is undecided; decided ones are counted there."""
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
            divided.append(Undecided(query, item, weight, begin - own, end - own).where(~decided))
        return divided[0], divided[1]
