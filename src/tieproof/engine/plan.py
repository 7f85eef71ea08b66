"""How much is done at a time, so that memory stays within its budget."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Resources
from tieproof.engine.choice import LONG
from tieproof.problem import Budget

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
        return int(np.clip(self.memory // 10 // self.threads // BYTES_PER_UNDECIDED, *UNDECIDED))

    @property
    def side(self) -> int:
        """Rows and columns of a tile: all threads together take a ninth of the budget for tiles."""
        entries = self.memory / 9 / self.threads / 24
        return int(np.clip(int(entries**0.5), SMALLEST_SIDE, LARGEST_SIDE))

    @property
    def resources(self) -> Resources:
        """Up to a twelfth of the budget for rows made ready once, of each side and in each type of tiles."""
        return Resources(self.memory // 12, np.dtype(np.float32), LONG, self.threads)

    def blocks(self, pairs: npt.NDArray[np.int64]) -> Iterator[list[slice]]:
        """Blocks of consecutive queries, each a list of parts, for numbers of relevant items per query.

        Some three quarters of the budget are for a block, and a ninth for the parts that are ranked or measured at a
        time.
        """
        part_size = self.memory // 9 // BYTES_PER_PAIR_RANKING // self.threads
        block_size = BLOCK * self.memory / BYTES_PER_PAIR_RANKED
        block: list[slice] = []
        in_block = 0
        for part in cut(pairs, part_size):
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
