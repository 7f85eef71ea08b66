"""Sparse rows as dictionaries, and their nearest items by loops over fractions."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Row = dict[str, Any]

WEIGHTS: dict[str, Callable[[np.random.Generator], float]] = {
    "whole": lambda random: int(random.integers(1, 4)),
    "signed": lambda random: float(random.choice([-1.0, -0.5, 0.5, 1.0])),
    "float32": lambda random: float(np.float32(random.random() + 0.01)),
    "canceling": lambda random: float(random.choice([-0.1, 0.1, 0.3, 1e8])),
    "tiny": lambda random: float(random.choice([1e-200, -1e-160, 3e-320, 1.0])),
}


def rows_of(kind: str, count: int, seed: int) -> list[Row]:
    """Rows of no to three of twelve terms; some are repeated."""
    random = np.random.default_rng(seed)
    rows: list[Row] = []
    for _ in range(count):
        terms = random.choice(12, size=random.integers(0, 4), replace=False)
        own = {f"t{term}": WEIGHTS[kind](random) for term in terms}
        rows.append(dict(rows[random.integers(len(rows))]) if rows and random.random() < 0.2 else own)
    return rows


def product(x: Row, y: Row) -> Fraction:
    return sum((Fraction(weight) * Fraction(y[term]) for term, weight in x.items() if term in y), Fraction(0))


def nearness(distance: str, x: Row, y: Row) -> Fraction:
    """A number that grows as the distance falls."""
    both, square = product(x, y), product(y, y)
    if distance == "dot":
        return both
    if distance == "cosine":
        return both * abs(both) / square if square else Fraction(0)
    return 2 * both - square


def ranked(distance: str, x: Row, items: dict[int, Row], k: int) -> tuple[list[int], int, list[int]]:
    """The k nearest items, how many are nearer than the last tie, and all items of this tie."""
    keys = {item: nearness(distance, x, y) for item, y in items.items()}
    order = sorted(keys, key=lambda item: (-keys[item], item))
    last = keys[order[min(k, len(order)) - 1]]
    return order[:k], sum(key > last for key in keys.values()), [item for item in order if keys[item] == last]
