"""Every ranking that is possible if each distance may be off, in fractions; imports nothing of tieproof."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations


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
    """The largest and the smallest number of other items before the first, second, … relevant item in any order."""
    found: list[list[int]] = [[] for _ in range(sum(relevant))]
    for order in possible_orders(distances, errors):
        others = hits = 0
        for item in order:
            if relevant[item]:
                found[hits].append(others)
                hits += 1
            else:
                others += 1
    return [max(each) for each in found], [min(each) for each in found]
