"""Counts the ties that collide, part by part as the engine finds them; no ranking is kept."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tieproof.calls.widest_ties import WidestTies
from tieproof.errors import InputError
from tieproof.measures.relevant_ranks import tie_widths
from tieproof.results.collisions import COUNTS, Cells, Collisions, CollisionSetting, RankRange, rank_edges
from tieproof.ties import Array, BoolArray, IntArray

if TYPE_CHECKING:
    from tieproof.engine import FoundTies


MOST_ROWS, MOST_COLUMNS = 400, 800
"""The largest number of rows and columns of a picture; with more ranks, all but the first ranks share columns."""


class Painter:
    """The cells of a picture, into which ties are painted."""

    def __init__(self, candidates: IntArray, setting: CollisionSetting) -> None:
        rows = min(MOST_ROWS, len(candidates))
        ranks = rank_edges(setting.ranks, MOST_COLUMNS)
        columns = len(ranks) - 1
        self.row_of = np.zeros(setting.queries, dtype=np.int64)
        self.row_of[candidates] = np.arange(len(candidates)) * rows // max(1, len(candidates))
        self.column_of = np.repeat(np.arange(columns), np.diff(ranks))
        relevant, others, ambiguous_relevant, ambiguous_others = np.zeros((4, rows, columns), dtype=np.int64)
        self.cells = Cells(
            relevant,
            others,
            np.searchsorted(self.row_of[candidates], np.arange(rows + 1)),
            ranks,
            ambiguous_relevant,
            ambiguous_others,
        )

    def paint(self, found: "FoundTies") -> None:
        """Add ties to the cells of the picture."""
        from tieproof.engine import paint

        row, cells = self.row_of[found.queries[found.place]], self.cells
        middle, end = found.k + found.l - found.m, found.k + found.l
        ambiguous = (found.m > 0) & (found.m < found.l)
        for which, others, relevant in (
            (slice(None), cells.others, cells.relevant),
            (ambiguous, cells.ambiguous_others, cells.ambiguous_relevant),
        ):
            paint(row[which], found.k[which], middle[which], self.column_of, cells.ranks, others)
            paint(row[which], middle[which], end[which], self.column_of, cells.ranks, relevant)


def count_collisions(parts: Iterable["FoundTies"], candidates: IntArray, setting: CollisionSetting) -> Collisions:
    """Count the collisions of all parts; `candidates` are all queries, or those that may have a relevant item."""
    count, width = setting.queries, setting.ranks
    firsts = first_ranks(width)
    totals = {name: np.zeros(count, dtype=np.int64) for name in COUNTS}
    widths = np.zeros((count, len(firsts)))
    ranges = np.zeros((2, len(firsts)), dtype=np.int64)
    steps = {name: np.zeros(width + 1, dtype=np.int64) for name in ("pairs", "relevant", "others", "ambiguous")}
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
        np.add.at(steps["ambiguous"], k[ambiguous], 1)
        np.add.at(steps["ambiguous"], (k + l)[ambiguous], -1)
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
            "No query has a relevant item. Check that labels and embeddings belong together, or pass no labels.",
            "labels" if setting.leave_one_out else ("labels", "gallery_labels"),
        )
    ends = np.append(firsts[1:] - 1, width)
    by_range = tuple(
        RankRange(first, last, ties, ambiguous_ties, math.fsum(of_queries.tolist()) / max(1, len(query_ids)))
        for first, last, ties, ambiguous_ties, of_queries in zip(
            firsts.tolist(), ends.tolist(), *ranges.tolist(), widths[query_ids].T, strict=True
        )
    )
    per_query: dict[str, Array] = {name: numbers[query_ids] for name, numbers in totals.items()}
    per_query["ap_width"] = np.array([math.fsum(row) for row in widths[query_ids].tolist()])
    by_rank = {name: np.cumsum(numbers)[:-1] for name, numbers in steps.items()}
    ambiguous_by_rank = by_rank.pop("ambiguous")
    return Collisions(
        setting,
        query_ids,
        np.flatnonzero(~kept),
        per_query,
        by_rank,
        by_range,
        widest.ties(),
        painter.cells,
        ambiguous_by_rank,
    )


def first_ranks(width: int) -> IntArray:
    """Return the first ranks of ranges of ranks: 1, 2, 11, 101, … up to `width`.

    >>> first_ranks(11).tolist(), first_ranks(1).tolist()
    ([1, 2, 11], [1])
    """
    powers = 10 ** np.arange(19)
    return np.append(1, 1 + powers[powers < width])


def of_kept(part: "FoundTies", kept: BoolArray) -> "FoundTies":
    """Return the ties of the queries that are kept."""
    chosen = kept[part.queries[part.place]]
    columns = (part.place, part.k, part.n, part.l, part.m)
    return part if chosen.all() else type(part)(part.queries, part.n_relevant, *(each[chosen] for each in columns))
