"""Where an interval of nearness stands among the thresholds of its query."""

from tieproof.engine.structures import Counts, Undecided
from tieproof.native.compiled import kernel, part
from tieproof.ties import FloatArray, IntArray

FAR = 8
"""After so many numbers the last one is looked at: where nothing can be told apart, all of them are nearer."""


@part
def end_of_nearer(falling: FloatArray, start: int, stop: int, shift: float, value: float, or_equal: bool) -> int:
    """Where in start … stop the numbers end that, plus `shift`, are larger than `value`; mostly soon.

    or_equal: or as large.
    """
    step = 1
    while start + step <= stop:
        number = falling[start + step - 1] + shift
        if number < value or (number == value and not or_equal):
            break
        start += step
        step *= 2
        if step == FAR and start < stop:
            number = falling[stop - 1] + shift
            if number > value or (number == value and or_equal):
                return stop
    stop = stop if stop < start + step else start + step - 1
    while start < stop:
        middle = (start + stop) >> 1
        number = falling[middle] + shift
        if number < value or (number == value and not or_equal):
            stop = middle
        else:
            start = middle + 1
    return start


@kernel
def settle(
    low: FloatArray,
    high: FloatArray,
    starts: IntArray,
    stops: IntArray,
    key: FloatArray,
    reach: FloatArray,
    counts: Counts,
    undecided: Undecided,
) -> int:
    """Count what sharper intervals of nearness decide; move the rest to the front and return how many they are.

    The thresholds of query q are starts[q] … stops[q]-1.
    """
    query, item, weight, firsts, lasts = undecided
    gap, equal = counts
    rest = 0
    for i in range(low.shape[0]):
        q = query[i]
        start, stop = starts[q], starts[q] + lasts[i]
        first = end_of_nearer(key, start + firsts[i], stop, 0.0, high[i] + reach[q], False)
        last = end_of_nearer(key, first, stop, reach[q], low[i], True)
        is_equal = first < last and low[i] == high[i] and reach[q] == 0.0
        if is_equal or first == last:
            if last < stops[q]:
                gap[last] += weight[i]
            if is_equal:
                equal[first] += weight[i]
            continue
        query[rest], item[rest], weight[rest] = q, item[i], weight[i]
        firsts[rest], lasts[rest] = first - start, last - start
        rest += 1
    return rest
