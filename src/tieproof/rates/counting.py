"""Count the pairs of a block by their distance; distances are integers that number all float64 in order."""

import math
import operator
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence, Set
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from tieproof.distances.gauge import Gauge
from tieproof.exact.reals import Real
from tieproof.native.calls import Output, native
from tieproof.problem import Progress
from tieproof.rates.pool import Pool, Stripe, Table
from tieproof.ties import FloatArray, IntArray

BINS = 2**16
"""The number of bins in a window, and so the factor by which each pass over all pairs narrows it."""

SIGN = np.int64(-(2**63))


def ordered(values: FloatArray) -> IntArray:
    """Convert floats in place to integers with the same order: adjacent floats become adjacent integers, zeros 0."""
    bits = values.view(np.int64)
    number_floats(bits.reshape(-1))
    return bits


def floats(numbers: IntArray) -> FloatArray:
    """The floats that `ordered` maps to these integers.

    >>> floats(ordered(np.array([-1.5, 0.0, 5e-324]))).tolist()
    [-1.5, 0.0, 5e-324]
    """
    return np.where(numbers < 0, SIGN - numbers, numbers).view(np.float64)


@native
def number_floats(bits: Output[IntArray]) -> None:
    """Convert the bits of floats to ordered integers."""


class Bins(NamedTuple):
    """For each bin of a window, the total weight of its entries, and the smallest and the largest entry."""

    weight: IntArray
    lowest: IntArray
    highest: IntArray


def empty_bins() -> Bins:
    """Bins without entries."""
    limits = np.iinfo(np.int64)
    return Bins(np.zeros(BINS, dtype=np.int64), np.full(BINS, limits.max), np.full(BINS, limits.min))


def add_bins(bins: Bins, others: Bins) -> None:
    """Add the entries of other bins of the same window."""
    np.add(bins.weight, others.weight, out=bins.weight)
    np.minimum(bins.lowest, others.lowest, out=bins.lowest)
    np.maximum(bins.highest, others.highest, out=bins.highest)


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


def inside(block: IntArray, low: int, high: int) -> IntArray:
    """The positions, in row-major order, of the entries from `low` to `high`."""
    places = np.empty(count_inside(block, low, high), dtype=np.int64)
    list_inside(block, low, high, places)
    return places


@native
def count_inside(block: IntArray, low: int, high: int) -> int:
    """The number of entries from `low` to `high`."""


@native
def list_inside(block: IntArray, low: int, high: int, places: Output[IntArray]) -> None:
    """Write the positions of the entries from `low` to `high`, in row-major order."""


@native
def weight_below(block: IntArray, row_weight: IntArray, column_weight: IntArray, low: int) -> int:
    """The weight of the entries below `low`."""


FEW = 4096
"""A window with at most this many pairs is not narrowed further."""

SAMPLE_ROWS = 64
"""The number of query rows in a sample, evenly spaced."""

SAMPLE_MARGIN = 0.01
"""The error of a rank, as a share of the sample, that a window allows for; a larger error costs another pass."""

SAMPLE_ENDS = 100
"""How many pairs at either end of a sample are too few to estimate where the range of values ends."""

MANY = 2**62
"""Stands for an unknown number of pairs, larger than any real one."""

MINUS_ONE = np.array([-1])


class Window(NamedTuple):
    """Values from `low` to `high`, as ordered integers."""

    low: int
    high: int


EVERYTHING = Window(*(int(ordered(np.array([value]))[0]) for value in (-np.finfo(float).max, np.finfo(float).max)))


class Order(NamedTuple):
    """An order statistic: its exact key, and the numbers of pairs that are strictly nearer and exactly as far."""

    key: Real
    before: int
    equal: int


def order_statistics(pool: Pool, ranks: Sequence[int], n_others: int, progress: Progress) -> dict[int, Order]:
    """The order statistics of these ranks, counted from 0, of the exact distances of the other pairs.

    The other pairs are those that are neither relevant nor excluded.
    """
    windows = guesses(pool, ranks, n_others)
    settled: dict[int, Window] = {}
    while windows:
        found = histograms(pool, set(windows.values()), progress)
        narrower = {rank: narrowed(rank, window, *found[window]) for rank, window in windows.items()}
        settled |= {
            rank: window for rank, (window, pairs) in narrower.items() if is_settled(pool.gauge, window, pairs)
        }
        windows = {rank: window for rank, (window, _) in narrower.items() if rank not in settled}
    return proven(pool, settled, progress)


def guesses(pool: Pool, ranks: Sequence[int], n_others: int) -> dict[int, Window]:
    """Windows that probably contain the ranks, estimated from the other pairs of a few rows."""
    if pool.gauge.stripe_rows or pool.height <= SAMPLE_ROWS:
        return dict.fromkeys(ranks, EVERYTHING)
    samples = [sample(pool, row) for row in np.linspace(0, pool.height - 1, SAMPLE_ROWS).astype(np.int64).tolist()]
    values, weights = (np.concatenate(parts) for parts in zip(*samples, strict=True))
    order = np.argsort(values)
    values, ends = values[order], np.cumsum(weights[order])
    windows = {}
    for rank in ranks:
        share = rank / n_others
        places = np.searchsorted(ends, [(share + margin) * ends[-1] for margin in (-SAMPLE_MARGIN, SAMPLE_MARGIN)])
        low, high = values[places.clip(0, len(values) - 1)].tolist()
        # The first and the last few pairs of the sample do not limit the values at the ends.
        windows[rank] = Window(
            EVERYTHING.low if share * ends[-1] < SAMPLE_ENDS else low,
            EVERYTHING.high if (1 - share) * ends[-1] < SAMPLE_ENDS else high,
        )
    return windows


def sample(pool: Pool, row: int) -> tuple[IntArray, IntArray]:
    """The values of a distinct query row, and for each the number of pairs that are neither relevant nor excluded."""
    stripe, columns = slice(row, row + 1), slice(0, pool.width)
    weights = pool.gauge.weight[0][row] * pool.gauge.weight[1]
    for pairs in pool.listed(stripe):
        for part in pairs:
            weights -= np.bincount(part.columns, minlength=pool.width)
    return ordered(pool.values(stripe, columns))[0], weights


def histograms(pool: Pool, windows: Set[Window], progress: Progress) -> dict[Window, tuple[int, Bins]]:
    """For each window, the number of pairs below it, and the pairs inside it in bins of equal width."""

    def count(stripe: Stripe) -> dict[Window, tuple[int, Bins]]:
        columns = pool.columns(stripe)
        block = ordered(pool.values(stripe, columns))
        rows, items = pool.weights(stripe)
        mine = {window: empty_bins() for window in windows}
        before = dict.fromkeys(windows, 0)
        taken_away = (
            (block[row, column][None], MINUS_ONE, weight) for row, column, weight in pool.not_others(stripe)
        )
        for part in chain([(block, rows, items)], taken_away):
            for window in windows:
                before[window] += histogram(*part, window.low, window.high, shift_of(window), mine[window])
        progress(block.size)
        return {window: (before[window], mine[window]) for window in windows}

    below = dict.fromkeys(windows, 0)
    bins = {window: empty_bins() for window in windows}
    for found in pool.each(count):
        for window, (before, mine) in found.items():
            below[window] += before
            add_bins(bins[window], mine)
    return {window: (below[window], bins[window]) for window in windows}


def shift_of(window: Window) -> int:
    """The exponent of the power of two that is the width of a bin, so that a window has at most `BINS` bins."""
    return max(0, (window.high - window.low).bit_length() - BINS.bit_length() + 1)


def narrowed(rank: int, window: Window, below: int, bins: Bins) -> tuple[Window, int]:
    """The range of the bin that contains a rank, and its number of pairs; or the range beyond the window's end."""
    ends = below + np.cumsum(bins.weight)
    if rank < below:
        return Window(EVERYTHING.low, window.low - 1), below
    if rank >= ends[-1]:
        return Window(window.high + 1, EVERYTHING.high), MANY
    place = int(np.searchsorted(ends, rank, side="right"))
    return Window(int(bins.lowest[place]), int(bins.highest[place])), int(bins.weight[place])


def is_settled(gauge: Gauge, window: Window, pairs: int) -> bool:
    """Whether the window has few pairs, or is as narrow as the errors of the values."""
    low, high = floats(np.array(window)).tolist()
    return pairs <= FEW or high - low <= (0.0 if gauge.certain else gauge.reach(low))


def proven(pool: Pool, windows: dict[int, Window], progress: Progress) -> dict[int, Order]:
    """The order statistics within these windows."""
    widened = {rank: widen(pool.gauge, window) for rank, window in windows.items()}
    below, tables = tabulated(pool, set(widened.values()), progress)
    orders = {}
    for rank, window in widened.items():
        keys = sorted(tables[window])
        ends = list(accumulate((tables[window][key] for key in keys), initial=below[window]))
        place = bisect_right(ends, rank) - 1
        order = Order(keys[place] * pool.gauge.unit, ends[place], ends[place + 1] - ends[place])
        check(pool.gauge, order, window)
        orders[rank] = order
    return orders


def widen(gauge: Gauge, window: Window) -> Window:
    """The window, widened on both sides by the error of a value."""
    if gauge.certain:
        return window
    low, high = floats(np.array(window)).tolist()
    return Window(*ordered(np.array([low - gauge.reach(low), high + gauge.reach(high)])).tolist())


def check(gauge: Gauge, order: Order, window: Window) -> None:
    """Check that the errors cannot move a pair from outside the window across the order statistic."""
    if gauge.certain:
        return
    low, high = floats(np.array(window)).tolist()
    value = gauge.near(order.key)
    above = math.isinf(low) or low + gauge.reach(low) / 2 <= value
    below = math.isinf(high) or value <= high - gauge.reach(high) / 2
    if not (above and below):
        raise AssertionError(f"an order statistic of {value} is too near to the ends of its window, {low} to {high}")


def tabulated(pool: Pool, windows: Set[Window], progress: Progress) -> tuple[dict[Window, int], dict[Window, Table]]:
    """For each window, the number of pairs below it, and a table of the exact keys of the pairs inside it."""

    def count(stripe: Stripe) -> dict[Window, tuple[int, Table]]:
        columns = pool.columns(stripe)
        block = ordered(pool.values(stripe, columns))
        rows, items = pool.weights(stripe)
        places = {window: inside(block, *window) for window in windows}
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
        found = {}
        for window in windows:
            kept = weights[window] > 0
            place, weight = places[window][kept], weights[window][kept]
            row, column = np.divmod(place, block.shape[1])
            table = pool.table(floats(block[row, column]), row + stripe.start, column + columns.start, weight)
            found[window] = before[window], table
        progress(block.size)
        return found

    below = dict.fromkeys(windows, 0)
    tables: dict[Window, Table] = {window: Counter() for window in windows}
    for found in pool.each(count):
        for window, (before, table) in found.items():
            below[window] += before
            tables[window].update(table)
    return below, tables


def relevant_beyond(pool: Pool, cuts: Sequence[Real]) -> list[tuple[int, int]]:
    """For each cut, which is an exact key, the numbers of relevant pairs strictly farther and exactly as far."""
    gauge = pool.gauge
    values = [gauge.near(cut) for cut in cuts]

    def count(stripe: Stripe) -> IntArray:
        found = np.zeros((len(cuts), 2), dtype=np.int64)
        for relevant, _ in pool.listed(stripe):
            if not len(relevant.rows):
                continue
            first, stop = int(relevant.columns.min()), int(relevant.columns.max()) + 1
            block = pool.values(stripe, slice(first, stop))
            distances = block[relevant.rows, relevant.columns - first]
            for i, (cut, value) in enumerate(zip(cuts, values, strict=True)):
                reach = gauge.reach(value)
                beyond = int(np.count_nonzero(distances > value + reach))
                near = np.abs(distances - value) <= reach
                code, weight = np.unique(
                    relevant.rows[near] * pool.width + relevant.columns[near], return_counts=True
                )
                row, column = np.divmod(code, pool.width)
                table = pool.table(block[row, column - first], row + stripe.start, column, weight)
                farther, equal = (
                    sum(weight for key, weight in table.items() if beats(key * gauge.unit, cut))
                    for beats in (operator.gt, operator.eq)
                )
                found[i] += beyond + farther, equal
        return found

    total = sum(pool.each(count), start=np.zeros((len(cuts), 2), dtype=np.int64))
    return [(beyond, equal) for beyond, equal in total.tolist()]
