"""Bounds of nDCG and ERR if unseen items with grades may have any rank, while the order of the list is known.

In the best ranking the unseen items are in descending order of their gains, and in the worst in ascending order; the
same holds for the items of each tie of the list. It remains to merge two sequences, step by step: after i listed and
j unseen items the rank is i + j + 1, and the largest sum over the remaining ranks depends only on i and j (for ERR,
for a reader who has not stopped yet). The merged order is computed in this way, rank by rank from the last one, and
the measure itself evaluates it.
"""

from typing import NamedTuple

import numpy as np

from tieproof.measures.base import Measure
from tieproof.measures.cascade import stops
from tieproof.measures.graded_gains import gains
from tieproof.measures.rank_weights import HARMONIC, LOGARITHMIC, Tabled
from tieproof.ties import BoolArray, CutOffTies, FloatArray, IntArray, Ties


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
