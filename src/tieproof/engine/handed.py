"""Relevant items that were ranked once and are handed on to all portions that count others against them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieproof.distances.space import Scale
from tieproof.engine.ranked import Block, Ranked
from tieproof.engine.structures import CONTINUED
from tieproof.inputs.relevance import ranges
from tieproof.ties import BoolArray, FloatArray, IntArray

FARTHEST = 60
"""Powers of two between scales up to which keys go from one to the other; none overflows on its way."""

TINIEST = 2.0**-1022
"""What a key may be off that became too small for a normal number on its way."""


class RankedQueries(NamedTuple):
    """The relevant items of some queries in exact order: those of query q are start[q] … start[q+1]-1, nearest first.

    scale : that of the keys, as `Space.scale` has it
    key, reach : of each item, falling; and how far the exact nearness may be from it, of each query
    leads : which items are the first of their tie
    grades : of each item, falling within a tie; None: all are 1
    """

    scale: Scale | None
    start: IntArray
    key: FloatArray
    reach: FloatArray
    leads: BoolArray
    grades: FloatArray | None

    @classmethod
    def of(cls, scale: Scale | None, ranked: Ranked, order: IntArray) -> "RankedQueries":
        """What was ranked for queries that are numbered `order`, in the order of these numbers."""
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
    """What is known of the queries of a portion: the fields of `RankedQueries`, on the scale of its space.

    usable : which queries' keys could be brought to that scale
    """

    usable: BoolArray
    start: IntArray
    key: FloatArray
    reach: FloatArray
    leads: BoolArray

    @classmethod
    def of(cls, parts: Sequence[RankedQueries], scale: Scale | None) -> "Known":
        """That of the queries of all parts, one part after the other."""
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
        """Write the entries of queries whose relevant items nothing else is equal to, to `places` of a block."""
        length = self.start[queries + 1] - self.start[queries]
        block.stop[places] = block.start[places] + length
        own, theirs = ranges(block.start[places], length)[1], ranges(self.start[queries], length)[1]
        block.key[own] = self.key[theirs]
        block.gap[own] = np.where(self.leads[theirs], 0, CONTINUED)
        block.reach[places] = self.reach[queries]
        block.make_guide(places)


def steps_between(own: Scale | None, other: Scale | None) -> int | None:
    """By which power of two keys are multiplied on their way to another scale; None: it is of another kind, or far.

    >>> steps_between(Scale(("floats",), 3), Scale(("floats",), 1)), steps_between(Scale(("bits",)), None)
    (2, None)
    """
    if own is None or other is None or own.kind != other.kind:
        return None
    steps = own.exponent - other.exponent
    return steps if abs(steps) <= FARTHEST else None
