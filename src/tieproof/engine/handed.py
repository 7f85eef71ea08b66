"""Relevant items that were ranked once and are passed to all portions that count other items against them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieproof.distances.space import Scale
from tieproof.engine.ranked import Block, Ranked
from tieproof.engine.structures import CONTINUED
from tieproof.inputs.relevance import ranges
from tieproof.ties import BoolArray, FloatArray, IntArray

FARTHEST = 60
"""The largest exponent, in powers of two, between two scales for which keys are converted; none overflows."""

TINIEST = 2.0**-1022
"""The error of a key that becomes subnormal when it is converted."""


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
