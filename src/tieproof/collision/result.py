"""`Collisions`: counts of the ties in whole rankings; the rankings themselves are not kept."""

import json
import math
import os
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.errors import MissingExtraError
from tieproof.ties import IntArray

COUNTS = ("pairs", "ties", "ambiguous_ties", "relevant", "others", "largest_tie")


@dataclass(frozen=True)
class CollisionSetting:
    """The data in which ties were counted."""

    distance: str
    epsilon: float
    leave_one_out: bool
    queries: int
    gallery: int
    dimensions: int
    labelled: bool

    @property
    def ranks(self) -> int:
        """The length of the longest possible ranking."""
        return max(1, self.gallery - self.leave_one_out)


@dataclass(frozen=True)
class RankRange:
    """The ties that begin at ranks first … last, and how much they widen the interval of AP (0 without labels)."""

    first: int
    last: int
    ties: int
    ambiguous_ties: int
    ap_width: float


class WideTie(NamedTuple):
    """An ambiguous tie of one query, in the letters of `Ties`, and how much it widens the interval of AP."""

    query: int
    k: int
    n: int
    l: int
    m: int
    ap_width: float


class Cells(NamedTuple):
    """A picture of queries x ranks: the colliding items in each cell, with the relevant items of a tie ranked last.

    relevant, others : (r, c) at how many queries and ranks of the cell there is a colliding relevant, or other, item
    queries : (r + 1,) the position of the first query of each row of cells, and the end of the last row
    ranks : (c + 1,) the first rank of each column, counted from 0, and the end of the last column
    ambiguous_relevant, ambiguous_others : (r, c) how many of the items in `relevant` and `others` are in an ambiguous
        tie
    """

    relevant: IntArray
    others: IntArray
    queries: IntArray
    ranks: IntArray
    ambiguous_relevant: IntArray
    ambiguous_others: IntArray


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


@dataclass(frozen=True, repr=False)
class Collisions:
    """Counts of the ties in all rankings.

    query_ids : (Q,) the queries whose rankings were counted; `skipped` has the queries with nothing relevant
    per_query : arrays of shape (Q,): pairs (neighbours that collide), ties, ambiguous_ties, relevant and others
        (items in a tie), largest_tie, and ap_width (upper - lower AP)
    by_rank : arrays of numbers of queries, with one entry for each rank from 1 on: pairs (the items at this rank and
        the next one collide), relevant and others (the item at this rank is in a tie, whose relevant items rank last)
    by_range : the ties by the rank at which they begin: 1, 2 to 10, 11 to 100, …
    widest : the ambiguous ties that make the widest intervals, the widest first; ties that make equally wide ones (as
        real numbers) are sorted by k, n, l and m, and then by query
    cells : the colliding items by query and rank, for a picture
    ambiguous_by_rank : one entry for each rank from 1 on: the number of queries whose item at this rank is in an
        ambiguous tie
    """

    setting: CollisionSetting
    query_ids: IntArray
    skipped: IntArray
    per_query: dict[str, npt.NDArray[Any]]
    by_rank: dict[str, IntArray]
    by_range: tuple[RankRange, ...]
    widest: tuple[WideTie, ...]
    cells: Cells
    ambiguous_by_rank: IntArray

    @property
    def pairs(self) -> int:
        """The number of pairs of neighbours in the rankings that collide."""
        return int(self.per_query["pairs"].sum())

    @property
    def ties(self) -> int:
        """The number of ties of at least two items."""
        return int(self.per_query["ties"].sum())

    @property
    def ambiguous_ties(self) -> int:
        """The number of ties that hold both relevant and other items."""
        return int(self.per_query["ambiguous_ties"].sum())

    @property
    def ap_width(self) -> float:
        """The upper mean AP minus the lower one, which is the mean of the queries' `ap_width`."""
        return math.fsum(self.per_query["ap_width"].tolist()) / len(self.query_ids)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries and ranks, as numbers, strings, lists and dictionaries."""
        found = self.per_query
        return {
            "setting": asdict(self.setting),
            "queries": len(self.query_ids),
            "skipped": len(self.skipped),
            "queries_with_ties": int((found["ties"] > 0).sum()),
            "queries_with_ambiguous_ties": int((found["ambiguous_ties"] > 0).sum()),
            **{name: int(found[name].sum()) for name in COUNTS[:-1]},
            "largest_tie": int(found["largest_tie"].max()),
            "ap_width": self.ap_width if self.setting.labelled else None,
            "by_range": [asdict(each) for each in self.by_range],
            "widest": [tie._asdict() for tie in self.widest],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """A table with a row for every query, as arrays of equal length."""
        return {"query": self.query_ids, **self.per_query}

    def to_frame(self) -> Any:
        """A pandas data frame with a row for every query (extra `pandas`)."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("Collisions.to_frame", "pandas") from None
        return pd.DataFrame(self.columns())

    def plot(self, ax: Any = None) -> Any:
        """Draw which items collide, by query and rank, with `views.pictures.collisions` (extra `plot`)."""
        from tieproof.collision.pictures import plot_collisions

        return plot_collisions(self, ax)

    def plot_ranks(self, ax: Any = None) -> Any:
        """Draw how often items collide at each rank, with `views.pictures.collisions` (extra `plot`)."""
        from tieproof.collision.pictures import plot_ranks

        return plot_ranks(self, ax)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report (extra `report`) as one .html file that needs no network to be viewed."""
        from tieproof.collision.tables import report

        return report(self, path)

    def to_markdown(self) -> str:
        """A Markdown table to paste into an issue, with the findings below it."""
        from tieproof.collision.tables import collisions_as_markdown

        return collisions_as_markdown(self)

    def to_latex(self) -> str:
        """A LaTeX table to paste into a paper; it uses the package booktabs."""
        from tieproof.collision.tables import collisions_as_latex

        return collisions_as_latex(self)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from tieproof.collision.tables import collisions_as_html

        return collisions_as_html(self)

    def __repr__(self) -> str:
        """A short text: how many ties there are, and how much they widen the interval of AP."""
        from tieproof.collision.tables import collisions_in_short

        return collisions_in_short(self)

    def __str__(self) -> str:
        """The report that the command line shows."""
        from tieproof.collision.tables import render

        return render(self)
