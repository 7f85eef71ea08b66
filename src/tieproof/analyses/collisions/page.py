"""The page of collisions: `templates/collisions.html` with its numbers."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tieproof.analyses.collisions.pictures import STEPS, place_of, rank_edges
from tieproof.distances import DISTANCES
from tieproof.show.pages.page import SIDE, steps
from tieproof.show.pages.query_table import MeasureChoice, QueryTable, query_table
from tieproof.show.parts import count, distance_meant
from tieproof.ties import FloatArray

if TYPE_CHECKING:
    from tieproof.analyses.collisions.result import Collisions


class Stack(NamedTuple):
    """Two shares by rank, stacked, as paths of a picture that is `SIDE` wide and high."""

    lower: str
    upper: str
    ranks: int
    top: float  # the value at the upper edge of the picture
    ticks: list[tuple[str, str]]  # the ranks under the axis, each preceded by its position in percent


def stack(first: FloatArray, second: FloatArray) -> Stack:
    """Shares of queries at each rank, with the steps and the axis of `Collisions.plot_ranks`."""
    ranks = len(first)
    edges = rank_edges(ranks, STEPS)
    below, above = np.add.reduceat(np.array([first, first + second]), edges[:-1], axis=1) / np.diff(edges)
    top = max(float(above.max()), 1e-6)
    across = [round(SIDE * place_of(edge + 0.5, ranks)) for edge in edges.tolist()]
    floor = f"{SIDE} {SIDE} L0 {SIDE} Z"
    there = " ".join(steps(across, (above / top).tolist()))
    line = " ".join(steps(across, (below / top).tolist()))
    back = " ".join(steps(across[::-1], (below / top).tolist()[::-1]))
    numbered = sorted({1, ranks, *(10**power for power in range(1, 12) if 2 * 10**power < ranks)})
    ticks = [(f"{100 * place_of(rank, ranks):.4g}", f"{rank:,}") for rank in numbered]
    return Stack(f"M{line} L{floor}", f"M{there} L{back} Z", ranks, top, ticks)


def contents(result: "Collisions") -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    size = len(result.query_ids)
    touched = int((result.per_query["ambiguous_ties"] > 0).sum())
    widest = max((each.ap_width for each in result.by_range), default=0.0)
    return "collisions.html", {
        "title": f"Collisions of {count(size, 'query')}",
        "found": result,
        "said": result._table().notes,
        "touched": touched,
        "largest": int(result.per_query["largest_tie"].max()),
        "ranges": [(each.ranks, each) for each in result.by_range],
        "widest_range": widest or 1.0,
        "stack": stack(result.by_rank["relevant"] / size, result.by_rank["others"] / size),
        "queries": _queries_of(result),
        "setting": _setting(result),
    }


def _queries_of(result: "Collisions") -> QueryTable:
    values = result.per_query
    labelled = result.setting.labelled
    shown = ("ties", "ambiguous_ties", "largest_tie", "ap_width") if labelled else ("ties", "largest_tie")
    columns = {name.replace("ap_width", "width of AP").replace("_", " "): values[name] for name in shown}
    order = np.lexsort((-values["ties"], -values["ap_width"]))
    flag, heads = "ambiguous ties" if labelled else None, {"pairs": "pairs of neighbors in the ranking that collide"}
    pairs = MeasureChoice("pairs", (values["pairs"],))
    return query_table(result.query_ids, order, None, [pairs], columns, heads, flag)


def _setting(result: "Collisions") -> list[tuple[str, str]]:
    known, skipped = result.setting, len(result.skipped)
    kind = DISTANCES.get(known.distance)
    return [
        ("Queries", f"{known.queries:,}"),
        ("Gallery", "the other queries (leave-one-out)" if known.leave_one_out else f"{known.gallery:,}"),
        ("Ranked by", distance_meant(known.distance)),
        ("Bits" if kind and kind.bits else "Dimensions", f"{known.dimensions:,}"),
        ("Neighbors collide if", known.rule),
        ("Left out", f"{count(skipped, 'query')} with no relevant item" if skipped else "nothing"),
    ]
