"""Every ranking that is possible if each distance may be off, in fractions; imports nothing of tieproof."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np


def possible_orders(distances: Sequence[Fraction], errors: Sequence[Fraction]) -> Iterator[tuple[int, ...]]:
    """Every order of the items in which numbers within their errors of the distances can stand, ties in any order."""
    near, far = ranks_of_ends(distances, errors)
    for order in permutations(range(len(distances))):
        before = 0
        for item in order:
            before = max(before, near[item])
            if before > far[item]:
                break
        else:
            yield order


def ranks_of_ends(distances: Sequence[Fraction], errors: Sequence[Fraction]) -> tuple[list[int], list[int]]:
    """The smallest and the largest number of each item, as places among all of them: quick to compare."""
    ends = [(each - error, each + error) for each, error in zip(distances, errors, strict=True)]
    rank = {end: place for place, end in enumerate(sorted({end for both in ends for end in both}))}
    return [rank[near] for near, _ in ends], [rank[far] for _, far in ends]


def counts_of_others(
    distances: Sequence[Fraction], errors: Sequence[Fraction], relevant: Sequence[bool]
) -> tuple[list[int], list[int]]:
    """The largest and the smallest number of other items before the first, second, … relevant item in any order.

    All orders of the items are rows of one table.
    """
    near, far = (np.array(side, dtype=np.int16) for side in ranks_of_ends(distances, errors))
    orders = all_orders(len(distances))
    possible = (np.maximum.accumulate(near[orders], axis=1) <= far[orders]).all(axis=1)
    is_relevant = np.array(relevant, dtype=np.bool_)[orders[possible]]
    others = np.cumsum(~is_relevant, axis=1)[is_relevant].reshape(len(is_relevant), -1)
    return others.max(axis=0).tolist(), others.min(axis=0).tolist()


@cache
def all_orders(count: int) -> np.ndarray[Any, Any]:
    """Every order of so many items, (count!, count)."""
    return np.array(list(permutations(range(count))), dtype=np.int8)
