"""Bounds for the first items of rankings, over every possible ranking of the other items.

A search returns the first items of a ranking of the whole gallery. The number of unseen items is known, and how many
of them are relevant, but not their ranks:

    exact search         no unseen item is nearer than the last one found. Some may be exactly as near: then the last
                         tie continues, and any of them might have been found instead
    order without        the items found are the nearest ones in the order given, and every unseen item follows them
    distances
    approximate search   an unseen item may have any rank, even before the first one found

`lower` and `upper` cover every such ranking of the whole gallery with every order of its ties. `expected` and `std`
are those of the list as given, followed by all unseen items in an order of which all are equally likely. So all four
are those of the whole ranking if nothing is unseen.

After an exact search exactly the orders of the last tie together with all unseen items are possible: the bounds are
those of one tie of all these items. After an approximate search nearly every measure is largest if the unseen
relevant items come first and the other unseen items last, and smallest in the opposite case. `merged_gains.py` and
`merged_hits.py` handle the exceptions: unseen items with grades, and a mean over hits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from tieproof.measures.base import Estimates, Measure
from tieproof.measures.merged_gains import merged_bounds
from tieproof.measures.merged_hits import hits_bounds
from tieproof.ties import BoolArray, CutOffTies, FloatArray, IntArray, ListEnd, Ties


@dataclass(frozen=True)
class FirstTies(CutOffTies):
    """The ties of the first items of whole rankings, which a search found; `first_ties` makes them.

    `end.others` is finite: the number of unseen items that are not relevant.

    exact : whether no unseen item is nearer than the last one found
    """

    exact: bool = field(kw_only=True)

    @property
    def open_ends(self) -> BoolArray:
        """Whether an unseen item may change a score of the query, (Q,)."""
        unseen = self.missing + self.end.others
        items, relevant = self.n_items + unseen, self.n_relevant
        if self.exact:
            items, relevant = self.end.l + unseen, self.end.m + self.missing
        return np.asarray((unseen > 0) & (relevant > 0) & (relevant < items))

    @property
    def behind(self) -> Ties:
        """The whole rankings with all unseen items in one tie after the list."""
        none = np.zeros_like(self.n_items)
        end = ListEnd(k=self.n_items, n=self.listed, l=none, m=none, others=self.end.others)
        return replace(self, end=end).continued(self.missing, end.others)

    def surrounded(self, before: IntArray, relevant_before: IntArray, behind: IntArray) -> Ties:
        """Return the whole rankings with so many unseen items before the list and the rest after it, without grades.

        before, relevant_before : (Q,) items before the list, and relevant ones among them: none, or all in one tie
        behind : (Q,) relevant items after the list, at the very end
        """
        size = self.n_items + self.missing + self.end.others.astype(np.int64)
        first, last = np.flatnonzero(relevant_before), np.flatnonzero(behind)
        order = np.argsort(np.concatenate([first, self.query, last]), kind="stable")
        none = np.zeros_like(first)

        def joined(*parts: IntArray) -> IntArray:
            return np.concatenate(parts)[order]

        return Ties(
            query=joined(first, self.query, last),
            k=joined(none, self.k + before[self.query], (size - behind)[last]),
            n=joined(none, self.n + relevant_before[self.query], (self.listed + relevant_before)[last]),
            l=joined(relevant_before[first], self.l, behind[last]),
            m=joined(relevant_before[first], self.m, behind[last]),
            n_relevant=self.n_relevant,
            n_items=size,
        )


def first_ties(ties: Ties, end: Sequence[IntArray] | IntArray | None, n_items: IntArray, exact: bool) -> FirstTies:
    """Return the ties of lists that are the first items of whole rankings.

    ties : the ties of the lists, with all relevant items of each query in `n_relevant`, and the missing grades
    end : k, n, l, m of the last tie of each list, as `engine.last_ties` returns them; None: no unseen item is tied
        with a listed one
    n_items : (Q,) the number of items of each whole ranking
    """
    none = np.zeros_like(n_items)
    k, n, l, m = (ties.n_items, ties.listed, none, none) if end is None else end
    others = (n_items - ties.n_items - ties.missing).astype(np.float64)
    known = {each.name: getattr(ties, each.name) for each in fields(Ties) if each.init}
    return FirstTies(**known, end=ListEnd(k, n, l, m, others), exact=exact)


def complete(measure: Measure, ties: Ties) -> Estimates:
    """Evaluate a measure of the first items of rankings, with bounds over all whole rankings that begin with them."""
    assert isinstance(ties, FirstTies)
    given = measure(ties.behind)
    lower, upper = (exact_bounds if ties.exact else approximate_bounds)(measure, ties)
    upper = np.maximum(lower, upper)
    return given._replace(lower=lower, expected=np.clip(given.expected, lower, upper), upper=upper)


def exact_bounds(measure: Measure, ties: FirstTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds if the items of the last tie and all unseen items may have any order."""
    whole = measure(ties.continued(ties.missing, ties.end.others))
    return whole.lower, whole.upper


def approximate_bounds(measure: Measure, ties: FirstTies) -> tuple[FloatArray, FloatArray]:
    """Return bounds if unseen items may have any rank."""
    if measure.name in ("nDCG", "ERR") and ties.grades is not None:
        return merged_bounds(measure, ties)
    if measure.name == "AP" and measure["norm"] == "hits" and measure.cutoff is not None:
        return hits_bounds(measure, ties)
    none, others = np.zeros_like(ties.missing), ties.end.others.astype(np.int64)
    worst = ties.surrounded(others, none, ties.missing)
    best = ties.surrounded(ties.missing, ties.missing, none)
    return measure(worst).lower, measure(best).upper
