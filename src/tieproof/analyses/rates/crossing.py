"""The distance at which false matches become as frequent as false non-matches, found by counting all pairs."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable

import numpy as np

from tieproof.analyses.rates.counting import (
    BINS,
    EVERYTHING,
    FEW,
    Bins,
    Window,
    check_window,
    empty_bins,
    floats,
    histogram,
    ordered,
    tabulated,
    widened,
)
from tieproof.analyses.rates.pool import Pool, Stripe, Table
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

    window, pairs = EVERYTHING, FEW + 1
    gauge = pool.gauge
    while pairs > FEW:
        low, high = window.ends()
        if high - low <= (0.0 if gauge.certain else gauge.reach(low)):
            break
        window, pairs = _narrowed(pool, window, n_relevant, crossed, progress)
    wide = widened(gauge, window)
    below, tables = tabulated(pool, {wide}, progress)
    nearer, table = _relevant_inside(pool, wide)
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
    pool: Pool, window: Window, n_relevant: int, crossed: Callable[[int, int], bool], progress: Progress
) -> tuple[Window, int]:
    """The range of the bin of a window in which the rates cross, and its number of pairs."""
    shift = max(0, (window.high - window.low).bit_length() - BINS.bit_length() + 1)

    def count(stripe: Stripe) -> tuple[list[int], list[Bins]]:
        block = ordered(pool.gauge.wide_values(stripe, pool.columns(stripe)))
        bins = [empty_bins(), empty_bins()]
        below = [histogram(block, *pool.weights(stripe), *window, shift, bins[0]), 0]
        for kind, sign in ((0, -1), (1, 1)):
            for row, column, weight in pool.not_others(stripe, relevant_only=kind == 1):
                values = block[row, column][None]
                below[kind] += histogram(values, np.array([sign]), weight, *window, shift, bins[kind])
        progress(block.size)
        return below, bins

    total, below = [empty_bins(), empty_bins()], [0, 0]
    for more_below, more in pool.each(count):
        for kind in (0, 1):
            below[kind] += more_below[kind]
            np.add(total[kind].weight, more[kind].weight, out=total[kind].weight)
            np.minimum(total[kind].lowest, more[kind].lowest, out=total[kind].lowest)
            np.maximum(total[kind].highest, more[kind].highest, out=total[kind].highest)
    others, relevant = (below[kind] + np.cumsum(total[kind].weight) for kind in (0, 1))
    place = bisect_left(range(BINS), True, key=lambda at: crossed(int(others[at]), n_relevant - int(relevant[at])))
    ends = Window(min(int(each.lowest[place]) for each in total), max(int(each.highest[place]) for each in total))
    return ends, sum(int(each.weight[place]) for each in total)


def _relevant_inside(pool: Pool, window: Window) -> tuple[int, Table]:
    """The number of relevant pairs below a window, and a table of the exact keys of those inside it."""

    def count(stripe: Stripe) -> tuple[int, Table]:
        columns, below, table = pool.columns(stripe), 0, Counter[object]()
        block = ordered(pool.gauge.wide_values(stripe, columns))
        for row, column, weight in pool.not_others(stripe, relevant_only=True):
            values = block[row, column]
            below += int(weight[values < window.low].sum())
            here = (values >= window.low) & (values <= window.high)
            place = row[here] + stripe.start, column[here] + columns.start
            table.update(pool.table(floats(values[here]), *place, weight[here]))
        return below, table

    below, tables = zip(*pool.each(count), strict=True)
    return sum(below), sum(tables, Counter())
