"""The nearest items by sorting fractions, from the definition; imports nothing of tieproof."""

from collections.abc import Sequence
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


def nearest(name: str, row: Vector, items: Sequence[Vector], left_out: set[int], k: int) -> Ranking:
    """Rank all items that are not left out by their exact distances, tied items by their positions."""
    keys = {item: KEYS[name](row, vector) for item, vector in enumerate(items) if item not in left_out}
    ranking = sorted(keys, key=lambda item: (keys[item], item))
    listed = ranking[:k]
    if not listed:
        return Ranking([], [], 0, [], 0, [])
    last = keys[listed[-1]]
    shared = {keys[item] for item in listed if list(keys.values()).count(keys[item]) > 1}
    return Ranking(
        ids=listed,
        distances=[distance(name, keys[item]) for item in listed],
        tie_start=sum(key < last for key in keys.values()),
        tie=[item for item, key in keys.items() if key == last],
        n_ties=len(shared),
        nearer=[sum(key < keys[item] for key in keys.values()) for item in listed],
    )


def duplicates(items: Sequence[Vector]) -> int:
    """How many items are equal to an earlier one."""
    return len(items) - len(set(map(tuple, items)))
