"""`CutOffTies`: the ties of rankings whose first items alone are listed, and what is known of their unseen items."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from tieproof.ties import BoolArray, FloatArray, IntArray, Ties


@dataclass(frozen=True)
class ListEnd:
    """The last ties of the lists of Q queries that were cut off; each tie may continue beyond the end of its list."""

    k: IntArray  # k, n, l, m: (Q,) as in `Ties`; l and m may be 0
    n: IntArray
    l: IntArray
    m: IntArray
    others: FloatArray  # (Q,) how many more items that are not relevant the tie may contain; infinity if unknown


Unseen = Literal["tied", "behind", "anywhere"]
"""Where the unseen items of a ranking may stand, if only its first items are listed.

tied: none is nearer than the last listed item, any of them may be as near, and no other is ranked: missing relevant
    items that are not in the last tie were never retrieved
behind: none is nearer than the last listed item, and all are ranked, at the last tie or behind it
anywhere: all are ranked, at any ranks
"""


Columns = tuple[IntArray, ...]  # the query, k, n, l and m of some ties


def joined(*parts: Columns) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Join ties that are sorted by query each; the ties of a query in an earlier part are nearer."""
    query, *columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(query, kind="stable")
    k, n, l, m = (column[order] for column in columns)
    return query[order], k, n, l, m


@dataclass(frozen=True)
class CutOffTies(Ties):
    """The ties of the first items of rankings, and what is known of their unseen items.

    The unseen relevant items are the missing ones, and `end.others` are all others. Where they may stand is `unseen`;
    if it is not "tied", `end.others` is finite.
    """

    end: ListEnd = field(kw_only=True)
    unseen: Unseen = field(default="tied", kw_only=True)

    @property
    def open_ends(self) -> BoolArray:
        """Which queries have unseen items that may change a score, (Q,)."""
        unseen = self.missing + self.end.others
        among_listed = (self.n_items, self.listed) if self.unseen == "anywhere" else (self.end.l, self.end.m)
        items, relevant = among_listed[0] + unseen, among_listed[1] + self.missing
        # Relevant items alone matter only if they may also remain outside the ranking.
        return np.asarray((unseen > 0) & (relevant > 0) & ((relevant < items) | (self.unseen == "tied")))

    def at_level(self, level: float) -> "CutOffTies":
        """Return the ties if only items of at least this grade are relevant; the others remain in the rankings."""
        ties, end = super().at_level(level), self.end
        assert isinstance(ties, CutOffTies)
        if ties is self:
            return self
        last = np.zeros_like(end.m)
        ends = ties.k == end.k[ties.query]
        last[ties.query[ends]] = ties.m[ends]
        nearer = np.bincount(
            ties.query, weights=np.where(ties.k < end.k[ties.query], ties.m, 0), minlength=ties.n_queries
        )
        others = end.others + (self.missing - ties.missing)
        return replace(ties, end=ListEnd(end.k, nearer.astype(np.int64), end.l, np.where(end.m, last, 0), others))

    @cached_property
    def with_others(self) -> Ties:
        """The ties if each last tie also contained all other items: for most measures the worst continuation."""
        return self.continued(np.zeros_like(self.missing), self.end.others)

    @cached_property
    def with_missing(self) -> Ties:
        """The ties if each last tie also contained all missing relevant items: the best continuation."""
        return self.continued(self.missing, np.zeros(self.n_queries))

    def continued(self, relevant: IntArray, others: FloatArray) -> Ties:
        """The ties if each last tie also contained so many missing relevant items and other items, (Q,) each."""
        # The missing items with the smallest grades join the tie first. With infinitely many other items the relevant
        # items of the tie have no finite rank: they become missing items, and n_items does not count the others.
        end = self.end
        finite = np.isfinite(others)
        more = relevant + np.where(finite, others, 0.0).astype(np.int64)
        m = np.where(finite, end.m + relevant, 0)
        rows, ends = np.flatnonzero(self.k < end.k[self.query]), np.flatnonzero(m)
        inside = tuple(column[rows] for column in (self.query, self.k, self.n, self.l, self.m))
        last = (ends, *(column[ends] for column in (end.k, end.n, end.l + more, m)))
        grades = self._continued_grades(relevant, finite)
        return Ties(*joined(inside, last), self.n_relevant, self.n_items + more, *grades)

    def _continued_grades(self, relevant: IntArray, finite: BoolArray) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the grades in the ties and the missing grades, when so many missing items join the last tie."""
        missing, grades, missing_grades = self.missing, self.grades, self.missing_grades
        if grades is None:
            return None, None
        if missing_grades is None:
            if missing.any():
                return None, None
            missing_grades = np.zeros(0)
        absent = np.repeat(np.arange(self.n_queries), missing)
        place = np.arange(len(absent)) - np.repeat(np.cumsum(missing) - missing, missing)
        query = np.concatenate([np.repeat(self.query, self.m), absent])
        k = np.concatenate([np.repeat(self.k, self.m), self.end.k[absent]])
        ranked = np.concatenate([np.ones(len(grades), dtype=np.bool_), place >= (missing - relevant)[absent]])
        ranked &= finite[query] | (k < self.end.k[query])
        grade = np.concatenate([grades, missing_grades])
        order = np.lexsort((-grade, np.where(ranked, k, 0), query, ~ranked))
        count = int(ranked.sum())
        return grade[order[:count]], grade[order[count:]]
