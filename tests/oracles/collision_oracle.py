"""Collisions in fractions, from their definition: sort, compare neighbors; imports nothing of tieproof."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from exact_oracle import Vector
from fnmr_oracle import KEYS

DIGITS = 2400
"""Binary digits of roots. A gap that is this close to epsilon counts as equal to epsilon, and so is not below it."""


def root(square: Fraction) -> Fraction:
    return Fraction(isqrt((square.numerator << 2 * DIGITS) // square.denominator), 1 << DIGITS)


def distance(name: str, key: Fraction) -> Fraction:
    """The distance of a key, to many digits."""
    if name == "euclidean":
        return root(key)
    if name == "cosine":
        return 1 + (root(key) if key > 0 else -root(-key))
    return key


class Found(NamedTuple):
    k: int
    n: int
    l: int
    m: int


def ties(name: str, query: Vector, items: Sequence[tuple[Vector, bool]], epsilon: Fraction) -> Iterator[Found]:
    """The ties of at least two items; each item is given with its relevance."""
    ranking = sorted((KEYS[name](query, item), relevant) for item, relevant in items)
    places = [distance(name, key) for key, _ in ranking]
    start = 0
    for end in range(1, len(ranking) + 1):
        if end < len(ranking):
            same = ranking[end][0] == ranking[end - 1][0]
            if same or (epsilon and epsilon - (places[end] - places[end - 1]) > Fraction(1, 1 << (DIGITS - 8))):
                continue
        relevant = [each for _, each in ranking]
        if end - start > 1:
            yield Found(start, sum(relevant[:start]), end - start, sum(relevant[start:end]))
        start = end


def ap_width(tie: Found, count: int) -> Fraction:
    """The contribution of a tie to upper - lower AP of a query with `count` relevant items."""
    k, n, l, m = tie
    steps = (Fraction(n + j, k + j) - Fraction(n + j, k + l - m + j) for j in range(1, m + 1))
    return sum(steps, Fraction(0)) / max(1, count)
