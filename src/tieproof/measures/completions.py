"""Bounds of nDCG and ERR if unseen items with grades may have any rank, while the order of the list is known.

In the best ranking the unseen items are in descending order of their gains, and in the worst in ascending order; the
same holds for the items of each tie of the list. It remains to merge two sequences, step by step: after i listed and
j unseen items the rank is i + j + 1, and the largest sum over the remaining ranks depends only on i and j (for ERR,
for a reader who has not stopped yet). The merged order is computed in this way, rank by rank from the last one, and
the measure itself evaluates it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import numpy as np

from tieproof.measures.base import Estimates, Measure
from tieproof.measures.cascade import stops
from tieproof.measures.graded_gains import gains
from tieproof.measures.rank_weights import HARMONIC, LOGARITHMIC, Tabled
from tieproof.ties import BoolArray, CutOffTies, FloatArray, IntArray, ListEnd, Ties


def merged_bounds(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper values over all ways to merge the unseen items into each list."""
    return measure(merged_rankings(measure, ties, True)).lower, measure(merged_rankings(measure, ties, False)).upper


def merged_rankings(measure: Measure, ties: CutOffTies, worst: bool) -> Ties:
    """Return whole rankings without ties: the worst or the best merged order of each list and its unseen items."""
    assert ties.grades is not None
    absent = np.zeros(0) if ties.missing_grades is None else ties.missing_grades
    if measure.name == "ERR":
        listed_gains, unseen_gains = stops(measure, ties.grades), stops(measure, absent)
        rule = Rule(HARMONIC, stopping=True, worst=worst)
    else:
        listed_gains, unseen_gains = gains(measure, ties, absent)
        rule = Rule(LOGARITHMIC, stopping=False, worst=worst)
    last_listed, last_unseen = np.cumsum(ties.listed), np.cumsum(ties.missing)
    cutoffs = ties.last_ranks(measure.last_rank(ties))
    places, grades = [], []
    for query in range(ties.n_queries):
        # Unseen items that are not relevant come first in the worst order, and last in the best.
        before = int(ties.end.others[query]) if worst else 0
        listed = last_listed[query] - ties.listed[query] + own_order(ties, query, worst)
        unseen = np.arange(last_unseen[query] - ties.missing[query], last_unseen[query])
        unseen = unseen[::-1] if worst else unseen
        of_listed = own_places(ties, query, worst)
        chain = np.zeros(int(ties.n_items[query]))
        chain[of_listed] = listed_gains[listed]
        is_unseen = merged(chain, unseen_gains[unseen], before, int(cutoffs[query]), rule)
        place = before + np.concatenate([np.flatnonzero(~is_unseen)[of_listed], np.flatnonzero(is_unseen)])
        order = np.argsort(place)
        places.append(place[order])
        grades.append(np.concatenate([ties.grades[listed], absent[unseen]])[order])
    return singles(ties, places, np.concatenate(grades))


def own_order(ties: CutOffTies, query: int, worst: bool) -> IntArray:
    """Return the listed relevant items of a query, nearest first; in a tie by descending (worst: ascending) grade."""
    m = ties.m[ties.starts[query] : ties.starts[query + 1]]
    index = np.arange(m.sum())
    if not worst:
        return index
    first = np.repeat(np.cumsum(m) - m, m)
    return 2 * first + np.repeat(m, m) - 1 - index


def own_places(ties: CutOffTies, query: int, worst: bool) -> IntArray:
    """Return the positions of these items in the list, from 0: the first ones of their ties, or if worst the last."""
    own = slice(ties.starts[query], ties.starts[query + 1])
    k, l, m = ties.k[own], ties.l[own], ties.m[own]
    within = np.arange(m.sum()) - np.repeat(np.cumsum(m) - m, m)
    return within + np.repeat(k + l - m if worst else k, m)


class Rule(NamedTuple):
    """The weights of ranks, whether gains are probabilities of stopping, and whether the worst order is wanted."""

    weights: Tabled
    stopping: bool
    worst: bool


def merged(chain: FloatArray, free: FloatArray, start: int, last: int, rule: Rule) -> BoolArray:
    """Return for each position of the merged order whether its item is of `free`, not of `chain`: (items of both,).

    The sum of weighted gains at ranks start + 1, start + 2, … down to rank `last` is largest, or smallest where it
    is the worst.

    >>> merged(np.array([0.0, 2.0]), np.array([1.0]), 0, 3, Rule(LOGARITHMIC, False, worst=False)).tolist()
    [True, False, False]
    >>> merged(np.array([0.0, 2.0]), np.array([1.0]), 0, 3, Rule(LOGARITHMIC, False, worst=True)).tolist()
    [False, True, False]
    """
    counted = max(0, min(len(chain) + len(free), last - start))
    ranks = start + np.arange(1, counted + 1)
    weights = rule.weights.sum(ranks - 1, ranks).hi * (-1.0 if rule.worst else 1.0)
    of_chain, of_free = np.append(chain, 0.0), np.append(free, 0.0)
    i = np.arange(len(of_chain))
    takes_free = np.zeros((counted, len(i)), dtype=np.bool_)
    still = np.zeros(len(i) + 1)  # the best sum over the positions from here on, after i items of the chain
    for place in range(counted - 1, -1, -1):
        j = place - i
        of_next = of_free[np.clip(j, 0, len(free))]
        after_chain, after_free = still[1:], still[:-1]
        if rule.stopping:
            after_chain, after_free = (1.0 - of_chain) * after_chain, (1.0 - of_next) * after_free
        by_chain = np.where(i < len(chain), weights[place] * of_chain + after_chain, -np.inf)
        by_free = np.where((j >= 0) & (j < len(free)), weights[place] * of_next + after_free, -np.inf)
        takes_free[place] = by_free > by_chain
        still[:-1] = np.maximum(by_free, by_chain)
    order = np.zeros(len(chain) + len(free), dtype=np.bool_)
    taken = 0
    for place in range(counted):
        order[place] = takes_free[place, place - taken]
        taken += int(order[place])
    order[counted : counted + len(free) - taken] = True
    return order


def singles(ties: CutOffTies, places: list[IntArray], grades: FloatArray) -> Ties:
    """Return whole rankings without ties whose relevant items have these positions, from 0."""
    query = np.repeat(np.arange(ties.n_queries), ties.n_relevant)
    one = np.ones_like(query)
    return Ties(
        query=query,
        k=np.concatenate(places),
        n=np.arange(len(query)) - np.searchsorted(query, query),
        l=one,
        m=one,
        n_relevant=ties.n_relevant,
        n_items=ties.n_items + ties.missing + ties.end.others.astype(np.int64),
        grades=grades,
    )


def hits_bounds(measure: Measure, ties: CutOffTies) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper values over all ways to merge the unseen items into each list."""
    last = measure.last_rank(ties)
    assert last is not None
    items = ties.n_items + ties.missing + ties.end.others.astype(np.int64)
    cutoffs = np.minimum(last, items)
    as_listed = measure(ties)
    lower, upper = as_listed.lower.copy(), as_listed.upper.copy()
    for query in np.flatnonzero((ties.n_relevant > 0) & (items > ties.n_items)).tolist():
        own = slice(ties.starts[query], ties.starts[query + 1])
        hits = ListedHits(ties.k[own], ties.l[own], ties.m[own], int(ties.n_items[query]))
        unseen = int(ties.missing[query]), int(ties.end.others[query])
        upper[query] = hits.largest(int(cutoffs[query]), *unseen)
        lower[query] = hits.smallest(int(cutoffs[query]), *unseen)
    return lower, upper


class ListedHits:
    """The relevant items of a list, and how many of its first items can contain j of them.

    earliest, latest : (hits,) the smallest and the largest rank of each
    fewest, most : (hits + 1,) for j = 0, 1, …: how many first items of the list hold j hits
    """

    def __init__(self, k: IntArray, l: IntArray, m: IntArray, length: int) -> None:
        within = np.arange(1, m.sum() + 1) - np.repeat(np.cumsum(m) - m, m)
        self.earliest = np.repeat(k, m) + within
        self.latest = np.repeat(k + l - m, m) + within
        self.fewest = np.append(0, self.earliest)
        self.most = np.append(self.latest - 1, length)

    def largest(self, cutoff: int, missing: int, others: int) -> float:
        """Return the largest mean precision of the hits down to rank `cutoff`."""
        front = min(missing, cutoff)
        most, fewest = cutoff - front, max(0, cutoff - front - others)
        precisions = (np.arange(1, len(self.earliest) + 1) + front) / (self.earliest + front)
        sums = front + np.append(0.0, np.cumsum(precisions))
        means = sums / np.maximum(np.arange(len(sums)) + front, 1)
        return float(means[(self.fewest <= most) & (self.most >= fewest)].max())

    def smallest(self, cutoff: int, missing: int, others: int) -> float:
        """Return the smallest mean precision of the hits down to rank `cutoff`."""
        least = np.inf
        behind = np.arange(min(missing, cutoff) + 1)
        harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, cutoff + 1)))
        for count in range(len(self.fewest)):
            first = np.maximum(self.fewest[count], cutoff - behind - others)
            possible = np.flatnonzero((first <= self.most[count]) & (first + behind <= cutoff))
            if not possible.size:
                continue
            a, i = behind[possible], first[possible]
            hit = np.arange(1, count + 1)
            rank = np.minimum(self.latest[:count], (i - count)[:, None] + hit)
            sums = (hit / (rank + (cutoff - a - i)[:, None])).sum(axis=1)
            # The items at the end add (count + t) / (cutoff - a + t) for t = 1 … a.
            sums += a + (count - (cutoff - a)) * (harmonic[cutoff] - harmonic[cutoff - a])
            least = min(least, float((sums / np.maximum(count + a, 1)).min()))
        return least


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
