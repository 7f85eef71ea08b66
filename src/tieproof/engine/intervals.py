"""Where an interval of nearness stands among the thresholds of its query."""

from tieproof.compiled import kernel, part
from tieproof.engine.structures import Counts, FloatArray, Thresholds, Undecided


@part
def locate(low: float, high: float, keys: FloatArray, start: int, stop: int, reach: float) -> tuple[int, int, bool]:
    """Where an interval stands among the thresholds start … stop-1.

    It is nearer than all from `last` on, farther than those before `first`. True: it is equal to those between, for
    neither it nor they have an error.
    """
    first = first_not_above(keys, start, stop, -reach, high)
    if first == stop or keys[first] + reach < low:
        return first, first, False
    last = first_below(keys, first, stop, reach, low)
    return first, last, low == high and reach == 0.0


@part
def first_not_above(falling: FloatArray, start: int, stop: int, shift: float, value: float) -> int:
    """The first place in start … stop whose number plus `shift` is at most `value`."""
    while start < stop:
        middle = (start + stop) >> 1
        if falling[middle] + shift > value:
            start = middle + 1
        else:
            stop = middle
    return start


@part
def first_below(falling: FloatArray, start: int, stop: int, shift: float, value: float) -> int:
    """The first place in start … stop whose number plus `shift` is below `value`: mostly one of the next few."""
    step = 1
    while start + step <= stop and falling[start + step - 1] + shift >= value:
        start += step
        step *= 2
    stop = min(stop, start + step)
    while start < stop:
        middle = (start + stop) >> 1
        if falling[middle] + shift >= value:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def settle(low: FloatArray, high: FloatArray, thresholds: Thresholds, counts: Counts, undecided: Undecided) -> int:
    """Count what sharper intervals of nearness decide; move the rest to the front and return how many they are."""
    query, item, weight, firsts, lasts = undecided
    starts, stops, key, reach, _, _, _ = thresholds
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
