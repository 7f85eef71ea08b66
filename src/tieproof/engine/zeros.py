"""Sparse items that share no term with a query: a tie at nearness 0, of most items, that one of them stands for.

Without negative weights an entry of a tile is 0 only for them. A tile hides them, and they are counted together.
"""

import numpy as np

from tieproof.distances.space import Entries
from tieproof.engine.structures import Targets, Undecided
from tieproof.native.calls import Output, native
from tieproof.ties import IntArray

HIDDEN = -1.0
"""Below every nearness of rows without negative weights."""


class Zeros:
    """How many items share no term with each query, and one of them."""

    def __init__(self, targets: Targets, weight: IntArray) -> None:
        self.targets, self.weight = targets, weight
        self.count = np.zeros(len(targets.row), dtype=np.int64)
        self.item = np.full_like(self.count, -1)

    def take(self, queries: slice, first: int, items: slice, entries: Entries, turned: bool = False) -> None:
        """Count the zeros of a tile, whose first row is `first`, for some queries; the lock of these is held.

        turned : the rows of the tile are the items, and its columns those of the queries
        """
        row, start, stop, run = self.targets
        targets = Targets(row[queries] - first, start[queries], stop[queries], run)
        own = self.count[queries], self.item[queries]
        count_zeros(entries, turned, targets, items.start, self.weight[items], *own)

    def undecided(self, length: IntArray) -> Undecided:
        """One item for each query, with the weight of all, among its so many thresholds."""
        query = np.flatnonzero((self.count > 0) & (length > 0))
        return Undecided(query, self.item[query], self.count[query], np.zeros_like(query), length[query])


@native
def count_zeros(
    entries: Entries,
    turned: bool,
    targets: Targets,
    start: int,
    weight: IntArray,
    count: Output[IntArray],
    item: Output[IntArray],
) -> None:
    """Add the weights of the zeros of each query, whose rows are those of the tile; note one, if none was known.

    turned : the queries are the columns of the tile, and the items, from `start` on, its rows
    """


@native
def hide_zeros(entries: Output[Entries], hidden: float) -> None:
    """Put the zeros of a tile behind all thresholds."""
