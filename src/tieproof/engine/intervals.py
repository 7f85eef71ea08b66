"""Where an interval of nearness stands among the thresholds of its query."""

from tieproof.engine.structures import Counts, Undecided
from tieproof.native.calls import native
from tieproof.native.compiled import part
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


@native
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
