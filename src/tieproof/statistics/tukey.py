"""The randomised Tukey test: honestly significant differences between several systems at once.

If no system differs from another, each query's values could equally well have been dealt to the systems in another
order. The test deals them at random, query by query, and takes the largest difference between any two systems' means,
which is the difference that pure chance gives the best-looking pair. The p-value of a pair is how often this is at
least as large as the observed difference. So the probability of any false positive among all pairs is controlled, and
no further correction is needed (Carterette 2012, "Multiple testing in statistical analysis of systems-based
information retrieval experiments", algorithm 1; Sakai 2018, "Laboratory experiments in information retrieval",
section 4.5).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tieproof.statistics.draws import below, raw
from tieproof.statistics.whole_numbers import as_whole
from tieproof.ties import FloatArray, IntArray

DEALS = 9_999
"""How many times the values of all queries are dealt at random."""


class PairValues(NamedTuple):
    """P-values of pairs, (k, p, j): for each pair alone, and corrected for all pairs."""

    alone: FloatArray
    among_all: FloatArray


def tukey(values: FloatArray, pairs: IntArray, sums: FloatArray) -> PairValues:
    """The two-sided p-values of differences between systems.

    values : (k, n, m) the scores of m systems on n queries in k measures
    pairs : (p, 2) the systems of each pair
    sums : (k, p, j) the observed differences of sums over the queries; if a difference is 0 or negative, its p-value
        is 1

    Each p-value is (hits + 1) / (DEALS + 1). All measures use the same deals. Sums that differ by no more than 1e-12
    for each value count as equal. The order of the queries does not matter, because they are sorted.

    >>> scores = np.array([[[1.0, 0.0], [0.5, 0.0], [0.75, 0.0], [0.25, 0.0], [1.0, 0.0], [1.0, 0.0]]])
    >>> found = tukey(scores, np.array([[0, 1]]), np.array([[[4.5, 0.0]]]))
    >>> found.among_all.round(2)  # of 2**6 deals, 2 are as extreme
    array([[[0.03, 1.  ]]])
    """
    measures, queries, systems = values.shape
    ordered = np.stack([each[np.lexsort(each.T[::-1])] for each in values])
    whole = as_whole(ordered.reshape(measures, -1).T)
    numbers = whole.numbers.T.reshape(values.shape)
    wanted = (sums / whole.unit[:, None, None]) - whole.slack[:, None, None]
    alone, among_all = np.ones(sums.shape), np.ones(sums.shape)
    for dealt in deals(queries, systems):
        for measure, of_measure in enumerate(numbers):
            found = np.stack([of_measure.take(place).sum(axis=1) for place in dealt], axis=1)
            gaps = np.abs(found[:, pairs[:, 0]] - found[:, pairs[:, 1]])
            ranges = found.max(axis=1) - found.min(axis=1)
            alone[measure] += np.count_nonzero(gaps[..., None] >= wanted[measure], axis=0)
            among_all[measure] += np.count_nonzero(ranges[:, None, None] >= wanted[measure], axis=0)
    return PairValues(alone / (DEALS + 1), among_all / (DEALS + 1))


def deals(queries: int, systems: int) -> Iterator[IntArray]:
    """Yield the indices of the values (queries, systems) that each system is dealt, in blocks (systems, c, queries).

    This is the shuffle of Fisher and Yates: each position, from the last on, is swapped with one up to it.
    """
    limits = np.repeat(np.arange(systems, 1, -1), queries)
    for drawn in raw(DEALS, len(limits), len(limits)):
        size = len(drawn) * queries
        row = np.arange(size)
        dealt = np.tile(row % queries * systems, (systems, 1)) + np.arange(systems)[:, None]
        chosen = below(drawn, limits).reshape(len(drawn), systems - 1, queries)
        for step in range(systems - 1):
            place = chosen[:, step].ravel() * size + row
            last = dealt[systems - 1 - step].copy()
            dealt[systems - 1 - step] = dealt.ravel().take(place)
            dealt.ravel()[place] = last
        yield dealt.reshape(systems, len(drawn), queries)
