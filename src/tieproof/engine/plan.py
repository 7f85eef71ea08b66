"""How much is done at a time, so that memory stays within its budget; and which tiles cost least."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Resources, Space
from tieproof.engine.ranked import Ranked
from tieproof.problem import Budget
from tieproof.ties import FloatArray, IntArray

LONG, SHORT = 2**16, 2**7
"""Dimensions that a product sums up at once: all of them (unless that leaves the bound no room), or few."""

BYTES_PER_PAIR_RANKED = 20.5
"""What a (query, relevant item) pair takes while tiles are counted: key, item, two counts, a share of the guide."""

UNDECIDED = (2**12, 2**17)
"""Fewest and most undecided items that a thread gathers before it resolves them; the more, the less each costs."""

BYTES_PER_UNDECIDED = 300
"""What an undecided item takes while it is gathered and resolved (measured)."""

LISTS = 2 * 2**20
"""Room of a thread for near items and the fewest undecided ones, whatever the budget."""

BLOCK = 0.77
"""Share of the budget for a block of queries."""

BYTES_PER_PAIR_RANKING = 320
"""What a pair takes while it is ranked or its measures are computed."""

LARGEST_SIDE, SMALLEST_SIDE = 1008, 64
"""Rows of a tile. Not a power of two: rows that are 4,096 bytes apart would share a place in the cache."""

SMALLEST_BUDGET = 8 * 2**20
"""Smaller budgets are treated as this: below it nothing is left to save."""


@dataclass(frozen=True)
class Plan:
    """Sizes of blocks, parts and tiles for a budget."""

    budget: Budget

    @property
    def threads(self) -> int:
        """Threads that work at a time."""
        return self.budget.threads

    @property
    def memory(self) -> int:
        """The bytes to plan with: the budget without each thread's lists of items."""
        whole = max(self.budget.memory, SMALLEST_BUDGET)
        return whole - min(self.threads * LISTS, whole // 4)

    @property
    def undecided(self) -> int:
        """Undecided items of a thread: all threads together take a tenth of the budget for them."""
        fewest, most = UNDECIDED
        return min(max(self.memory // 10 // self.threads // BYTES_PER_UNDECIDED, fewest), most)

    @property
    def side(self) -> int:
        """Rows and columns of a tile: all threads together take a ninth of the budget for tiles."""
        entries = self.memory / 9 / self.threads / 24
        return min(max(int(entries**0.5), SMALLEST_SIDE), LARGEST_SIDE)

    @property
    def resources(self) -> Resources:
        """Up to a twelfth of the budget for rows made ready once, of each side and in each type of tiles."""
        return Resources(self.memory // 12, np.dtype(np.float32), LONG, self.threads)

    @property
    def part_size(self) -> int:
        """Pairs that are ranked or measured at a time: a ninth of the budget."""
        return self.memory // 9 // BYTES_PER_PAIR_RANKING // self.threads

    def blocks(self, pairs: npt.NDArray[np.int64]) -> Iterator[list[slice]]:
        """Blocks of consecutive queries, each a list of parts, for numbers of relevant items per query.

        Some three quarters of the budget are for a block, and a ninth for the parts that are ranked or measured at a
        time.
        """
        block_size = BLOCK * self.memory / BYTES_PER_PAIR_RANKED
        block: list[slice] = []
        in_block = 0
        for part in cut(pairs, self.part_size):
            size = int(pairs[part].sum())
            if block and in_block + size > block_size:
                yield block
                block, in_block = [], 0
            block.append(part)
            in_block += size
        yield block


def cut(pairs: npt.NDArray[np.int64], size: int) -> Iterator[slice]:
    """Consecutive queries with about `size` pairs together, at least one query each."""
    # Queries without relevant items weigh something, too.
    ends = np.cumsum(pairs + 1)
    start = 0
    while start < len(pairs):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + size, side="right")))
        yield slice(start, stop)
        start = stop


class Choice(NamedTuple):
    """A kind of tile, and what its product costs, in float32 products."""

    dtype: npt.DTypeLike
    chunk: int
    cost: float


CHOICES = (Choice(np.float32, LONG, 1.0), Choice(np.float32, SHORT, 1.35), Choice(np.float64, LONG, 2.05))
"""Measured at 64 to 1,024 dimensions."""

LEFT_OPEN = 45.0
"""What an item costs that a tile leaves open, in float32 products of one pair (measured)."""

QUERIES, ITEMS = 32, 512
"""Size of the sample that tells how many items a kind of tile would leave open."""

FEW_PAIRS = QUERIES * ITEMS
"""Pairs up to which no sample is taken: it would be all there is."""


def cheapest(space: Space, ranked: Ranked) -> Space | None:
    """The space with those tiles that should cost least, or None for no tiles; only the time depends on it."""
    asking = np.flatnonzero(ranked.thresholds.stop > ranked.thresholds.start)
    if space.integers or len(asking) * len(space.items) <= FEW_PAIRS:
        return space
    asking = asking[evenly(len(asking), QUERIES)]
    nearest = nearest_threshold(space, ranked, asking)
    best, least = space, np.inf
    for choice in CHOICES:
        variant = space.variant(np.dtype(choice.dtype), choice.chunk)
        margin = variant.margins(ranked.targets.row[asking], largest(ranked, asking))
        left_open = (nearest <= (margin + ranked.thresholds.reach[asking])[:, None]).mean()
        cost = choice.cost / (2 if space.symmetric else 1) + LEFT_OPEN * left_open
        if cost < least:
            best, least = variant, cost
    # Without tiles everything is left open.
    return best if least < LEFT_OPEN else None


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
