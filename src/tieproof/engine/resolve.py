"""What a tile could not decide: float64 for each pair, then exact integers."""

from threading import Lock

import numpy as np

from tieproof.engine.kernels import IntArray, Undecided, narrow
from tieproof.engine.thresholds import Ranked
from tieproof.exact.space import Space

EXACT_ENTRIES = 2**21
"""Entries of rows that are cut into exact slices together."""


def resolve(space: Space, ranked: Ranked, undecided: Undecided, lock: Lock) -> None:
    """Find the place of each undecided item among the thresholds and count it there."""
    rows = ranked.targets.row
    keys, errors = space.keys(rows[undecided.query], undecided.item)
    low, high = keys - errors, keys + errors
    narrow(low, high, ranked.thresholds, undecided)
    # At one threshold only, and neither has an error: equal.
    threshold = ranked.thresholds.pointer[undecided.query] + undecided.first
    single = undecided.last - undecided.first == 1
    within = np.minimum(threshold, len(ranked.thresholds.low) - 1)
    certain = (low == high) & (ranked.thresholds.low[within] == ranked.thresholds.high[within])
    equal = single & certain
    place = undecided.first + equal
    for query, chosen in open_by_query(undecided, equal):
        place[chosen], equal[chosen] = by_exact_keys(space, ranked, query, chosen, undecided)
    add(ranked, undecided, place, equal, lock)


def open_by_query(undecided: Undecided, equal: np.ndarray) -> list[tuple[int, IntArray]]:
    """The queries that still have undecided items, with the places of those items."""
    still_open = np.flatnonzero((undecided.first < undecided.last) & ~equal)
    still_open = still_open[np.argsort(undecided.query[still_open], kind="stable")]
    queries, starts = np.unique(undecided.query[still_open], return_index=True)
    stops = np.append(starts, len(still_open))[1:]
    return [(int(query), still_open[start:stop]) for query, start, stop in zip(queries, starts, stops, strict=True)]


def by_exact_keys(
    space: Space, ranked: Ranked, query: int, chosen: IntArray, undecided: Undecided
) -> tuple[IntArray, np.ndarray]:
    """For some items of a query: how many thresholds are not farther, and whether the last of them is equal."""
    row = int(ranked.targets.row[query])
    start = int(ranked.thresholds.pointer[query])
    lowest, highest = int(undecided.first[chosen].min()), int(undecided.last[chosen].max())
    thresholds = exact_keys(space, row, ranked.representative[start + lowest : start + highest])
    keys = exact_keys(space, row, undecided.item[chosen])
    ascending = -np.array(thresholds, dtype=object)
    items = -np.array(keys, dtype=object)
    nearer = np.searchsorted(ascending, items, side="left")
    nearer_or_equal = np.searchsorted(ascending, items, side="right")
    return lowest + nearer_or_equal, nearer_or_equal > nearer


def exact_keys(space: Space, row: int, items: IntArray) -> list[int]:
    """Exact keys of any number of items, a bounded number at a time."""
    size = max(1, EXACT_ENTRIES // space.items.dimensions)
    return [key for i in range(0, len(items), size) for key in space.exact_keys(row, items[i : i + size])]


def add(ranked: Ranked, undecided: Undecided, place: IntArray, equal: np.ndarray, lock: Lock) -> None:
    """Count each item in the gap before threshold `place`, and at the threshold before that where equal."""
    pointer = ranked.thresholds.pointer
    origin = pointer[undecided.query]
    inside = origin + place < pointer[undecided.query + 1]
    with lock:
        np.add.at(ranked.counts.gap, (origin + place)[inside], undecided.weight[inside].astype(np.int32))
        np.add.at(ranked.counts.equal, (origin + place - 1)[equal], undecided.weight[equal].astype(np.int32))
