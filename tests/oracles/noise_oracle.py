"""Every ranking that is possible if each distance may be off, in fractions; imports nothing of tieproof."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np


def possible_orders(distances: Sequence[Fraction], errors: Sequence[Fraction]) -> Iterator[tuple[int, ...]]:
    """Every order of the items in which numbers within their errors of the distances can stand, ties in any order."""
    for order in permutations(range(len(distances))):
        before = None
        for item in order:
            nearest = distances[item] - errors[item]
            before = nearest if before is None else max(before, nearest)
            if before > distances[item] + errors[item]:
                break
        else:
            yield order


def counts_of_others(
    distances: Sequence[Fraction], errors: Sequence[Fraction], relevant: Sequence[bool]
) -> tuple[list[int], list[int]]:
    """The largest and the smallest number of other items before the first, second, … relevant item in any order.

    All orders of the items are rows of one table. Ends of distances are compared as fractions, by their ranks.
    """
    ends = [(each - error, each + error) for each, error in zip(distances, errors, strict=True)]
    rank = {end: place for place, end in enumerate(sorted({end for both in ends for end in both}))}
    near, far = (np.array([rank[both[side]] for both in ends], dtype=np.int16) for side in (0, 1))
    orders = all_orders(len(distances))
    possible = (np.maximum.accumulate(near[orders], axis=1) <= far[orders]).all(axis=1)
    is_relevant = np.array(relevant, dtype=np.bool_)[orders[possible]]
    others = np.cumsum(~is_relevant, axis=1)[is_relevant].reshape(len(is_relevant), -1)
    return others.max(axis=0).tolist(), others.min(axis=0).tolist()


@cache
def all_orders(count: int) -> np.ndarray[Any, Any]:
    """Every order of so many items, (count!, count)."""
    return np.array(list(permutations(range(count))), dtype=np.int8)
