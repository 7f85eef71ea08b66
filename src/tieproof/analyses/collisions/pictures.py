"""Pictures of collisions: by query and rank, as in figures 2 and 3 of Nicolaou et al. 2018, and by rank alone.

Ties are painted into the cells of the first picture while they are counted, because they are not kept.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tieproof.show import style
from tieproof.show.files import pictures, takes_path
from tieproof.show.pages.page import SIDE, steps
from tieproof.show.parts import count, fixed
from tieproof.ties import FloatArray, IntArray

if TYPE_CHECKING:
    from tieproof.analyses.collisions.result import Collisions
    from tieproof.engine import FoundTies

STEPS = 120  # the most steps of a picture by rank alone; if there are more ranks, all but the first ones share steps
MOST_ROWS, MOST_COLUMNS = 400, 800  # of a picture; with more ranks, all but the first ranks share columns
LINEAR = 25  # the most ranks that are drawn equally wide; if there are more, the axis of ranks is logarithmic
_FAINTEST = 0.7  # the opacity of a cell with very few items in an ambiguous tie, which must still be visible

# Warm colors for collisions that change scores, even if cells mix them; one dark, one light, to differ in gray.
_AMBIGUOUS_RELEVANT, _AMBIGUOUS_OTHER = style.VERMILION, style.ORANGE
# Cold colors for collisions that change no score, and their strength in a cell: they recede, in gray, too.
_HARMLESS_RELEVANT, _HARMLESS_OTHER, _HARMLESS = style.SKY_BLUE, style.GRAY, 0.4


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


class _Kind(NamedTuple):
    """Items of one kind in the cells: their name, their numbers, their color, and its strength in a cell."""

    name: str
    counts: IntArray
    color: str
    strength: float


@takes_path
def plot(found: "Collisions", ax: Any = None) -> Any:
    """Draw the collisions by query and rank: relevant and other items, in ambiguous and in harmless ties.

    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. Only ambiguous ties change scores; they have warm colors. If several queries or ranks share a
    cell, its color is a mixture of the colors of its collisions, and is fainter the fewer of its items collide.
    Within a tie, relevant items are placed last, as for `lower`. If there are more than 25 ranks, the first ones are
    wider. Queries are in their original order. Raises MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> print(found.plot(style.figure("This example")[1]).get_title("left"))
    Collisions of 4 queries: exactly the same distance
    1 ambiguous tie leaves AP open by 0.1250
    """
    ax = style.axes_or_new(ax, "Collisions.plot", height=4.8)
    from matplotlib.patches import Patch

    cells, kinds = found.cells, _kinds_of(found)
    across, up = cells.ranks + 0.5, cells.queries
    ax.pcolormesh(across, up, _colors_of(found, kinds), rasterized=True)
    shared = " (several share a row)" if cells.queries[-1] > len(cells.queries) - 1 else ""
    ax.set(ylim=(up[-1], 0), xlabel="rank", ylabel=f"queries{shared}")
    _ranks_across(ax, found.setting.ranks)
    style.whole_numbers(ax.yaxis)
    ax.set_title(_title(found), loc="left", fontsize=10)
    handles = [
        Patch(facecolor=kind.color, alpha=_opacity(kind.strength, kind.strength), label=kind.name) for kind in kinds
    ]
    style.legend_below(ax, 2, handles=handles)
    return ax


def _kinds_of(collisions: "Collisions") -> list[_Kind]:
    cells = collisions.cells
    if not collisions.setting.labelled:
        return [_Kind("collision", cells.others, _HARMLESS_OTHER, 1.0)]
    relevant, others = cells.ambiguous_relevant, cells.ambiguous_others
    return [
        _Kind("relevant, in an ambiguous tie", relevant, _AMBIGUOUS_RELEVANT, 1.0),
        _Kind("other, in an ambiguous tie", others, _AMBIGUOUS_OTHER, 1.0),
        _Kind("relevant, in a harmless tie", cells.relevant - relevant, _HARMLESS_RELEVANT, _HARMLESS),
        _Kind("other, in a harmless tie", cells.others - others, _HARMLESS_OTHER, _HARMLESS),
    ]


def _colors_of(collisions: "Collisions", kinds: list[_Kind]) -> FloatArray:
    from matplotlib.colors import to_rgb

    cells = collisions.cells
    size = np.diff(cells.queries)[:, None] * np.diff(cells.ranks)[None, :]
    weights = np.array([kind.counts * kind.strength for kind in kinds])
    colors = np.array([to_rgb(kind.color) for kind in kinds])
    weight = weights.sum(axis=0)
    mixed = (weights[..., None] * colors[:, None, None, :]).sum(axis=0) / np.where(weight > 0, weight, 1)[..., None]
    strongest = np.max([(kind.counts > 0) * kind.strength for kind in kinds], axis=0)
    return np.concatenate([mixed, _opacity(strongest, weight / size)[..., None]], axis=2)


def _opacity(strongest: Any, weight: Any) -> Any:
    """The opacity of a cell, from the strength of its strongest kind and the total weight of its kinds."""
    faintest = _FAINTEST * strongest
    return faintest + (1 - faintest) * weight


@takes_path
def plot_ranks(found: "Collisions", ax: Any = None) -> Any:
    """Draw the share of queries whose item at each rank collides, with relevant and other items stacked.

    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. The line is the share of queries whose item is in an ambiguous tie; only these ties change
    scores. More than 120 ranks are drawn as steps, each a mean over neighboring ranks, except for the first ten. If
    there are more than 25 ranks, the first ones are wider. Raises MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> found.plot_ranks(style.figure("This example")[1]).get_ylabel()
    'share of queries'
    """
    ax = style.axes_or_new(ax, "Collisions.plot_ranks", height=3.8)
    edges = rank_edges(found.setting.ranks, STEPS)
    relevant, others, ambiguous = (
        np.add.reduceat(queries, edges[:-1]) / np.diff(edges) / len(found.query_ids)
        for queries in (found.by_rank["relevant"], found.by_rank["others"], found.ambiguous_by_rank)
    )
    labelled = found.setting.labelled
    upper = {"fill": True, "facecolor": _HARMLESS_OTHER, "edgecolor": style.ink(), "hatch": "///", "alpha": 0.5}
    if labelled:
        ax.stairs(relevant, edges + 0.5, fill=True, color=_HARMLESS_RELEVANT, label="relevant collision")
    name = "other collision" if labelled else "collision"
    ax.stairs(relevant + others, edges + 0.5, baseline=relevant, label=name, **upper)
    if labelled:
        line = {"color": _AMBIGUOUS_RELEVANT, "linewidth": 2.5, "zorder": 3}
        ax.stairs(ambiguous, edges + 0.5, baseline=None, label="in an ambiguous tie", **line)
    ax.set(ylim=style.limits(0.0, float((relevant + others).max())), xlabel="rank", ylabel="share of queries")
    ax.set_title(_title(found), loc="left", fontsize=10)
    _ranks_across(ax, found.setting.ranks)
    return style.tidy(ax, legend=3)


def _ranks_across(ax: Any, ranks: int) -> None:
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    ax.set_xlim(0.5, ranks + 0.5)
    if ranks <= LINEAR:
        style.whole_numbers(ax.xaxis)
        return
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _title(collisions: "Collisions") -> str:
    epsilon = collisions.setting.epsilon
    rule = f"closer than {epsilon:g}" if epsilon else "exactly the same distance"
    of_queries = f"Collisions of {count(len(collisions.query_ids), 'query')}: {rule}"
    if not collisions.setting.labelled or not collisions.ties:
        return of_queries if collisions.ties else f"{of_queries}\nThere are no collisions."
    leaves = "leaves" if collisions.ambiguous_ties == 1 else "leave"
    ambiguous = count(collisions.ambiguous_ties, "ambiguous tie")
    return f"{of_queries}\n{ambiguous} {leaves} AP open by {fixed(collisions.ap_width)}"


COLLISIONS = pictures(plot)
COLLISIONS_BY_RANK = pictures(plot_ranks)
