"""The ends of distances under noise, and their merging with the thresholds of a query."""

import math
from typing import Any


def ends_of(distance: float, radius: float, size: float, most: float) -> tuple[float, float]:
    """The far and the near end of one distance."""
    far, near = min(distance + 2 * radius, most) / size, max(distance - 2 * radius, -most) / size
    return (math.ceil(far) + 0.25) * size, (math.floor(near) - 0.25) * size


def merge_ends(
    length: list[int], ties: list[int], tie_key: list[float], end: Any, key: Any, by_key: bool
) -> tuple[list[tuple[float, bool, float]], list[tuple[float, bool]]]:
    """The ends of all queries (end, whether it is far, key) in order, and the keys of both with what is a tie."""
    ends, both = [], []
    first = first_tie = 0
    for count, n_ties in zip(length, ties, strict=True):
        span = range(first, first + count)
        own = [(float(end[row][i]), row == 0, float(key[row][i])) for row in (0, 1) for i in span]
        own.sort(key=lambda each: -each[2] if by_key else each[0])
        merged = [(float(each), True) for each in tie_key[first_tie : first_tie + n_ties]]
        merged += [(each[2], False) for each in own]
        merged.sort(key=lambda each: -each[0])
        ends += own
        both += merged
        first, first_tie = first + count, first_tie + n_ties
    return ends, both
