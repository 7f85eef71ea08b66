"""`Collisions`: counts of the ties in whole rankings; the rankings themselves are not kept."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.analyses.collisions import pictures
from tieproof.analyses.collisions.pictures import Cells
from tieproof.distances import DISTANCES
from tieproof.show.pages.query_table import MeasureChoice, QueryTable, query_table
from tieproof.show.parts import count, distance_meant, fixed, place
from tieproof.show.shown import AsFrame, AsPage, Shown, Table
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

    @property
    def rule(self) -> str:
        """What neighbors that collide have in common, as the end of a sentence."""
        if self.epsilon:
            return f"their distances differ by less than {self.epsilon:g}"
        return "they are at exactly the same distance"


@dataclass(frozen=True)
class RankRange:
    """The ties that begin at ranks first … last, and how much they widen the interval of AP (0 without labels)."""

    first: int
    last: int
    ties: int
    ambiguous_ties: int
    ap_width: float

    @property
    def ranks(self) -> str:
        """The ranks in words."""
        return f"{self.first:,}" if self.first == self.last else f"{self.first:,} to {self.last:,}"


class WideTie(NamedTuple):
    """An ambiguous tie of one query, in the letters of `Ties`, and how much it widens the interval of AP."""

    query: int
    k: int
    n: int
    l: int
    m: int
    ap_width: float


@dataclass(frozen=True, eq=False, repr=False)
class Collisions(Shown, AsFrame, AsPage):
    """Counts of the ties in all rankings.

    query_ids : (Q,) the queries whose rankings were counted; `skipped` has the queries with nothing relevant
    per_query : arrays of shape (Q,): pairs (neighbors that collide), ties, ambiguous_ties, relevant and others
        (items in a tie), largest_tie, and ap_width (upper - lower AP)
    by_rank : arrays of numbers of queries, with one entry for each rank from 1 on: pairs (the items at this rank and
        the next one collide), relevant and others (the item at this rank is in a tie, whose relevant items rank last)
    by_range : the ties by the rank at which they begin: 1, 2 to 10, 11 to 100, …
    widest : the ambiguous ties that make the widest intervals, the widest first; ties that make equally wide ones (as
        real numbers) are sorted by k, n, l and m, and then by query
    cells : the colliding items by query and rank, for a picture
    ambiguous_by_rank : one entry for each rank from 1 on: the number of queries whose item at this rank is in an
        ambiguous tie

    >>> import tieproof as tp
    >>> print(tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean"))
    ranks   ties  ambiguous  width of AP
    ------------------------------------
    1          1          1       0.1250
    2 to 3     1          0       0.0000
    <BLANKLINE>
    all        2          1       0.1250
    <BLANKLINE>
    1 of 4 queries holds an ambiguous tie, which mixes relevant and other items.
    3 more: --explain, or to_text(explain=True)
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
        """The number of pairs of neighbors in the rankings that collide."""
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
    def _touched(self) -> int:
        """The number of queries that hold an ambiguous tie."""
        return int((self.per_query["ambiguous_ties"] > 0).sum())

    @property
    def ap_width(self) -> float:
        """The upper mean AP minus the lower one, which is the mean of the queries' `ap_width`."""
        return math.fsum(self.per_query["ap_width"].tolist()) / len(self.query_ids)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries and ranks, as numbers, strings, lists and dictionaries."""
        values = self.per_query
        return {
            "setting": asdict(self.setting),
            "queries": len(self.query_ids),
            "skipped": len(self.skipped),
            "queries_with_ties": int((values["ties"] > 0).sum()),
            "queries_with_ambiguous_ties": self._touched,
            **{name: int(values[name].sum()) for name in COUNTS[:-1]},
            "largest_tie": int(values["largest_tie"].max()),
            "ap_width": self.ap_width if self.setting.labelled else None,
            "by_range": [asdict(each) for each in self.by_range],
            "widest": [tie._asdict() for tie in self.widest],
        }

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """A table with a row for every query, as arrays of equal length."""
        return {"query": self.query_ids, **self.per_query}

    plot = pictures.plot
    plot_ranks = pictures.plot_ranks

    def _page(self) -> tuple[str, dict[str, Any]]:
        size = len(self.query_ids)
        return "collisions.html", {
            "title": f"Collisions of {count(size, 'query')}",
            "found": self,
            "said": self._table().notes,
            "touched": self._touched,
            "largest": int(self.per_query["largest_tie"].max()),
            "ranges": [(each.ranks, each) for each in self.by_range],
            "widest_range": max((each.ap_width for each in self.by_range), default=0.0) or 1.0,
            "stack": pictures.stack(self.by_rank["relevant"] / size, self.by_rank["others"] / size),
            "queries": self._query_table(),
            "setting": self._settings(),
        }

    def _query_table(self) -> QueryTable:
        values, labelled = self.per_query, self.setting.labelled
        shown = ("ties", "ambiguous_ties", "largest_tie", "ap_width") if labelled else ("ties", "largest_tie")
        columns = {name.replace("ap_width", "width of AP").replace("_", " "): values[name] for name in shown}
        order = np.lexsort((-values["ties"], -values["ap_width"]))
        heads = {"pairs": "pairs of neighbors in the ranking that collide"}
        choices, flag = [MeasureChoice("pairs", (values["pairs"],))], "ambiguous ties" if labelled else None
        return query_table(self.query_ids, order, None, choices, columns, heads, flag)

    def _settings(self) -> list[tuple[str, str]]:
        known, skipped = self.setting, len(self.skipped)
        kind = DISTANCES.get(known.distance)
        return [
            ("Queries", f"{known.queries:,}"),
            ("Gallery", "the other queries (leave-one-out)" if known.leave_one_out else f"{known.gallery:,}"),
            ("Ranked by", distance_meant(known.distance)),
            ("Bits" if kind and kind.bits else "Dimensions", f"{known.dimensions:,}"),
            ("Neighbors collide if", known.rule),
            ("Left out", f"{count(skipped, 'query')} with no relevant item" if skipped else "nothing"),
        ]

    def _table(self) -> Table:
        header = ("ranks", "ties", "ambiguous", "width of AP")[: 4 if self.setting.labelled else 2]
        counts = [(each.ranks, each.ties, each.ambiguous_ties, each.ap_width) for each in self.by_range]
        counts.append(("all", self.ties, self.ambiguous_ties, self.ap_width))
        rows = [
            (ranks, f"{ties:,}", f"{ambiguous:,}", fixed(ap_width))[: len(header)]
            for ranks, ties, ambiguous, ap_width in counts
        ]
        return Table(header, [rows[:-1], rows[-1:]], [*self._sentences()], header[1:])

    def __repr__(self) -> str:
        cost = f", {self.ambiguous_ties:,} ambiguous, AP {fixed(self.ap_width)} wide" if self.setting.labelled else ""
        return f"<Collisions of {count(len(self.query_ids), 'query')}: {count(self.ties, 'tie')}{cost}>"

    def _sentences(self) -> Iterator[str]:
        if skipped := len(self.skipped):
            yield f"Left out: {count(skipped, 'query')} with no relevant item."
        yield from self._about_ties()
        setting = self.setting
        among = place(setting.leave_one_out, setting.gallery, setting.dimensions, setting.distance)
        of_all = f"{len(self.query_ids):,} of " if skipped else ""
        yield f"Examined {of_all}{count(setting.queries, 'query')}{among}."

    def _about_ties(self) -> Iterator[str]:
        setting = self.setting
        if not self.ties:
            yield f"Neighbors in a ranking collide if {setting.rule}. There are no such neighbors."
            return
        if setting.labelled:
            touched = self._touched
            verb = "holds" if touched == 1 else "hold"
            yield (
                f"{touched:,} of {count(len(self.query_ids), 'query')} {verb} an ambiguous tie, which mixes relevant "
                "and other items."
            )
        with_ties = count(int((self.per_query["ties"] > 0).sum()), "query")
        largest = count(int(self.per_query["largest_tie"].max()), "item")
        yield (
            f"Neighbors in a ranking collide if {setting.rule}. The rankings of {with_ties} have "
            f"{count(self.pairs, 'such pair')}, and the largest tie holds {largest}."
        )
        if self.widest:
            tie = self.widest[0]
            yield (
                f"Ties leave AP open by {fixed(self.ap_width)}. The tie of query {tie.query} at ranks {tie.k + 1:,} "
                f"to {tie.k + tie.l:,} ({tie.m:,} of {tie.l:,} relevant) contributes most to that."
            )
