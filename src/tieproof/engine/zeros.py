"""Sparse items that share no term with a query: a tie at nearness 0, of most items, that one of them stands for.

Without negative weights an entry of a tile is 0 only for them. A tile hides them, and they are counted together.
"""

import numpy as np

from tieproof.distances.space import Entries
from tieproof.engine.resolve import hide_in_rows
from tieproof.engine.structures import Targets, Undecided
from tieproof.ties import IntArray

HIDDEN = -1.0
"""Below every nearness of rows without negative weights."""


class Zeros:
    """How many items share no term with each query, and one of them."""

    def __init__(self, targets: Targets, weight: IntArray) -> None:
        self.targets, self.weight = targets, weight.astype(np.float64)
        self.count = np.zeros(len(targets.row), dtype=np.int64)
        self.item = np.zeros_like(self.count)

    def take(self, queries: slice, first: int, items: slice, entries: Entries) -> None:
        """Count the zeros of a tile, whose first row is `first`, for some queries; the lock of these is held."""
        targets = self.targets
        shown = (entries != 0)[targets.row[queries] - first].astype(np.float32)
        hide_in_rows(targets.run, targets.first[queries], targets.last[queries], items.start, shown)
        zero = shown == 0
        found = zero.any(axis=1)
        self.count[queries] += (zero @ self.weight[items]).astype(np.int64)
        self.item[queries] = np.where(found, items.start + zero.argmax(axis=1), self.item[queries])

    def undecided(self, length: IntArray) -> Undecided:
        """One item for each query, with the weight of all, among its so many thresholds."""
        query = np.flatnonzero((self.count > 0) & (length > 0))
        return Undecided(query, self.item[query], self.count[query], np.zeros_like(query), length[query])


def hide(entries: Entries) -> None:
    """Put the zeros of a tile behind all thresholds."""
    entries[entries == 0] = HIDDEN
