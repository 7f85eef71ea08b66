"""The nearest items of a query, tie by tie: which items are relevant, and which are tied."""

from typing import Any, NamedTuple


class NearTie(NamedTuple):
    """Items at exactly the same distance from the query; an item alone at its distance is a tie of one.

    rank : the first rank of the tie, counted from 1
    value : the distance or the score that its items share
    size, relevant : how many items the tie holds, and how many of them are relevant
    items : the ids of the listed items, which may be fewer than `size`, each with whether it is relevant
    """

    rank: int
    value: float
    size: int
    relevant: int
    items: tuple[tuple[Any, bool], ...]

    @property
    def ambiguous(self) -> bool:
        """Whether it holds both relevant and other items, so that its order changes scores."""
        return 0 < self.relevant < self.size


class Nearest(NamedTuple):
    """The nearest items of one query; `calls/nearest.py` finds them again, because no result keeps them.

    query : the id of the query
    relevant : how many items are relevant to the query
    ties : the ties, nearest first
    """

    query: Any
    relevant: int
    ties: tuple[NearTie, ...]
