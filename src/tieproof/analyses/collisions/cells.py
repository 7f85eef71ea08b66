"""The cells of a picture of collisions: queries x ranks, with the number of colliding items in each cell."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieproof.ties import IntArray

if TYPE_CHECKING:
    from tieproof.engine import FoundTies

STEPS = 120  # the most steps of a picture by rank alone; if there are more ranks, all but the first ones share steps
MOST_ROWS, MOST_COLUMNS = 400, 800  # of a picture; with more ranks, all but the first ranks share columns


class Cells(NamedTuple):
    """A picture of queries x ranks: the colliding items in each cell; the relevant items of a tie are ranked last."""

    relevant: IntArray  # (r, c) at how many queries and ranks of the cell there is a colliding relevant item
    others: IntArray  # (r, c) at how many there is another colliding item
    queries: IntArray  # (r + 1,) the position of the first query of each row of cells, and the end of the last row
    ranks: IntArray  # (c + 1,) the first rank of each column, counted from 0, and the end of the last column
    ambiguous_relevant: IntArray  # (r, c) how many of the items in `relevant` are in an ambiguous tie
    ambiguous_others: IntArray  # (r, c) how many of those in `others` are


def rank_edges(ranks: int, most: int) -> IntArray:
    """The first rank of each column of a picture, counted from 0, and the end of the last column.

    Up to `most` ranks get a column each. If there are more, only the first ranks get a column each, and later columns
    cover more and more ranks, because ties at the top change a score most.

    >>> rank_edges(4, 12).tolist(), rank_edges(20, 12).tolist()
    ([0, 1, 2, 3, 4], [0, 1, 3, 7, 15, 20])
    """
    if ranks <= most:
        return np.arange(ranks + 1)
    edges, alone = [0], max(1, most // 12)
    while edges[-1] < ranks:
        edges.append(min(ranks, edges[-1] + 1 + edges[-1] // alone))
    return np.array(edges)


LINEAR = 25  # the most ranks that are drawn equally wide; if there are more, the axis of ranks is logarithmic


def place_of(rank: float, ranks: int) -> float:
    """Where a rank is across a picture, from 0, half a rank before the first, to 1, half a rank behind the last."""
    low, high = 0.5, ranks + 0.5
    return (rank - low) / (high - low) if ranks <= LINEAR else math.log(rank / low) / math.log(high / low)


class Painter:
    """The cells of a picture, into which ties are painted; of all queries, the `candidates` get rows."""

    def __init__(self, candidates: IntArray, queries: int, ranks: int) -> None:
        rows = min(MOST_ROWS, len(candidates))
        edges = rank_edges(ranks, MOST_COLUMNS)
        columns = len(edges) - 1
        self.row_of = np.zeros(queries, dtype=np.int64)
        self.row_of[candidates] = np.arange(len(candidates)) * rows // max(1, len(candidates))
        self.column_of = np.repeat(np.arange(columns), np.diff(edges))
        relevant, others, *ambiguous = np.zeros((4, rows, columns), dtype=np.int64)
        starts = np.searchsorted(self.row_of[candidates], np.arange(rows + 1))
        self.cells = Cells(relevant, others, starts, edges, *ambiguous)

    def paint(self, ties: "FoundTies") -> None:
        """Add ties to the cells of the picture."""
        from tieproof.engine import paint

        row, cells = self.row_of[ties.queries[ties.place]], self.cells
        middle, end = ties.k + ties.l - ties.m, ties.k + ties.l
        ambiguous = (ties.m > 0) & (ties.m < ties.l)
        for which, others, relevant in (
            (slice(None), cells.others, cells.relevant),
            (ambiguous, cells.ambiguous_others, cells.ambiguous_relevant),
        ):
            paint(row[which], ties.k[which], middle[which], self.column_of, cells.ranks, others)
            paint(row[which], middle[which], end[which], self.column_of, cells.ranks, relevant)
