"""The ambiguous ties that cause the widest intervals of AP, sorted by their exact widths.

Widths in float64 are rounded, so that equal widths may seem to differ, and different widths may seem equal. If two
widths are that near, they are compared as fractions.
"""

import heapq
from functools import cmp_to_key, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieproof.analyses.collisions.result import WideTie
from tieproof.ties import FloatArray, IntArray

if TYPE_CHECKING:
    from tieproof.engine import FoundTies

WIDEST = 20  # the number of ambiguous ties that are kept
# Widths whose relative difference is larger are compared as floats. They are differences of harmonic sums in pairs of
# floats (106 bits), which at rank k cancel to about 1/k² of their terms, and are multiplied by up to k: of 10^8
# items, 20 bits remain.
_NEAR = 2.0**-20


class TieKind(NamedTuple):
    """Everything that the width of a tie depends on: the letters of `Ties`, and the relevant items of the query."""

    k: int
    n: int
    l: int
    m: int
    n_relevant: int


class WidestTies:
    """Collects ties part by part, and keeps the widest: of equally wide ones the first by k, n, l, m and query."""

    def __init__(self) -> None:
        self.kept: list[tuple[TieKind, int, float]] = []  # each with its query and its rounded width

    def add(self, query: IntArray, ties: "FoundTies", ap: FloatArray) -> None:
        """Add ties of these queries, whose rounded widths are `ap`, and drop all but the widest."""
        # Ties whose rounded width is near the smallest width that is kept may belong to the widest, too.
        limit = np.partition(ap, -WIDEST)[-WIDEST] * (1 - _NEAR) if len(ap) > WIDEST else 0.0
        chosen = np.flatnonzero((ap > 0) & (ap >= limit))
        letters = (ties.k, ties.n, ties.l, ties.m, ties.n_relevant[ties.place])
        kinds = zip(*(column[chosen].tolist() for column in letters), strict=True)
        rest = (query[chosen].tolist(), ap[chosen].tolist())
        self.kept += [(TieKind(*kind), at, width) for kind, at, width in zip(kinds, *rest, strict=True)]
        widths = {kind: width for kind, _, width in self.kept}

        def compared(one: TieKind, other: TieKind) -> int:
            """Return 1 if one is narrower, -1 if it is wider, 0 if it is as wide."""
            if not _near(widths[one], widths[other]):
                return 1 if widths[one] < widths[other] else -1
            (a, b), (c, d) = _width(one), _width(other)
            return (a * d < c * b) - (a * d > c * b)

        order = cmp_to_key(compared)
        of_kind = {kind: order(kind) for kind in widths}
        self.kept = heapq.nsmallest(WIDEST, self.kept, key=lambda entry: (of_kind[entry[0]], *entry))

    def ties(self) -> tuple[WideTie, ...]:
        """Return the widest ties, widest first; widths that are near each other are rounded from their fractions."""
        widths = {kind: width for kind, _, width in self.kept}
        for one, other in pairwise(list(widths)):
            if _near(widths[one], widths[other]):
                for kind in (one, other):
                    numerator, denominator = _width(kind)
                    widths[kind] = numerator / denominator
        return tuple(WideTie(query, *kind[:4], widths[kind]) for kind, query, _ in self.kept)


@lru_cache(maxsize=3 * WIDEST)  # those of large ties take much memory
def _width(kind: TieKind) -> tuple[int, int]:
    """The width of AP's interval that a tie of a kind causes: a fraction, not reduced, which would take most time."""
    k, n, l, m, n_relevant = kind
    a, b = _reciprocals(k, k + m)
    c, d = _reciprocals(k + l - m, k + l)
    return (n - k) * a * d - (n - k - l + m) * c * b, b * d * n_relevant


def _near(one: float, other: float) -> bool:
    """Whether rounding might have changed the order of these widths."""
    return abs(one - other) <= _NEAR * max(one, other)


def _reciprocals(start: int, stop: int) -> tuple[int, int]:
    """Return 1 / (start + 1) + … + 1 / stop, by halving the range."""
    if stop - start == 1:
        return 1, stop
    middle = (start + stop) // 2
    (a, b), (c, d) = _reciprocals(start, middle), _reciprocals(middle, stop)
    return a * d + c * b, b * d
