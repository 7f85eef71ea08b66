"""Where an interval of nearness stands among the thresholds of its query."""

from tieproof.compiled import kernel
from tieproof.engine.structures import Counts, FloatArray, Thresholds, Undecided


@kernel
def locate(low: float, high: float, keys: FloatArray, start: int, stop: int, reach: float) -> tuple[int, int, bool]:
    """Where an interval stands among the thresholds start … stop-1.

    It is nearer than all from `last` on, farther than those before `first`. True: it is equal to those between, for
    neither it nor they have an error.
    """
    first = before_value(keys, start, stop, -reach, high, False)
    if first == stop or keys[first] + reach < low:
        return first, first, False
    return first, before_value(keys, first, stop, reach, low, True), low == high and reach == 0.0


@kernel
def before_value(falling: FloatArray, start: int, stop: int, shift: float, value: float, or_equal: bool) -> int:
    """The first place from `start` on whose number plus `shift` is not larger than `value`, or not even as large."""
    while start < stop:
        middle = (start + stop) >> 1
        shifted = falling[middle] + shift
        if shifted > value or (or_equal and shifted == value):
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def settle(low: FloatArray, high: FloatArray, thresholds: Thresholds, counts: Counts, undecided: Undecided) -> int:
    """Count what sharper intervals of nearness decide; move the rest to the front and return how many they are."""
    query, item, weight, firsts, lasts = undecided
    starts, stops, key, reach, _ = thresholds
    rest = 0
    for i in range(low.shape[0]):
        q = query[i]
        start = starts[q]
        first, last, is_equal = locate(low[i], high[i], key, start + firsts[i], start + lasts[i], reach[q])
        if is_equal or first == last:
            if last < stops[q]:
                counts.gap[last] += weight[i]
            if is_equal:
                counts.equal[first] += weight[i]
            continue
        query[rest], item[rest], weight[rest] = q, item[i], weight[i]
        firsts[rest], lasts[rest] = first - start, last - start
        rest += 1
    return rest
