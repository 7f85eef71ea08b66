"""The nearest items by sorting fractions, from the definition; imports nothing of tieproof."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from exact_oracle import Vector
from fnmr_oracle import KEYS, distance


class Ranking(NamedTuple):
    """The nearest items of one query: the first k, their distances, and the tie at the last of them."""

    ids: list[int]
    distances: list[float]
    tie_start: int
    tie: list[int]
    n_ties: int
    nearer: list[int]


def keys(name: str, row: Vector, items: Sequence[Vector], left_out: set[int]) -> dict[int, Fraction]:
    """The exact distances of all items that are not left out."""
    return {item: KEYS[name](row, vector) for item, vector in enumerate(items) if item not in left_out}


def nearest(name: str, keys: dict[int, Fraction], k: int) -> Ranking:
    """Rank items by their exact distances, tied items by their positions."""
    ranking = sorted(keys, key=lambda item: (keys[item], item))
    listed = ranking[:k]
    if not listed:
        return Ranking([], [], 0, [], 0, [])
    last = keys[listed[-1]]
    counts = Counter(keys.values())
    return Ranking(
        ids=listed,
        distances=[distance(name, keys[item]) for item in listed],
        tie_start=sum(key < last for key in keys.values()),
        tie=[item for item, key in keys.items() if key == last],
        n_ties=len({keys[item] for item in listed if counts[keys[item]] > 1}),
        nearer=[sum(key < keys[item] for key in keys.values()) for item in listed],
    )


def duplicates(items: Sequence[Vector]) -> int:
    """How many items are equal to an earlier one."""
    return len(items) - len(set(map(tuple, items)))
