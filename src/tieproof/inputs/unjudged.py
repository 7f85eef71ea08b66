"""No relevance, only items to leave out of rankings: for the nearest items of each query."""

from dataclasses import dataclass

import numpy as np

from tieproof.inputs.relevance import Excluded, Relevance
from tieproof.inputs.relevance_by_labels import Labels
from tieproof.ties import FloatArray, IntArray

UNJUDGED = np.zeros((0, 2), dtype=np.int64)
"""Passed as the relevance of a problem in which items are only ranked: it becomes `Unjudged`."""


@dataclass(frozen=True, eq=False)
class Unjudged(Relevance):
    """No relevance, only items to leave out: those of the query's group, besides the query itself and given pairs.

    of_groups : the members of each group as relevance by labels; None: there are no groups
    """

    of_groups: Labels | None

    @classmethod
    def of(cls, judged: Relevance) -> "Unjudged":
        """The queries, items, groups and excluded pairs of a relevance, without what is relevant."""
        own, pairs = judged.excluded
        groups = None if own is None else Labels.of(own[0], own[1])
        sides = judged.n_queries, judged.n_items, judged.leave_one_out
        return cls(*sides, graded=False, excluded=Excluded(None, pairs), of_groups=groups)

    def at_most(self) -> IntArray:
        """Nothing is relevant."""
        return np.zeros(self.n_queries, dtype=np.int64)

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """The items of the queries' groups, with a grade that excludes them."""
        if self.of_groups is None:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, None
        position, item, _ = self.of_groups.pairs(queries)
        return position, item, np.full(len(item), -1.0)

    def order(self) -> tuple[IntArray, IntArray]:
        """The queries and the items, each sorted by their group."""
        return super().order() if self.of_groups is None else self.of_groups.order()

    def related(self, queries: IntArray) -> IntArray:
        """Nothing is relevant."""
        return np.zeros(0, dtype=np.int64)

    def among(self, queries: IntArray, items: IntArray) -> "Unjudged":
        """The same groups and pairs, among these queries and items."""
        groups = None if self.of_groups is None else self.of_groups.among(queries, items)
        excluded = self.excluded_among(queries, items)
        return Unjudged(len(queries), len(items), self.leave_one_out, False, excluded, groups)
