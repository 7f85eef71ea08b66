"""What a tile could not decide: float64 for each pair, then exact integers."""

from threading import Lock

import numpy as np

from tieproof.engine.intervals import settle
from tieproof.engine.ranked import Ranked
from tieproof.engine.structures import IntArray, SmallIntArray, Undecided
from tieproof.exact.space import Space

EXACT_ENTRIES = 2**21
"""Entries of rows that are cut into exact slices together."""


def resolve(space: Space, ranked: Ranked, undecided: Undecided, lock: Lock) -> None:
    """Find the place of each undecided item among the thresholds and count it there."""
    keys, errors = space.keys(ranked.targets.row[undecided.query], undecided.item)
    with lock:
        rest = settle(keys - errors, keys + errors, ranked.thresholds, ranked.counts, undecided)
    if not rest:
        return
    open_items = Undecided(*(column[:rest] for column in undecided))
    order = np.argsort(open_items.query, kind="stable")
    queries, starts = np.unique(open_items.query[order], return_index=True)
    for query, chosen in zip(queries, np.split(order, starts[1:]), strict=True):
        resolve_exactly(space, ranked, int(query), Undecided(*(column[chosen] for column in open_items)), lock)


def resolve_exactly(space: Space, ranked: Ranked, query: int, items: Undecided, lock: Lock) -> None:
    """Place the items of one query by exact keys."""
    row = int(ranked.targets.row[query])
    start, stop = ranked.thresholds.start[query], ranked.thresholds.stop[query]
    lowest, highest = int(items.first.min()), int(items.last.max())
    thresholds = exact_keys(space, row, ranked.items(query)[lowest:highest])
    keys = exact_keys(space, row, items.item)
    # Searching needs ascending keys; thresholds come nearest first.
    ascending = -np.array(thresholds, dtype=object)
    searched = -np.array(keys, dtype=object)
    first = lowest + np.searchsorted(ascending, searched, side="left")
    place = lowest + np.searchsorted(ascending, searched, side="right")
    is_equal = first < place
    weight = items.weight.astype(np.int32)
    inside = start + place < stop
    with lock:
        np.add.at(ranked.counts.gap, (start + place)[inside], weight[inside])
        np.add.at(ranked.counts.equal, (start + first)[is_equal], weight[is_equal])


def exact_keys(space: Space, row: int, items: IntArray | SmallIntArray) -> list[int]:
    """Exact keys of any number of items, a bounded number at a time."""
    size = max(1, EXACT_ENTRIES // space.items.dimensions)
    parts = (items[i : i + size].astype(np.int64) for i in range(0, len(items), size))
    return [key for part in parts for key in space.exact_keys(row, part)]
