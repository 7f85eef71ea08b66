"""Making thresholds for noise: the far and the near end of each relevant item's distance, beside the item itself.

Float64 keys differ between tiles and orders of summation, but ends must not. So a far end is only (n + 1/4) s, and a
near end (n - 1/4) s, for a whole n and a step s that is a power of two (`PossibleEnds.size`): the next one outward of
the true end. Where the range of a key leaves two ends possible, the distance itself, rounded once, decides. Ordinary
distances are no such numbers, so that float64 keys decide most comparisons with ends; fractions decide the rest.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.distances.exact.bounds import EXACT_INTEGERS, SAFETY
from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import Space
from tieproof.engine.ends import CHUNK, Ends, Together
from tieproof.engine.problem import Noise
from tieproof.engine.ranked import Block, Ranked, RoomToSort
from tieproof.engine.structures import CONTINUED, NOTHING, Undecided, joined
from tieproof.inputs.relevance import ranges
from tieproof.native.calls import Output, native
from tieproof.native.threads import cut
from tieproof.ties import BoolArray, FloatArray, IntArray

STEPS = 32  # ends are multiples of 2^-32 of the largest distance, which is far above the errors of keys (measured)
FARTHEST = 4.0  # ends beyond this many times the largest distance mean the same as this many times


class PossibleEnds(NamedTuple):
    """The ends that are possible for a radius: `size` is a power of two, `most` the farthest end."""

    size: float
    most: float

    @classmethod
    def of(cls, extent: float) -> "PossibleEnds":
        """The steps for distances up to `extent`."""
        size = 2.0 ** (int(np.frexp(extent)[1]) - STEPS)
        return cls(size, FARTHEST * 2.0**STEPS * size)


class Unmerged(NamedTuple):
    """The ends of some queries before they are sorted; the first row of `end` and `key` has the far ends."""

    length: IntArray  # length, ties: (Q,) the number of thresholds, and of ties of relevant items, of each query
    ties: IntArray
    tie_key: FloatArray  # the keys of the ties, which fall
    end: FloatArray  # end, key: (2, T) the distances and the keys of the ends of all thresholds
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
    steps: PossibleEnds,
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
    """Sort the ends of each query by their distances, or if `by_key` by their keys, and merge these with the ties."""
    # Equal ends keep their order, and ties are before ends with the same key.


def together(space: Space, ranked: Ranked, noise: Noise, radius: FloatArray, items: slice) -> Together:
    """Ranked queries, whose other items are not counted yet, with the ends of their relevant items."""
    # radius: (Q,) of each query; an end is twice as far from the item; items: the distinct items that are counted
    assert noise.distance is not None
    thresholds = ranked.thresholds
    length = thresholds.stop - thresholds.start
    ends = _full(2 * length)
    place = ranges(thresholds.start, length)[1]
    leads = ranked.counts.gap[place] != CONTINUED
    first_of_tie = place[leads]
    ties = np.diff(np.append(0, np.cumsum(leads, dtype=np.int32))[np.append(0, np.cumsum(length))])
    both = _full(ties + 2 * length)
    end, is_far = np.empty(len(ends.key)), np.empty(len(ends.key), dtype=np.bool_)
    is_tie = np.empty(len(both.key), dtype=np.bool_)
    making = _Making(space, noise.distance.gauge(space), ranked, radius, PossibleEnds.of(noise.extent), length, place)
    room = RoomToSort.of(3 * int(length.max(initial=0)))
    certain = space.all_errors.certain
    spans = list(cut(length, CHUNK))
    made = making.ends(spans)
    for span, of_thresholds in zip(spans, made, strict=True):
        own, all_own = _places(ends, span), _places(both, span)
        keys, ends.reach[span] = making.keys(span, of_thresholds)
        tie_keys = thresholds.key[first_of_tie[all_own.start - own.start : all_own.stop - own.stop]]
        unmerged = Unmerged(length[span], ties[span], tie_keys, of_thresholds, keys)
        merged = Merged(end[own], is_far[own], ends.key[own], both.key[all_own], is_tie[all_own])
        merge_ends(unmerged, certain, room, merged)
        _mark(ends, span, ends.key[own] if certain else end[own])
        both.reach[span] = np.maximum(thresholds.reach[span], ends.reach[span])
        if certain:
            _mark(both, span, both.key[all_own])
    for block in (ends, both):
        block.make_guide(np.arange(len(length)))
    ties_before = np.zeros(len(is_tie) + 1, dtype=np.int32)
    np.cumsum(is_tie, out=ties_before[1:])
    apart = _apart_from_tiles(ranked, length, first_of_tie)
    own_items = apart.where((apart.item >= items.start) & (apart.item < items.stop))
    same: dict[str, Any] = {name: getattr(ranked, name) for name in ("targets", "n_items", "items")}
    of_ends = {"thresholds": ends.thresholds(), "counts": ends.counts, "partial": own_items, "grades": None}
    of_both = {"thresholds": both.thresholds(), "counts": both.counts, "partial": NOTHING, "grades": None}
    return Together(
        **same | of_both,
        ranked=ranked,
        ends=Ends(**same | of_ends, gauge=making.gauge, end=end, is_far=is_far),
        first_of_tie=first_of_tie,
        ties_before=ties_before,
    )


def _full(length: IntArray) -> Block:
    """Room for exactly so many thresholds of each query, without gaps between queries; the counts are zero."""
    block = Block.of(length, graded=False)
    block.stop[:] = block.start + length
    return block


def _places(block: Block, span: slice) -> slice:
    return slice(int(block.start[span.start]), int(block.stop[span.stop - 1]))


def _mark(block: Block, span: slice, apart: FloatArray) -> None:
    """Mark neighboring thresholds of a query that are equal in `apart`, which belong together."""
    own = _places(block, span)
    same = np.zeros(len(apart) + 1, dtype=np.bool_)
    np.equal(apart[1:], apart[:-1], out=same[1:-1])
    same[block.start[span] - own.start] = False
    block.gap[own][same[:-1]] = CONTINUED


class _Making(NamedTuple):
    """Makes the ends of ranked queries; radius (Q,) is that of each query of the block."""

    space: Space
    gauge: SpaceGauge
    ranked: Ranked
    radius: FloatArray
    steps: PossibleEnds
    length: IntArray  # (Q,) the number of thresholds of each query
    place: IntArray  # the place of each threshold, query after query

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
            items = self.ranked.items(np.unique(query))[place].astype(np.int64)
            distances, sure = self.gauge.distances(rows[query], items), np.empty((2, len(query)))
            step_ends(distances, distances, self.radius[query], self.steps, sure, np.empty_like(query))
            parts = np.split(sure, np.cumsum([len(some) for *_, some in left])[:-1], axis=1)
            for ends, (*_, some), part in zip(made, left, parts, strict=True):
                ends[:, some] = part
        return made

    def keys(self, span: slice, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The keys of the ends of some queries, and each query's reach."""
        # If keys have no error, ends are rounded to keys on the safe side: whole numbers if keys are whole. These
        # keys, and not the ends, are then in the order in which ends are counted.
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
    items = ranked.items(np.unique(query))[tied].astype(np.int64) if len(tied) else tied
    weight = ranked.counts.equal[tied].astype(np.int64)
    of_relevant = Undecided(query, items, weight, np.zeros_like(tied), 2 * length[query])
    partial = ranked.partial._replace(last=2 * length[ranked.partial.query])
    return joined([partial, of_relevant])
