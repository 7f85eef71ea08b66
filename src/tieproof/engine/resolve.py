"""What a tile could not decide: float64 for each pair, then exact integers, many pairs at a time."""

from collections.abc import Iterator
from threading import Lock

import numpy as np

from tieproof.compiled import kernel
from tieproof.engine.kernels import Counts, IntArray, Undecided, settle
from tieproof.engine.thresholds import Ranked
from tieproof.exact.space import Space

PAIRS = 2**17
"""Items and thresholds that are ranked by exact keys together."""


def resolve(space: Space, ranked: Ranked, undecided: Undecided, lock: Lock) -> None:
    """Find the place of each undecided item among the thresholds and count it there."""
    keys, errors = space.keys(ranked.targets.row[undecided.query], undecided.item)
    with lock:
        rest = settle(keys - errors, keys + errors, ranked.thresholds, ranked.counts, undecided)
    for items in batches(Undecided(*(column[:rest] for column in undecided))):
        resolve_exactly(space, ranked, items, lock)


def batches(items: Undecided) -> Iterator[Undecided]:
    """Consecutive items, so many that they and the thresholds that they may meet are about `PAIRS`."""
    starts = np.flatnonzero(np.diff(items.query, prepend=-1))
    if not len(starts):
        return
    spread = np.maximum.reduceat(items.last, starts) - np.minimum.reduceat(items.first, starts)
    ends = np.append(starts[1:], len(items.query))
    size = np.cumsum(spread + ends - starts)
    start = done = 0
    while start < len(starts):
        stop = max(start + 1, int(np.searchsorted(size, done + PAIRS, side="right")))
        yield Undecided(*(column[starts[start] : ends[stop - 1]] for column in items))
        start, done = stop, size[stop - 1]


def resolve_exactly(space: Space, ranked: Ranked, items: Undecided, lock: Lock) -> None:
    """Place items by exact keys, theirs and those of the thresholds between the first and last of each query."""
    row = ranked.targets.row
    starts = np.flatnonzero(np.diff(items.query, prepend=-1))
    query, lowest = items.query[starts], np.minimum.reduceat(items.first, starts)
    spread = np.maximum.reduceat(items.last, starts) - lowest
    begins = np.cumsum(spread) - spread
    in_run = np.arange(int(spread.sum())) - np.repeat(begins, spread)
    threshold = np.repeat(ranked.thresholds.pointer[query] + lowest, spread) + in_run
    representative = ranked.representative[threshold].astype(np.int64)
    keys = space.exact_keys(
        np.concatenate([row[items.query], np.repeat(row[query], spread)]),
        np.concatenate([items.item, representative]),
    )
    # Where the thresholds of an item's query stand among the keys, less the first one's number in its query.
    origin = np.repeat(len(items.query) + begins - lowest, np.diff(np.append(starts, len(items.query))))
    with lock:
        place(keys, origin, items, ranked.thresholds.pointer, ranked.counts)


@kernel
def place(keys: IntArray, origin: IntArray, items: Undecided, pointer: IntArray, counts: Counts) -> None:
    """Search each item among the thresholds it may meet, and count it there."""
    for i in range(items.query.shape[0]):
        start, stop = items.first[i], items.last[i]
        is_equal = False
        while start < stop and not is_equal:
            middle = (start + stop) >> 1
            order = compare(keys[i], keys[origin[i] + middle])
            is_equal = order == 0
            if order > 0:
                stop = middle
            else:
                start = middle + 1
        # `start` thresholds are as near as the item or nearer.
        query_start = pointer[items.query[i]]
        if query_start + start < pointer[items.query[i] + 1]:
            counts.gap[query_start + start] += items.weight[i]
        if is_equal:
            counts.equal[query_start + start - 1] += items.weight[i]


@kernel
def compare(a: IntArray, b: IntArray) -> int:
    """The sign of a - b in lexicographic order."""
    for d in range(a.shape[0]):
        if a[d] != b[d]:
            return 1 if a[d] > b[d] else -1
    return 0
