"""Zeros of a tile, in plain Python."""

import math
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


def count_zeros(
    entries: Array, turned: bool, targets: Any, start: int, weight: Array, count: Array, item: Array
) -> None:
    """Add the weights of the zeros of each query that it does not leave out; note one, if none was known."""
    for query in range(len(count)):
        row = targets.row[query]
        runs = targets.run[targets.first[query] : targets.last[query]].tolist()
        for place, of_item in enumerate(weight.tolist()):
            left_out = any(first <= start + place < last for first, last in runs)
            entry = entries[place, row] if turned else entries[row, place]
            if entry == 0 and math.copysign(1.0, entry) < 0 and not left_out:
                count[query] += of_item
                item[query] = start + place if item[query] < 0 else item[query]
