"""`Ranked`: the relevant items of some queries in exact order, and what tiles count between them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tieproof.engine.structures import Counts, Targets, Thresholds, Undecided
from tieproof.native.calls import native
from tieproof.ties import FloatArray, IntArray, SmallIntArray, Ties


@dataclass(frozen=True)
class Ranked:
    """A block of queries whose relevant items are ranked, with the counts that tiles add to.

    grades : one per threshold, falling within a tie; None: all are 1
    partial : distinct items of which only some are excluded: no tile can weigh them
    n_items : (Q,) items ranked for each query
    item : the distinct item of each threshold, of those queries for which `known` (Q,) says so
    find_items : fills in `item`, for which there is room already, for some queries; it is rarely asked for
    """

    targets: Targets
    thresholds: Thresholds
    counts: Counts
    grades: FloatArray | None
    partial: Undecided
    n_items: IntArray
    item: SmallIntArray
    known: npt.NDArray[np.bool_]
    find_items: Callable[[IntArray], None]

    def items_of(self, queries: IntArray) -> SmallIntArray:
        """`item`, filled in for these queries at least. Whoever asks holds their lock: nothing is found twice."""
        unknown = np.unique(queries[~self.known[queries]])
        if len(unknown):
            self.find_items(unknown)
        return self.item

    def ties(self, start: int = 0, stop: int | None = None) -> Ties:
        """What was counted for the queries start … stop-1, as ties."""
        span = slice(start, stop)
        first, last = self.thresholds.start[span], self.thresholds.stop[span]
        ties = np.empty((5, (last - first).sum()), dtype=np.int64)
        count = ties_of(first, last, self.counts.gap, self.counts.equal, ties)
        query, k, n, l, m = ties[:, :count]
        grades = None
        if self.grades is not None:
            parts = [self.grades[slice(*entries)] for entries in zip(first, last, strict=True)]
            grades = np.concatenate(parts) if parts else np.zeros(0)
        return Ties(query, k, n, l, m, n_relevant=last - first, n_items=self.n_items[span], grades=grades)


@native
def ties_of(first: IntArray, last: IntArray, gap: SmallIntArray, equal: SmallIntArray, ties: IntArray) -> int:
    """Write query, k, n, l, m, the rows of `ties`, of queries whose thresholds are first[q] … last[q]-1.

    Returns how many ties there are.
    """
