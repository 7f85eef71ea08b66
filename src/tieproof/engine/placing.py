"""Placing the listed items of a tile among the thresholds of their queries, one by one, each by its own error."""

import numpy as np

from tieproof.compiled import kernel
from tieproof.engine.guide import bracket
from tieproof.engine.intervals import first_below
from tieproof.engine.structures import Candidates, Tile, Work


@kernel
def place(tile: Tile, work: Work, near: Candidates, found: int, used: int) -> int:
    """Count items by their own errors, or note them as undecided; return how many are undecided then."""
    # Arrays are taken out of their tuples before the loops: a reference is counted each time.
    near_query, near_row, near_item, near_entry, lows, highs, firsts, ends = near
    factor, shift, square, ratio, _, weight = tile.form
    relative, of_row, of_column, constant, _ = tile.error
    start, stop, key, reach, _, guide, scale = work.thresholds
    gap, equal = work.counts
    query, item, weights, first_met, last_met = work.undecided
    longest = 0
    for i in range(found):
        q, c, entry = near_query[i], near_item[i], near_entry[i]
        if ratio:
            nearness = np.float64(entry) * abs(np.float64(entry)) / square[c]
        else:
            nearness = np.float64(entry * factor[c] - shift[c])
        bound = relative * abs(nearness) + of_row[near_row[i]] * of_column[c] + constant[c]
        lows[i], highs[i] = nearness - bound, nearness + bound + reach[q]
        firsts[i], ends[i] = bracket(guide, scale[q], key[start[q]], start[q], stop[q], q, highs[i])
        longest = max(longest, ends[i] - firsts[i])
    # All items advance by the same step together: their searches overlap in the processor.
    step = 1
    while 2 * step <= longest:
        step *= 2
    while step:
        for i in range(found):
            ahead = firsts[i] + step
            firsts[i] = ahead if ahead <= ends[i] and key[ahead - 1] > highs[i] else firsts[i]
        step >>= 1
    for i in range(found):
        q, c, first = near_query[i], near_item[i], firsts[i]
        last = first_below(key, first, stop[q], reach[q], lows[i])
        is_equal = first < last and reach[q] == 0.0 and lows[i] == highs[i]
        if is_equal or first == last:
            if last < stop[q]:
                gap[last] += weight[c]
            if is_equal:
                equal[first] += weight[c]
        else:
            query[used], item[used], weights[used] = q, tile.column + c, weight[c]
            first_met[used], last_met[used] = first - start[q], last - start[q]
            used += 1
    return used
