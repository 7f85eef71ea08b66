"""Placing the listed items of a tile among the thresholds of their queries, one by one, each by its own error."""

from threading import Lock

import numpy as np

from tieproof.distances.space import Error, Form
from tieproof.engine.guide import place_of, step_of, steps_of
from tieproof.engine.intervals import settle
from tieproof.engine.structures import Counts, NearEntries, Thresholds, Undecided
from tieproof.native.compiled import kernel
from tieproof.ties import FloatArray


def place(
    listed: NearEntries,
    form: Form,
    error: Error,
    column: int,
    thresholds: Thresholds,
    counts: Counts,
    items: Undecided,
    lock: Lock,
) -> int:
    """Count items by their own errors; note the others at the front of `items` and return how many they are.

    column: the tile's first item. The arrays of `items` are as long as those of `listed`; the lock is held while
    counts change.
    """
    low, high = np.empty(len(items.query)), np.empty(len(items.query))
    note(listed, form, error, column, thresholds, items, low, high)
    start, stop, key, reach, *_ = thresholds
    with lock:
        return settle(low, high, start, stop, key, reach, counts, items)


@kernel
def note(
    listed: NearEntries,
    form: Form,
    error: Error,
    column: int,
    thresholds: Thresholds,
    items: Undecided,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Note the intervals of nearness of listed items, and the first thresholds that they may meet."""
    # Arrays are taken out of their tuples before the loops: a reference is counted each time.
    near_query, near_row, near_item, near_entry = listed
    factor, shift, square, ratio, _, weight = form
    relative, of_row, of_column, constant, _ = error
    start, stop, key, reach, _, guide, scale = thresholds
    query, item, weights, firsts, ends = items
    longest = 0
    for i in range(near_query.shape[0]):
        q, c, entry = near_query[i], near_item[i], near_entry[i]
        query[i], item[i], weights[i] = q, column + c, weight[c]
        if ratio:
            nearness = np.float64(entry) * abs(np.float64(entry)) / square[c]
        else:
            nearness = np.float64(entry * factor[c] - shift[c])
        bound = relative * abs(nearness) + of_row[near_row[i]] * of_column[c] + constant[c]
        low[i], high[i] = nearness - bound, nearness + bound
        # Keys before `first` are nearer, from `end` on none is.
        first, end, top, nearest = start[q], stop[q], key[start[q]], high[i] + reach[q]
        if top <= nearest:
            end = first
        elif scale[q] > 0.0:
            table, steps = place_of(first, q), steps_of(first, end)
            step = step_of(nearest, top, scale[q], steps)
            if step + 1 < steps:
                end = first + guide[table + step + 1]
            if step > 0:
                first += guide[table + step]
        firsts[i], ends[i] = first, end
        longest = end - first if end - first > longest else longest
    # All items advance by the same step together: their searches overlap in the processor.
    step = 1
    while 2 * step <= longest:
        step *= 2
    while step:
        for i in range(near_query.shape[0]):
            ahead = firsts[i] + step
            is_nearer = ahead <= ends[i] and key[ahead - 1] > high[i] + reach[query[i]]
            firsts[i] = ahead if is_nearer else firsts[i]
        step >>= 1
    for i in range(near_query.shape[0]):
        q = query[i]
        firsts[i], ends[i] = firsts[i] - start[q], stop[q] - start[q]
