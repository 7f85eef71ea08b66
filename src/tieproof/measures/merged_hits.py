"""Bounds of AP(norm=hits)@k if unseen items may have any rank, while the order of the list is known.

The mean precision of the hits above the cutoff is not monotone: one more hit can lower it. So all numbers of hits are
tried. Above the cutoff there are `a` unseen relevant items, `b` other unseen items and the first items of the list,
`j` of them hits; which numbers of first items can contain j hits follows from the earliest and the latest positions
of the hits.

In the best case the `a` items come first and the `b` items last, and `a` is as large as possible: replacing the last
listed item by an unseen relevant one adds a precision of 1 and raises the others, or keeps the number of hits and
raises all of them. In the worst case the `b` items come first and the `a` items last, and for given j and a, `b` is
as large as possible, because every hit then has the most items before it.
"""

import numpy as np

from tieproof.measures.base import Measure
from tieproof.ties import CutOffTies, FloatArray, IntArray


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
