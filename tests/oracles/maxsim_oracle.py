"""Scores of items of several vectors in fractions, from the definition; imports nothing of tieproof."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from exact_oracle import Vector, dot, fractions
from hard_sets import Array

Item = Sequence[Vector]
"""The vectors of an item."""


def items_of(vectors: Array, offsets: Sequence[int]) -> list[Item]:
    """The items whose vectors are vectors[offsets[i]:offsets[i + 1]]."""
    rows = fractions(vectors)
    return [rows[start:stop] for start, stop in pairwise(offsets)]


def maxsim(query: Item, item: Item) -> Fraction:
    """The sum over the query's vectors of the largest product with a vector of the item."""
    return sum((max(dot(x, y) for y in item) for x in query), Fraction(0))


def meanmaxsim(query: Item, item: Item) -> Fraction:
    """The mean over the query's vectors of the largest product with a vector of the item."""
    return maxsim(query, item) / len(query)


SCORES = {"maxsim": maxsim, "meanmaxsim": meanmaxsim}
