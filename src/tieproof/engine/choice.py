"""Which tiles cost least here: float32, float32 summed up in short chunks of dimensions, float64, or none."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Space
from tieproof.engine.ranked import Ranked
from tieproof.ties import FloatArray, IntArray


class Choice(NamedTuple):
    """A kind of tile, and what its product costs, in float32 products."""

    dtype: npt.DTypeLike
    chunk: int
    cost: float


LONG, SHORT = 2**16, 2**7
"""Dimensions that a product sums up at once: all of them (unless that leaves the bound no room), or few."""

CHOICES = (Choice(np.float32, LONG, 1.0), Choice(np.float32, SHORT, 1.35), Choice(np.float64, LONG, 2.05))
"""Measured at 64 to 1,024 dimensions."""

UNDECIDED = 45.0
"""What an item costs that a tile leaves open, in float32 products of one pair (measured)."""

QUERIES, ITEMS = 32, 512
"""Size of the sample that tells how many items a kind of tile would leave open."""


def cheapest(space: Space, ranked: Ranked) -> Space | None:
    """The space with those tiles that should cost least, or None for no tiles; only the time depends on it."""
    asking = np.flatnonzero(ranked.thresholds.stop > ranked.thresholds.start)
    if space.integers or not len(asking):
        return space
    asking = asking[evenly(len(asking), QUERIES)]
    nearest = nearest_threshold(space, ranked, asking)
    best, least = space, np.inf
    for choice in CHOICES:
        variant = space.variant(np.dtype(choice.dtype), choice.chunk)
        margin = variant.margins(ranked.targets.row[asking], largest(ranked, asking))
        left_open = (nearest <= (margin + ranked.thresholds.reach[asking])[:, None]).mean()
        cost = choice.cost / (2 if space.symmetric else 1) + UNDECIDED * left_open
        if cost < least:
            best, least = variant, cost
    # Without tiles everything is left open.
    return best if least < UNDECIDED else None


def nearest_threshold(space: Space, ranked: Ranked, queries: IntArray) -> FloatArray:
    """How far the items of a sample are from the nearest threshold of each query."""
    precise = space.variant(np.dtype(np.float64), LONG, keep_bytes=0)
    keys, _ = precise.key_block(ranked.targets.row[queries], evenly(len(space.items), ITEMS))
    distances = np.empty_like(keys)
    for i, query in enumerate(queries):
        rising = ranked.thresholds.key[ranked.thresholds.start[query] : ranked.thresholds.stop[query]][::-1]
        place = np.searchsorted(rising, keys[i])
        above, below = rising[np.minimum(place, len(rising) - 1)], rising[np.maximum(place - 1, 0)]
        distances[i] = np.minimum(np.abs(above - keys[i]), np.abs(keys[i] - below))
    return distances


def evenly(length: int, count: int) -> IntArray:
    """At most `count` of the places 0 … length-1, evenly."""
    return np.unique(np.linspace(0, length - 1, min(length, count)).astype(np.int64))


def largest(ranked: Ranked, queries: IntArray) -> FloatArray:
    """The largest magnitude of nearness among the thresholds of queries that have some."""
    keys, reach = ranked.thresholds.key, ranked.thresholds.reach[queries]
    ends = (ranked.thresholds.start[queries], ranked.thresholds.stop[queries] - 1)
    return np.asarray(np.maximum(*(np.abs(keys[end]) for end in ends)) + reach)


def with_margins(ranked: Ranked, space: Space) -> Ranked:
    """Ranked queries for counting the tiles of this space."""
    thresholds = ranked.thresholds
    margin = np.zeros(len(thresholds.start))
    asking = np.flatnonzero(thresholds.stop > thresholds.start)
    margin[asking] = space.margins(ranked.targets.row[asking], largest(ranked, asking))
    return replace(ranked, thresholds=thresholds._replace(margin=margin))
