"""Pairs of a query and an item in exact order of nearness, with the intervals that enclose it."""

import numpy as np

from tieproof.engine.structures import FloatArray, IntArray
from tieproof.exact.space import Space

NARROW = 1 + 2.0**-40
"""Covers the rounding of a difference of two keys."""


def exact_order(
    space: Space, rows: IntArray, query: IntArray, item: IntArray
) -> tuple[IntArray, np.ndarray, FloatArray, FloatArray]:
    """Order pairs (query ascending, item) by exact nearness within each query.

    Returns the order, whether a new tie starts at each place of it, and the interval of nearness of each tie.
    """
    keys, errors = space.keys(rows[query], item)
    order = by_key(keys, query)
    keys, errors = keys[order], errors[order]
    starts_query = np.concatenate([[True], query[1:] != query[:-1]]) if len(query) else np.zeros(0, dtype=bool)
    starts = np.flatnonzero(starts_query)
    # One error for all items of a query, so that two which are farther apart separate all before from all after.
    largest = np.maximum.reduceat(errors, starts) if len(starts) else errors
    reach = 2 * NARROW * np.repeat(largest, np.diff(np.append(starts, len(query))))
    touches = np.zeros(len(query), dtype=np.bool_)
    touches[1:] = ~starts_query[1:] & (keys[:-1] - keys[1:] <= reach[1:])
    starts_tie = ~touches
    # Runs of pairs that touch are ranked by exact keys, unless nothing in them has an error.
    run = np.flatnonzero(~touches)
    if len(run):
        inexact = np.add.reduceat(errors > 0, run, dtype=np.int64) > 0
        length = np.diff(np.append(run, len(query)))
        for start, stop in zip(run[inexact & (length > 1)], (run + length)[inexact & (length > 1)], strict=True):
            span = slice(start, stop)
            exact = np.empty(stop - start, dtype=object)
            exact[:] = space.exact_keys(int(rows[query[start]]), item[order[span]])
            sorting = sorted(range(stop - start), key=lambda i, exact=exact: -exact[i])  # type: ignore[misc]
            order[span] = order[span][sorting]
            keys[span], errors[span] = keys[span][sorting], errors[span][sorting]
            exact = exact[sorting]
            starts_tie[start + 1 : stop] = exact[1:] != exact[:-1]
    first = np.flatnonzero(starts_tie)
    low = np.maximum.reduceat(keys - errors, first) if len(first) else keys
    high = np.minimum.reduceat(keys + errors, first) if len(first) else keys
    make_falling(low, high, query[first])
    return order, starts_tie, low, high


def by_key(keys: FloatArray, query: IntArray) -> IntArray:
    """Indices that sort falling keys within each query; `query` is ascending."""
    starts = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]])) if len(query) else query
    if len(query) <= 16 * len(starts):
        return np.lexsort((-keys, query))
    order = np.empty(len(query), dtype=np.int64)
    for start, stop in zip(starts, np.append(starts[1:], len(query)), strict=True):
        order[start:stop] = np.argsort(-keys[start:stop]) + start
    return order


def make_falling(low: FloatArray, high: FloatArray, query: IntArray) -> None:
    """Where intervals of neighbouring thresholds overlap: each is below the one before and above the one after."""
    follows = query[1:] == query[:-1]
    crossing = follows & ((low[:-1] < low[1:]) | (high[:-1] < high[1:]))
    for crossed in np.unique(query[1:][crossing]):
        span = slice(np.searchsorted(query, crossed), np.searchsorted(query, crossed, side="right"))
        low[span] = np.maximum.accumulate(low[span][::-1])[::-1]
        high[span] = np.minimum.accumulate(high[span])
