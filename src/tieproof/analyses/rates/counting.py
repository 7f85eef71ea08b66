"""Order statistics of the distances of all pairs, as integers that number all float64, and relevant pairs beyond."""

import math
import operator
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from tieproof.analyses.rates.pool import Pool, Stripe, Table
from tieproof.distances.exact.reals import Real
from tieproof.distances.gauge import Gauge
from tieproof.engine.problem import Progress
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

BINS = 2**16  # the number of bins in a window, and so the factor by which each pass over all pairs narrows it

SIGN = np.int64(-(2**63))


def ordered(values: FloatArray) -> IntArray:
    """Convert floats in place to integers with the same order: adjacent floats become adjacent integers, zeros 0."""
    bits = values.view(np.int64)
    number_floats(bits.reshape(-1))
    return bits


def floats(numbers: IntArray) -> FloatArray:
    """The floats that `ordered` maps to these integers."""
    return np.where(numbers < 0, SIGN - numbers, numbers).view(np.float64)


@native
def number_floats(bits: Output[IntArray]) -> None:
    """Convert the bits of floats to ordered integers."""


class Bins(NamedTuple):
    """For each bin of a window, the total weight of its entries, and the smallest and the largest entry."""

    weight: IntArray
    lowest: IntArray
    highest: IntArray

    @classmethod
    def empty(cls) -> "Bins":
        """Bins without entries."""
        limits = np.iinfo(np.int64)
        return cls(np.zeros(BINS, dtype=np.int64), np.full(BINS, limits.max), np.full(BINS, limits.min))

    def add(self, more: "Bins") -> None:
        """Add the entries of other bins of the same window."""
        for add, own, others in zip((np.add, np.minimum, np.maximum), self, more, strict=True):
            add(own, others, out=own)


@native
def histogram(
    block: IntArray,
    row_weight: IntArray,
    column_weight: IntArray,
    low: int,
    high: int,
    shift: int,
    bins: Output[Bins],
) -> int:
    """Add the entries from `low` to `high` to bins of 2^shift numbers; return the weight below."""


@native
def weight_below(block: IntArray, row_weight: IntArray, column_weight: IntArray, low: int) -> int:
    """The weight of the entries below `low`."""


FEW_PAIRS = 4096  # a window with at most this many pairs is not narrowed further
SAMPLE_ROWS = 64  # the number of query rows in a sample, evenly spaced
SAMPLE_MARGIN = 0.01  # the error of a rank, as a share of the sample, that costs no further pass
SAMPLE_ENDS = 100  # how many pairs at either end of a sample are too few to estimate where the range of values ends
UNKNOWN_PAIRS = 2**62  # stands for an unknown number of pairs, larger than any real one


class ValueWindow(NamedTuple):
    """Values from `low` to `high`, as ordered integers."""

    low: int
    high: int

    def ends(self) -> tuple[float, float]:
        """The ends as floats."""
        low, high = floats(np.array(self)).tolist()
        return low, high

    def is_narrow(self, gauge: Gauge) -> bool:
        """Whether it is as narrow as the errors of the values."""
        low, high = self.ends()
        return high - low <= (0.0 if gauge.certain else gauge.reach(low))

    def widened(self, gauge: Gauge) -> "ValueWindow":
        """The window, widened on both sides by the error of a value."""
        if gauge.certain:
            return self
        low, high = self.ends()
        return ValueWindow(*ordered(np.array([low - gauge.reach(low), high + gauge.reach(high)])).tolist())

    def check(self, gauge: Gauge, key: Real) -> None:
        """Check that the errors cannot move a pair from outside the window across this exact key."""
        if gauge.certain:
            return
        low, high = self.ends()
        value = gauge.near(key)
        above = math.isinf(low) or low + gauge.reach(low) / 2 <= value
        below = math.isinf(high) or value <= high - gauge.reach(high) / 2
        if not (above and below):
            raise AssertionError(f"a distance of {value} is too near to the ends of its window, {low} to {high}")

    @property
    def shift(self) -> int:
        """The power of two that is the width of a bin, so that the window has at most `BINS` bins."""
        return max(0, (self.high - self.low).bit_length() - BINS.bit_length() + 1)


EVERYTHING = ValueWindow(
    *(int(ordered(np.array([value]))[0]) for value in (-np.finfo(float).max, np.finfo(float).max))
)


class Goal(NamedTuple):
    """The weight of each other pair and of each relevant pair, and the total that the nearest pairs must reach."""

    other: int
    relevant: int
    total: int

    def reached(self, others: int, relevant: int) -> bool:
        """Whether so many pairs reach it."""
        return self.other * others + self.relevant * relevant >= self.total


class OrderStatistic(NamedTuple):
    """An exact key, and the numbers of other and of relevant pairs that are strictly nearer and exactly as far."""

    key: Real
    before: int
    equal: int
    relevant_before: int
    relevant_equal: int


def order_statistics(pool: Pool, ranks: Sequence[int], progress: Progress) -> dict[int, OrderStatistic]:
    """The order statistics of these ranks, counted from 0, of the exact distances of the other pairs."""
    windows = {Goal(1, 0, rank + 1): window for rank, window in _guesses(pool, ranks).items()}
    return {goal.total - 1: place for goal, place in reached(pool, windows, progress).items()}


def reached(pool: Pool, windows: dict[Goal, ValueWindow], progress: Progress) -> dict[Goal, OrderStatistic]:
    """For each goal the exact distance at which it is reached, searched from a window that probably contains it.

    The window is narrowed until it has few pairs, or is as narrow as the errors of the values; then the pairs inside
    it are compared exactly. An error of the values moves the place by at most that error, because the total grows
    with the distance.
    """
    settled: dict[Goal, ValueWindow] = {}
    while windows:
        wanted = {(window, bool(kind)) for goal, window in windows.items() for kind in {0, goal.relevant}}
        counted = histograms(pool, wanted, progress)
        wide: dict[Goal, ValueWindow] = {}
        for goal, window in windows.items():
            narrower, pairs = _narrowed(goal, window, counted)
            is_settled = pairs <= FEW_PAIRS or narrower.is_narrow(pool.gauge)
            (settled if is_settled else wide)[goal] = narrower
        windows = wide
    wide = {goal: window.widened(pool.gauge) for goal, window in settled.items()}
    below, tables = tabulated(pool, set(wide.values()), progress)
    return {goal: _proven(pool, goal, window, below[window], tables[window]) for goal, window in wide.items()}


def _guesses(pool: Pool, ranks: Sequence[int]) -> dict[int, ValueWindow]:
    """Windows that probably contain the ranks, estimated from the other pairs of a few rows."""
    if pool.gauge.stripe_rows or pool.height <= SAMPLE_ROWS:
        return dict.fromkeys(ranks, EVERYTHING)
    samples = [_sample(pool, row) for row in np.linspace(0, pool.height - 1, SAMPLE_ROWS).astype(np.int64).tolist()]
    values, weights = (np.concatenate(parts) for parts in zip(*samples, strict=True))
    order = np.argsort(values)
    values, ends = values[order], np.cumsum(weights[order])
    windows = {}
    for rank in ranks:
        share = rank / pool.n_others
        places = np.searchsorted(ends, [(share + margin) * ends[-1] for margin in (-SAMPLE_MARGIN, SAMPLE_MARGIN)])
        low, high = values[places.clip(0, len(values) - 1)].tolist()
        # The first and the last few pairs of the sample do not limit the values at the ends.
        windows[rank] = ValueWindow(
            EVERYTHING.low if share * ends[-1] < SAMPLE_ENDS else low,
            EVERYTHING.high if (1 - share) * ends[-1] < SAMPLE_ENDS else high,
        )
    return windows


def _sample(pool: Pool, row: int) -> tuple[IntArray, IntArray]:
    """The values of a distinct query row, and for each the number of pairs that are neither relevant nor excluded."""
    stripe, columns = slice(row, row + 1), slice(0, pool.width)
    weights = pool.gauge.weight[0][row] * pool.gauge.weight[1]
    for pairs in pool.listed(stripe):
        for _, items in pairs:
            weights -= np.bincount(items, minlength=pool.width)
    return ordered(pool.gauge.wide_values(stripe, columns))[0], weights


def histograms(
    pool: Pool, wanted: Set[tuple[ValueWindow, bool]], progress: Progress
) -> dict[tuple[ValueWindow, bool], tuple[int, Bins]]:
    """The pairs below each window, and those inside it in bins of equal width; True: relevant pairs are counted."""

    def count(stripe: Stripe) -> tuple[Counter[Any], dict[tuple[ValueWindow, bool], Bins]]:
        block, one = ordered(pool.gauge.wide_values(stripe, pool.columns(stripe))), np.array([1])
        below, bins = Counter[Any](), {each: Bins.empty() for each in wanted}

        def add(relevant: bool, values: IntArray, rows: IntArray, columns: IntArray) -> None:
            for window, of_relevant in wanted:
                if of_relevant == relevant:
                    each = window, relevant
                    below[each] += histogram(values, rows, columns, *window, window.shift, bins[each])

        add(False, block, *pool.weights(stripe))
        for relevant in {relevant for _, relevant in wanted}:
            for row, column, weight in pool.not_others(stripe, relevant_only=relevant):
                add(relevant, block[row, column][None], one if relevant else -one, weight)
        progress(block.size)
        return below, bins

    total, all_bins = Counter[Any](), {each: Bins.empty() for each in wanted}
    for below, bins in pool.each(count):
        total.update(below)
        for each, own in bins.items():
            all_bins[each].add(own)
    return {each: (total[each], bins) for each, bins in all_bins.items()}


def _narrowed(
    goal: Goal, window: ValueWindow, counted: dict[tuple[ValueWindow, bool], tuple[int, Bins]]
) -> tuple[ValueWindow, int]:
    """The range of the bin in which a goal is reached, and its number of pairs; or the range beyond an end."""
    both = counted[window, False], counted[window, True] if goal.relevant else (0, Bins.empty())
    before, ends = [below for below, _ in both], [below + np.cumsum(bins.weight) for below, bins in both]
    if goal.reached(*before):
        return ValueWindow(EVERYTHING.low, window.low - 1), sum(before)
    place = bisect_left(range(BINS), True, key=lambda at: goal.reached(*(int(each[at]) for each in ends)))
    if place == BINS:
        return ValueWindow(window.high + 1, EVERYTHING.high), UNKNOWN_PAIRS
    low, high = min(bins.lowest[place] for _, bins in both), max(bins.highest[place] for _, bins in both)
    return ValueWindow(int(low), int(high)), sum(int(bins.weight[place]) for _, bins in both)


def _proven(pool: Pool, goal: Goal, window: ValueWindow, before: int, others: Table) -> OrderStatistic:
    """The place in a window at which a goal is reached, by the number of other pairs below it and those inside."""
    nearer, relevant = pool.relevant_inside([window.ends()])[0] if goal.relevant else (0, Table())
    for key in sorted(others.keys() | relevant.keys()):
        exact = key * pool.gauge.unit
        found = OrderStatistic(exact, before, others[key], nearer, relevant[key])
        before, nearer = before + others[key], nearer + relevant[key]
        if goal.reached(before, nearer):
            window.check(pool.gauge, exact)
            return found
    raise AssertionError("a goal is reached within its window")


def tabulated(
    pool: Pool, windows: Set[ValueWindow], progress: Progress
) -> tuple[dict[ValueWindow, int], dict[ValueWindow, Table]]:
    """For each window, the number of pairs below it, and a table of the exact keys of the pairs inside it."""

    def count(stripe: Stripe) -> tuple[dict[ValueWindow, int], dict[ValueWindow, Table]]:
        columns = pool.columns(stripe)
        block = ordered(pool.gauge.wide_values(stripe, columns))
        rows, items = pool.weights(stripe)
        places = {each: np.flatnonzero((block >= each.low) & (block <= each.high)) for each in windows}
        weights = {
            window: rows[place // block.shape[1]] * items[place % block.shape[1]] for window, place in places.items()
        }
        before = {window: weight_below(block, rows, items, window.low) for window in windows}
        for row, column, weight in pool.not_others(stripe):
            values = block[row, column]
            for window in windows:
                before[window] -= int(weight[values < window.low].sum())
                here = (values >= window.low) & (values <= window.high)
                place = np.searchsorted(places[window], row[here] * block.shape[1] + column[here])
                np.subtract.at(weights[window], place, weight[here])
        tables = {}
        for window in windows:
            kept = weights[window] > 0
            row, column = np.divmod(places[window][kept], block.shape[1])
            pairs = floats(block[row, column]), row + stripe.start, column + columns.start
            tables[window] = pool.table(*pairs, weights[window][kept])
        progress(block.size)
        return before, tables

    below, tables = Counter[ValueWindow](), {window: Table() for window in windows}
    for before, of_stripe in pool.each(count):
        below.update(before)
        for window, table in of_stripe.items():
            tables[window].update(table)
    return below, tables


def relevant_beyond(pool: Pool, cuts: Sequence[Real]) -> list[tuple[int, int]]:
    """For each cut, which is an exact key, the numbers of relevant pairs strictly farther and exactly as far."""
    gauge = pool.gauge
    values = [gauge.near(cut) for cut in cuts]
    found = pool.relevant_inside([(value - gauge.reach(value), value + gauge.reach(value)) for value in values])
    counts = []
    for cut, (nearer, table) in zip(cuts, found, strict=True):
        not_farther, equal = (
            sum(weight for key, weight in table.items() if holds(key * gauge.unit, cut))
            for holds in (operator.le, operator.eq)
        )
        counts.append((pool.n_relevant - nearer - not_farther, equal))
    return counts
