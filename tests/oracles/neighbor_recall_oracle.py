"""Recall of an index by its definition: over every set of k nearest items, one by one, in fractions.

Nothing of tieproof is imported. Other libraries' definitions follow their descriptions, for one query at a time.
"""

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple


class Recall(NamedTuple):
    """The smallest, the mean and the largest value, and the variance."""

    lower: Fraction
    expected: Fraction
    upper: Fraction
    variance: Fraction


def true_sets(distances: Sequence[Any], k: int) -> Iterator[set[int]]:
    """All sets of k items such that no item outside is nearer than one inside."""
    for chosen in combinations(range(len(distances)), k):
        inside, outside = set(chosen), set(range(len(distances))) - set(chosen)
        if all(distances[item] <= distances[other] for item in inside for other in outside):
            yield inside


def recall(found: Sequence[int], distances: Sequence[Any], k: int) -> Recall:
    """The share of the k nearest items that was found, over all choices of the k nearest."""
    values = [Fraction(len(true & set(found)), k) for true in true_sets(distances, k)]
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)
    return Recall(min(values), mean, max(values), variance)


def open_recall(
    found: Sequence[int], listed: Sequence[int], distances: Sequence[int], k: int, n_items: int
) -> tuple[Fraction, Fraction]:
    """The bounds if only a list of the nearest items is known, over every gallery that begins with this list.

    Each item that is not listed is as far as the last listed item, or farther.
    """
    others = [item for item in range(n_items) if item not in listed]
    bounds = []
    for tied in range(len(others) + 1):
        for chosen in combinations(others, tied):
            whole = dict(zip(listed, distances, strict=True))
            whole |= {item: distances[-1] if item in chosen else distances[-1] + 1 for item in others}
            value = recall(found, [whole[item] for item in range(n_items)], k)
            bounds += [value.lower, value.upper]
    return min(bounds), max(bounds)


def ann_benchmarks(found_distances: Sequence[float], true_distances: Sequence[float], k: int, by: str) -> Fraction:
    """The share of the first k found items that are at most slightly farther than the k-th nearest item."""
    last = true_distances[k - 1]
    limit = {"k-nn": last + 1e-3, "epsilon": last * (1 + 0.01), "largeepsilon": last * (1 + 0.1)}[by]
    return Fraction(sum(1 for distance in found_distances[:k] if distance <= limit), k)


def big_ann(
    found: Sequence[Hashable], listed: Sequence[Hashable], true_distances: Sequence[float], k: int
) -> Fraction:
    """The found ids among the first k true ids and those after them that are as far as the k-th, up to 1e-6."""
    end = k
    while end < len(listed) and abs(true_distances[k - 1] - true_distances[end]) < 1e-6:
        end += 1
    return Fraction(len(set(listed[:end]) & set(found)), k)
