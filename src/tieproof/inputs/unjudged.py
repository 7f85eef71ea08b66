"""No relevance, only items to leave out of rankings: for the nearest items of each query."""

from dataclasses import dataclass

import numpy as np

from tieproof.inputs.relevance import NOTHING, Excluded, Exclusions
from tieproof.inputs.relevance_by_labels import Labels
from tieproof.ties import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Unjudged(Exclusions):
    """Only items to leave out: those of the query's group (by labels; None: no groups), itself and given pairs."""

    of_groups: Labels | None

    @classmethod
    def of(cls, n_queries: int, n_items: int | None, excluded: Excluded = NOTHING) -> "Unjudged":
        """The exclusions of so many queries and items; n_items None: leave-one-out."""
        groups = None if excluded.groups is None else Labels.of(*excluded.groups)
        count = n_queries if n_items is None else n_items
        return cls(n_queries, count, n_items is None, Excluded(None, excluded.pairs), groups)

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
