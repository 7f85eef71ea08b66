"""The distance at which false matches become as frequent as false non-matches, found by counting all pairs."""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from tieproof.analyses.rates.counting import (
    BINS,
    EVERYTHING,
    FEW_PAIRS,
    ValueWindow,
    check_window,
    histograms,
    tabulated,
    widened,
)
from tieproof.analyses.rates.pool import Pool
from tieproof.analyses.rates.result import EqualErrorRate
from tieproof.engine.problem import Progress


def equal_error_rate(pool: Pool, n_relevant: int, n_others: int, progress: Progress) -> EqualErrorRate:
    """The equal error rate of all pairs of a pool, whose distances are compared as real numbers.

    A window that contains the crossing is narrowed until it has few pairs, or is as narrow as the errors of the
    values; then the pairs inside it are compared exactly. An error of the values moves the crossing by at most that
    error, because both rates are monotone.
    """

    def crossed(before: int, farther: int) -> bool:
        """Whether the rates have crossed, if so many other pairs are not farther, and so many relevant ones are."""
        return before * n_relevant >= farther * n_others

    window, pairs = EVERYTHING, FEW_PAIRS + 1
    gauge = pool.gauge
    while pairs > FEW_PAIRS:
        low, high = window.ends()
        if high - low <= (0.0 if gauge.certain else gauge.reach(low)):
            break
        window, pairs = _narrowed(pool, window, n_relevant, crossed, progress)
    wide = widened(gauge, window)
    below, tables = tabulated(pool, {wide}, progress)
    [(nearer, table)] = pool.relevant_inside([wide.ends()])
    others = tables[wide]
    before = below[wide]
    for key in sorted(others.keys() | table.keys()):
        if crossed(before + others[key], n_relevant - nearer - table[key]):
            check_window(gauge, key * gauge.unit, wide)
            counts = (before, nearer, others[key], table[key])
            return EqualErrorRate.of_counts(gauge.distance(key * gauge.unit), *counts, n_relevant, n_others)
        before, nearer = before + others[key], nearer + table[key]
    raise AssertionError("the rates cross within the window")


def _narrowed(
    pool: Pool, window: ValueWindow, n_relevant: int, crossed: Callable[[int, int], bool], progress: Progress
) -> tuple[ValueWindow, int]:
    """The range of the bin of a window in which the rates cross, and its number of pairs."""
    counted = histograms(pool, {(window, False), (window, True)}, progress)
    both = [counted[window, relevant] for relevant in (False, True)]
    others, relevant = (below + np.cumsum(bins.weight) for below, bins in both)
    place = bisect_left(range(BINS), True, key=lambda at: crossed(int(others[at]), n_relevant - int(relevant[at])))
    ends = ValueWindow(
        min(int(bins.lowest[place]) for _, bins in both), max(int(bins.highest[place]) for _, bins in both)
    )
    return ends, sum(int(bins.weight[place]) for _, bins in both)
