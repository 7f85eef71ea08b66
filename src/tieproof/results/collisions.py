"""`Collisions`: what was found of ties in whole rankings, counted; no ranking is kept."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError, MissingExtraError
from tieproof.measures.average_precision import tie_widths
from tieproof.results.widest_ties import WidestTies, WideTie

if TYPE_CHECKING:
    from tieproof.engine.collisions.ties import FoundTies

IntArray = npt.NDArray[np.int64]

MOST_ROWS, MOST_COLUMNS = 400, 800
"""Cells of a picture: more could not be told apart on a page."""

COUNTS = ("pairs", "ties", "ambiguous_ties", "relevant", "others", "largest_tie")


@dataclass(frozen=True)
class CollisionSetting:
    """What was looked at."""

    distance: str
    epsilon: float
    leave_one_out: bool
    queries: int
    gallery: int
    dimensions: int
    labelled: bool

    @property
    def ranks(self) -> int:
        """The length of the longest ranking that there may be."""
        return max(1, self.gallery - self.leave_one_out)


@dataclass(frozen=True)
class RankRange:
    """The ties that begin at ranks first … last, and what of the mean AP's interval they make (without labels: 0)."""

    first: int
    last: int
    ties: int
    ambiguous_ties: int
    ap_width: float


class Cells(NamedTuple):
    """A picture of queries x ranks: colliding items in each cell, where the relevant ones of a tie stand last.

    relevant, others : (r, c) how many queries and ranks of the cell hold a colliding relevant, or other, item
    queries : (r + 1,) the first query of each row among those looked at, and the end
    ranks : (c + 1,) the first rank of each column, from 0 on, and the end
    """

    relevant: IntArray
    others: IntArray
    queries: IntArray
    ranks: IntArray


@dataclass(frozen=True)
class Collisions:
    """The ties in all rankings, counted.

    query_ids : (Q,) the queries looked at; `skipped` those with nothing relevant
    per_query : arrays (Q,): pairs (neighbours that collide), ties, ambiguous_ties, relevant and others (items in a
        tie), largest_tie, and ap_width (upper - lower AP)
    by_rank : arrays, one entry for each rank from 1 on, of numbers of queries: pairs (the items at this rank and the
        next one collide), relevant and others (the item at this rank is in a tie, where relevant ones stand last)
    by_range : the ties by the rank at which they begin: 1, 2 to 10, 11 to 100, …
    widest : the ambiguous ties that make the widest intervals, the widest first; equally wide ones (as real numbers)
        by k, n, l and m, and last by query
    cells : the same as a picture
    """

    setting: CollisionSetting
    query_ids: IntArray
    skipped: IntArray
    per_query: dict[str, npt.NDArray[Any]]
    by_rank: dict[str, IntArray]
    by_range: tuple[RankRange, ...]
    widest: tuple[WideTie, ...]
    cells: Cells

    @property
    def pairs(self) -> int:
        """Neighbours in the rankings that collide."""
        return int(self.per_query["pairs"].sum())

    @property
    def ties(self) -> int:
        """Ties of at least two items."""
        return int(self.per_query["ties"].sum())

    @property
    def ambiguous_ties(self) -> int:
        """Ties that hold both relevant and other items."""
        return int(self.per_query["ambiguous_ties"].sum())

    @property
    def ap_width(self) -> float:
        """The upper less the lower mean AP: the mean of the queries' widths."""
        return math.fsum(self.per_query["ap_width"].tolist()) / len(self.query_ids)

    def to_dict(self) -> dict[str, Any]:
        """Everything but single queries and ranks, as plain numbers, strings, lists and dictionaries."""
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
        """The dictionary as JSON."""
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
        """Draw which items collide, by query and rank: `views.pictures.collisions` (extra `plot`)."""
        from tieproof.views.pictures.collisions import plot_collisions

        return plot_collisions(self, ax)

    def plot_ranks(self, ax: Any = None) -> Any:
        """Draw how often items collide at each rank: `views.pictures.collisions` (extra `plot`)."""
        from tieproof.views.pictures.collisions import plot_ranks

        return plot_ranks(self, ax)

    def __str__(self) -> str:
        """The report that the command line shows."""
        from tieproof.views.text.collisions import render

        return render(self)


class Painter:
    """Cells that ties are painted into."""

    def __init__(self, candidates: IntArray, setting: CollisionSetting) -> None:
        rows, columns = min(MOST_ROWS, len(candidates)), min(MOST_COLUMNS, setting.ranks)
        self.row_of = np.zeros(setting.queries, dtype=np.int64)
        self.row_of[candidates] = np.arange(len(candidates)) * rows // max(1, len(candidates))
        self.column_of = np.arange(setting.ranks) * columns // setting.ranks
        self.cells = Cells(
            np.zeros((rows, columns), dtype=np.int64),
            np.zeros((rows, columns), dtype=np.int64),
            np.searchsorted(self.row_of[candidates], np.arange(rows + 1)),
            np.searchsorted(self.column_of, np.arange(columns + 1)),
        )

    def paint(self, found: "FoundTies") -> None:
        """Add ties to the cells of the picture."""
        from tieproof.engine.collisions.kernels import paint

        row = self.row_of[found.queries[found.place]]
        middle, end = found.k + found.l - found.m, found.k + found.l
        paint(row, found.k, middle, self.column_of, self.cells.ranks, self.cells.others)
        paint(row, middle, end, self.column_of, self.cells.ranks, self.cells.relevant)


def count_collisions(parts: Iterable["FoundTies"], candidates: IntArray, setting: CollisionSetting) -> Collisions:
    """Count what comes part by part; `candidates` are the queries that may have a relevant item, or all."""
    count, width = setting.queries, setting.ranks
    firsts = first_ranks(width)
    totals = {name: np.zeros(count, dtype=np.int64) for name in COUNTS}
    widths = np.zeros((count, len(firsts)))
    ranges = np.zeros((2, len(firsts)), dtype=np.int64)
    steps = {name: np.zeros(width + 1, dtype=np.int64) for name in ("pairs", "relevant", "others")}
    kept = np.zeros(count, dtype=np.bool_)
    painter = Painter(candidates, setting)
    widest = WidestTies()
    for part in parts:
        kept[part.queries] = (part.n_relevant > 0) | (not setting.labelled)
        found = of_kept(part, kept)
        query, k, l, m = found.queries[found.place], found.k, found.l, found.m
        ambiguous = (m > 0) & (m < l)
        for name, numbers in zip(COUNTS[:-1], (l - 1, l > 0, ambiguous, m, l - m), strict=True):
            np.add.at(totals[name], query, numbers)
        np.maximum.at(totals["largest_tie"], query, l)
        for name, start, stop in (("pairs", k, k + l - 1), ("others", k, k + l - m), ("relevant", k + l - m, k + l)):
            np.add.at(steps[name], start, 1)
            np.add.at(steps[name], stop, -1)
        place = np.searchsorted(firsts, k + 1, side="right") - 1
        ranges += [np.bincount(place[which], minlength=len(firsts)) for which in (l > 0, ambiguous)]
        ap = np.zeros(len(k))
        ap[ambiguous] = tie_widths(*(column[ambiguous] for column in (k, found.n, l, m)))
        ap /= np.maximum(found.n_relevant[found.place], 1)
        np.add.at(widths, (query, place), ap)
        widest.add(query, found, ap)
        painter.paint(found)
    query_ids = np.flatnonzero(kept)
    if not len(query_ids):
        raise InputError(
            "No query has anything relevant. Check that labels and embeddings belong together, or pass no labels."
        )
    ends = np.append(firsts[1:] - 1, width)
    by_range = tuple(
        RankRange(first, last, ties, ambiguous_ties, math.fsum(of_queries.tolist()) / max(1, len(query_ids)))
        for first, last, ties, ambiguous_ties, of_queries in zip(
            firsts.tolist(), ends.tolist(), *ranges.tolist(), widths[query_ids].T, strict=True
        )
    )
    per_query: dict[str, npt.NDArray[Any]] = {name: numbers[query_ids] for name, numbers in totals.items()}
    per_query["ap_width"] = np.array([math.fsum(row) for row in widths[query_ids].tolist()])
    by_rank = {name: np.cumsum(numbers)[:-1] for name, numbers in steps.items()}
    return Collisions(
        setting, query_ids, np.flatnonzero(~kept), per_query, by_rank, by_range, widest.ties(), painter.cells
    )


def first_ranks(width: int) -> IntArray:
    """1, 2, 11, 101, … up to `width`.

    >>> first_ranks(11).tolist(), first_ranks(1).tolist()
    ([1, 2, 11], [1])
    """
    powers = 10 ** np.arange(19)
    return np.append(1, 1 + powers[powers < width])


def of_kept(part: "FoundTies", kept: npt.NDArray[np.bool_]) -> "FoundTies":
    """The ties of those queries."""
    chosen = kept[part.queries[part.place]]
    columns = (part.place, part.k, part.n, part.l, part.m)
    return part if chosen.all() else type(part)(part.queries, part.n_relevant, *(each[chosen] for each in columns))
