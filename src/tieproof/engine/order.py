"""Pairs of a query and an item in exact order of nearness, with the intervals that enclose it."""

from collections.abc import Iterator

import numpy as np

from tieproof.distances.space import Space
from tieproof.native.calls import native
from tieproof.ties import BoolArray, FloatArray, IntArray

PAIRS = 2**16
"""Pairs that are ranked by exact keys together."""

FEW_DIGITS = 4
"""Digits of exact keys that are sorted by first: near-duplicates mostly differ in the third or fourth (measured)."""

NARROW = 1 + 2.0**-40
"""Covers the rounding of a difference of two keys."""


def exact_order(
    space: Space, rows: IntArray, query: IntArray, item: IntArray
) -> tuple[IntArray, BoolArray, FloatArray, FloatArray]:
    """Order pairs (query ascending, item) by exact nearness within each query.

    Returns the order, whether a new tie starts at each place of it, and the interval of nearness of each tie.
    """
    starts_query = np.ones(len(query), dtype=np.bool_)
    np.not_equal(query[1:], query[:-1], out=starts_query[1:])
    starts = starts_query.nonzero()[0]
    keys, errors = space.keys(rows[query], item)
    order = by_key(keys, query, starts)
    keys, errors = keys[order], errors[order]
    # One error for all items of a query, so that two which are farther apart separate all before from all after.
    largest = np.maximum.reduceat(errors, starts) if len(starts) else errors
    reach = (2 * NARROW * largest)[starts_query.cumsum() - 1]
    touches = np.zeros(len(query), dtype=np.bool_)
    touches[1:] = ~starts_query[1:] & (keys[:-1] - keys[1:] <= reach[1:])
    starts_tie = ~touches
    rank_runs(space, rows, query, item, order, keys, errors, starts_tie)
    first = np.flatnonzero(starts_tie)
    low = np.maximum.reduceat(keys - errors, first) if len(first) else keys
    high = np.minimum.reduceat(keys + errors, first) if len(first) else keys
    make_falling(low, high, query[first])
    return order, starts_tie, low, high


def rank_runs(
    space: Space,
    rows: IntArray,
    query: IntArray,
    item: IntArray,
    order: IntArray,
    keys: FloatArray,
    errors: FloatArray,
    starts_tie: BoolArray,
) -> None:
    """Rank the pairs of each run, which touch, by exact keys, unless nothing in it has an error."""
    if starts_tie.all():
        return
    run = np.flatnonzero(starts_tie)
    length = np.diff(np.append(run, len(query)))
    is_open = (length > 1) & (np.add.reduceat(errors > 0, run, dtype=np.int64) > 0) if len(run) else length > 1
    number = np.repeat(np.arange(len(run)), length)
    place = np.flatnonzero(is_open[number])
    for span in spans_of_runs(number[place]):
        chosen = place[span]
        exact = space.exact_keys(rows[query[chosen]], item[order[chosen]])
        sorting = nearest_first(exact, number[chosen])
        for column in (order, keys, errors):
            column[chosen] = column[chosen[sorting]]
        exact = exact[sorting]
        new_run = number[chosen[1:]] != number[chosen[:-1]]
        starts_tie[chosen[1:]] = (exact[1:] != exact[:-1]).any(axis=1) | new_run


def nearest_first(exact: IntArray, number: IntArray) -> IntArray:
    """Indices that sort exact keys, falling, within each run: by a few digits if these tell all of them apart."""
    # The complement of every digit turns the lexicographic order round.
    varying = [~digit for digit in exact.T if (digit != digit[0]).any()]
    few = varying[:FEW_DIGITS]
    sorting = np.lexsort((*few[::-1], number))
    if len(few) < len(varying) and not told_apart(few, number, sorting):
        sorting = np.lexsort((*varying[::-1], number))
    return sorting


def told_apart(digits: list[IntArray], number: IntArray, sorting: IntArray) -> bool:
    """Whether no two neighbours of a run have the same digits."""
    same = np.ones(len(sorting) - 1, dtype=np.bool_)
    for column in (number, *digits):
        in_order = column[sorting]
        same &= in_order[1:] == in_order[:-1]
    return not same.any()


def spans_of_runs(number: IntArray) -> Iterator[slice]:
    """Whole runs, about `PAIRS` pairs together; `number` is that of each pair's run, ascending."""
    start = 0
    while start < len(number):
        last = number[min(start + PAIRS, len(number)) - 1]
        begin, end = np.searchsorted(number, last), np.searchsorted(number, last, side="right")
        stop = int(begin if end > start + PAIRS and begin > start else end)
        yield slice(start, stop)
        start = stop


def by_key(keys: FloatArray, query: IntArray, starts: IntArray) -> IntArray:
    """Indices that sort falling keys within each query; `query` is ascending, and starts anew at `starts`."""
    if len(query) <= 16 * len(starts):
        return np.lexsort((-keys, query))
    order = np.empty(len(query), dtype=np.int64)
    for start, stop in zip(starts, np.append(starts[1:], len(query)), strict=True):
        order[start:stop] = np.argsort(-keys[start:stop]) + start
    return order


@native
def make_falling(low: FloatArray, high: FloatArray, query: IntArray) -> None:
    """Where intervals of neighbouring thresholds overlap: each is below the one before and above the one after."""
