"""Relevance by judgments: pairs of a query and an item with their grades."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tieproof.inputs.relevance import NOTHING, Excluded, Relevance, places_among, pointers, ranges
from tieproof.ties import FloatArray, IntArray


class Triples(NamedTuple):
    """Different pairs of a query and an item with their grades; `checked_triples` makes them."""

    query: IntArray
    item: IntArray
    grade: FloatArray


@dataclass(frozen=True, eq=False)
class Judgments(Relevance):
    """Relevance by triples: a grade of 0 means not relevant, and a negative grade excludes the item.

    Query q has the triples pointer[q] … pointer[q+1]-1; `binary`: all grades are 0 or 1.
    """

    pointer: IntArray
    item: IntArray
    grade: FloatArray
    binary: bool

    @classmethod
    def of(
        cls, triples: Triples, n_queries: int, n_items: int, leave_one_out: bool, excluded: Excluded = NOTHING
    ) -> "Judgments":
        """Relevance by triples in any order."""
        query, item, grade = triples
        order = np.argsort(query * n_items + item, kind="stable")
        binary = bool(np.isin(grade, (0.0, 1.0)).all())
        return cls(
            n_queries=n_queries,
            n_items=n_items,
            leave_one_out=leave_one_out,
            graded=not binary,
            excluded=excluded,
            pointer=pointers(query[order], n_queries),
            item=item[order],
            grade=grade[order],
            binary=binary,
        )

    def at_least(self, grade: float) -> "Judgments":
        """Return the relevance in which only items of at least this grade are relevant; none more are excluded."""
        grades = np.where(self.grade < 0, self.grade, (self.grade >= grade).astype(np.float64))
        return replace(self, graded=False, grade=grades, binary=bool((grades >= 0).all()))

    def _of_queries(self, queries: IntArray) -> tuple[IntArray, IntArray]:
        """Return for each triple of these queries the position of its query here, and its own position."""
        return ranges(self.pointer[queries], np.diff(self.pointer)[queries])

    def at_most(self) -> IntArray:
        """The number of triples."""
        return np.diff(self.pointer)

    def related(self, queries: IntArray) -> IntArray:
        """Return the items of the triples with a grade above 0."""
        _, index = self._of_queries(queries)
        return np.unique(self.item[index[self.grade[index] > 0]])

    def among(self, queries: IntArray, items: IntArray) -> "Judgments":
        """Return the triples of these queries and items; grades are kept even if all of these are 1."""
        position, index = self._of_queries(queries)
        inside, place = places_among(items, self.item[index])
        triples = Triples(position[inside], place, self.grade[index[inside]])
        excluded = self.excluded_among(queries, items)
        among = Judgments.of(triples, len(queries), len(items), self.leave_one_out, excluded)
        return replace(among, graded=self.graded, binary=self.binary)

    def pairs(self, queries: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
        """The triples of the queries."""
        position, index = self._of_queries(queries)
        if self.binary:
            relevant = self.grade[index] > 0
            return position[relevant], self.item[index[relevant]], None
        return position, self.item[index], self.grade[index]
