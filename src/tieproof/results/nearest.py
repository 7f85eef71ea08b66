"""The nearest items of a query, tie by tie: which are relevant, and which may stand in any order."""

from typing import Any, NamedTuple


class NearTie(NamedTuple):
    """Items at exactly the same distance from the query; an item alone at its distance is a tie of one.

    rank : that of the first of its places, from 1 on
    value : the distance or the score that its items share
    size, relevant : how many items it holds, and how many of them are relevant
    items : the ids of those that are listed, which may be fewer, and whether each is relevant
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
    """The nearest items of one query; `calls/nearest.py` finds them again, since no result keeps them.

    query : its id
    relevant : how many items are relevant to it
    ties : from the nearest on
    """

    query: Any
    relevant: int
    ties: tuple[NearTie, ...]
