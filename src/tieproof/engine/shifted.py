"""Thresholds for noise: the far and the near end of each relevant item's distance, counted like the distance itself.

Each query becomes two: one with the far ends of its relevant items as thresholds, and one with the near ends. An item
that is not relevant may stand before a relevant one if it is at most as far as the far end, and must stand before it
if it is nearer than the near end (docs/noise.md).

An end is a multiple of a small power of two, plus a quarter of it, on the safe side of the true end. So it does not
depend on the float64 keys from which it is computed, which differ between tiles and orders of summation: if the range
of a key leaves two ends possible, the distance itself, rounded once, decides. Ordinary distances are not at such
ends, so that float64 keys decide nearly all comparisons with them; fractions decide the rest.
"""

from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import NamedTuple

import numpy as np

from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import Space
from tieproof.engine.extremes import best_ranking, worst_ranking
from tieproof.engine.ranked import Ranked, fill_guides, room_for_guides
from tieproof.engine.structures import CONTINUED, Counts, Targets, Thresholds, Undecided
from tieproof.exact.bounds import EXACT_INTEGERS, SAFETY
from tieproof.inputs.relevance import ranges
from tieproof.problem import Noise
from tieproof.ties import ExtremeTies, FloatArray, IntArray

STEPS = 38
"""Ends are multiples of 2^-38 of the largest distance, which is far above the errors of keys (measured)."""

FARTHEST = 4.0
"""Ends beyond this many times the largest distance mean the same as this many times."""


@dataclass(frozen=True)
class Shifted(Ranked):
    """Ranked queries with shifted thresholds: query 2q has the far ends of query q, and query 2q + 1 the near ends.

    gauge : of the distance of the ends
    end : the distance of each threshold
    """

    gauge: SpaceGauge
    end: FloatArray

    def extremes(self, start: int, stop: int) -> ExtremeTies:
        """The worst and the best rankings of the queries start … stop-1 of the block, from the counts."""
        return ExtremeTies(
            worst_ranking(self.ties(slice(2 * start, 2 * stop, 2))),
            best_ranking(self.ties(slice(2 * start + 1, 2 * stop + 1, 2))),
        )

    def place(self, items: Undecided, lock: Lock) -> None:
        """Count items that float64 leaves undecided, by exact fractions."""
        rows, unit = self.targets.row[items.query], self.gauge.unit
        values = np.zeros(len(rows))
        for part, keys in self.gauge.exact_by_part(values, rows, items.item):
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


def shifted(space: Space, ranked: Ranked, noise: Noise, queries: IntArray) -> Shifted:
    """The shifted thresholds of ranked queries, whose other items are not counted yet.

    queries : the number of each query of the block
    """
    assert noise.distance is not None
    gauge, thresholds = noise.distance.gauge(space), ranked.thresholds
    length = thresholds.stop - thresholds.start
    query, place = ranges(thresholds.start, length)
    entries = _Entries(query, place, length)
    rows, before = ranked.targets.row, np.cumsum(2 * length) - 2 * length
    far_places = np.arange(len(place)) + (np.cumsum(length) - length)[query]
    places = np.stack([far_places, far_places + length[query]])
    end = np.empty(2 * len(place))
    end[places] = _ends(gauge, ranked, entries, noise.radius[queries], Steps.of(noise.extent))
    start = np.stack([before, before + length], axis=1).ravel()
    each = np.repeat(length, 2)
    owner = np.repeat(np.arange(len(start)), each)
    reach = np.zeros(len(start))
    key, apart = _keys(space, gauge, rows[owner // 2], end, owner, reach)
    leads = np.ones(len(end), dtype=np.bool_)
    leads[1:] = (owner[1:] != owner[:-1]) | (apart[1:] != apart[:-1])
    guide, scale = room_for_guides(len(key), len(start))
    fill_guides(np.arange(len(start)), start, start + each, key, guide, scale)
    return Shifted(
        targets=Targets(
            np.repeat(rows, 2), np.repeat(ranked.targets.first, 2), np.repeat(ranked.targets.last, 2), ranked.targets.run
        ),
        thresholds=Thresholds(start, start + each, key, reach, np.zeros(len(start)), guide, scale),
        counts=Counts(
            np.where(leads, 0, CONTINUED).astype(np.int32),
            np.zeros(len(key), dtype=np.int32),
        ),
        grades=None,
        partial=_apart_from_tiles(ranked, entries),
        n_items=np.repeat(ranked.n_items, 2),
        items=ranked.items,
        gauge=gauge,
        end=end,
    )


def _ends(
    gauge: SpaceGauge, ranked: Ranked, entries: _Entries, radius: FloatArray, steps: Steps
) -> tuple[FloatArray, FloatArray]:
    """The far and the near end of each threshold."""
    query, place, _ = entries
    key, reach = ranked.thresholds.key[place], ranked.thresholds.reach[query]
    rows, off = ranked.targets.row[query], radius[query]
    with np.errstate(over="ignore", invalid="ignore"):
        least, most = gauge.distance_range(rows, key - reach, key + reach)
        ends = [(end(least, off), end(most, off)) for end in (steps.far, steps.near)]
        unsure = np.flatnonzero((ends[0][0] != ends[0][1]) | (ends[1][0] != ends[1][1]))
    if len(unsure):
        items = ranked.items.of(np.unique(query[unsure]))[place[unsure]].astype(np.int64)
        distances = gauge.distances(rows[unsure], items)
        for (found, _), end in zip(ends, (steps.far, steps.near), strict=True):
            found[unsure] = end(distances, off[unsure])
    return ends[0][0], ends[1][0]


def _keys(
    space: Space, gauge: SpaceGauge, rows: IntArray, end: FloatArray, owner: IntArray, reach: FloatArray
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
    key = np.where(owner % 2 == 0, low, high)
    return key, key


def _apart_from_tiles(ranked: Ranked, entries: _Entries) -> Undecided:
    """The items that no tile counts: those that queries exclude in part, and those equal to a relevant item."""
    query, place, length = entries
    equal = ranked.counts.equal[place]
    tied = np.flatnonzero((equal > 0) & (ranked.counts.gap[place] != CONTINUED))
    none = np.zeros(len(tied), dtype=np.int64)
    owners, where = query[tied], place[tied]
    items = ranked.items.of(np.unique(owners))[where].astype(np.int64) if len(tied) else none
    of_relevant = Undecided(owners, items, equal[tied].astype(np.int64), none, length[owners])
    single = Undecided(*(np.concatenate(both) for both in zip(ranked.partial, of_relevant, strict=True)))
    return Undecided(
        np.concatenate([2 * single.query, 2 * single.query + 1]),
        *(np.concatenate([column, column]) for column in single[1:]),
    )
