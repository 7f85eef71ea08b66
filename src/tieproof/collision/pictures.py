"""Pictures of collisions: by query and rank, as in figures 2 and 3 of Nicolaou et al. 2018, and by rank alone."""

from typing import Any, NamedTuple

import numpy as np

from tieproof.collision.result import Collisions, rank_edges
from tieproof.show import style
from tieproof.show.parts import count as counted
from tieproof.ties import FloatArray, IntArray

STEPS = 120
"""The most steps of the picture by rank; if there are more ranks, all but the first ones share steps."""

FAINTEST = 0.7
"""The opacity of a cell with very few items in an ambiguous tie, which must still be visible."""

LINEAR = 25
"""The most ranks that are drawn equally wide; if there are more, the axis of ranks is logarithmic."""

RELEVANT, OTHER, ANY = "relevant collision", "other collision", "collision"
AMBIGUOUS_RELEVANT, AMBIGUOUS_OTHER = style.VERMILION, style.ORANGE
"""Warm colours for collisions that change scores, even if cells mix them; one dark, one light, to differ in grey."""

HARMLESS_RELEVANT, HARMLESS_OTHER, HARMLESS = style.SKY_BLUE, style.GREY, 0.4
"""Cold colours for collisions that change no score, and their strength in a cell: they recede, in grey, too."""


class Kind(NamedTuple):
    """Items of one kind in the cells: their name, their numbers, their colour, and its strength in a cell."""

    name: str
    counts: IntArray
    color: str
    strength: float


def plot_collisions(found: Collisions, ax: Any = None) -> Any:
    """Draw the collisions by query and rank: relevant and other items, in ambiguous and in harmless ties.

    found : the result of `tieproof.collisions`
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. Only ambiguous ties change scores; they have warm colours. If several queries or ranks share a
    cell, its colour is a mixture of the colours of its collisions, and is fainter the fewer of its items collide.
    Within a tie, relevant items are placed last, as for `lower`. If there are more than 25 ranks, the first ones are
    wider. Queries are in their original order. Raises MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> print(plot_collisions(found, style.figure("This example")[1]).get_title("left"))
    Collisions of 4 queries: exactly the same distance
    1 ambiguous tie leaves AP open by 0.1250
    """
    ax = style.axes_or_new(ax, "Collisions.plot", height=4.8)
    from matplotlib.patches import Patch

    cells, kinds = found.cells, kinds_of(found)
    across, up = cells.ranks + 0.5, cells.queries
    ax.pcolormesh(across, up, colors_of(found, kinds), rasterized=True)
    shared = " (several share a row)" if cells.queries[-1] > len(cells.queries) - 1 else ""
    ax.set(ylim=(up[-1], 0), xlabel="rank", ylabel=f"queries{shared}")
    ranks_across(ax, found.setting.ranks)
    style.whole_numbers(ax.yaxis)
    ax.set_title(title(found), loc="left", fontsize=10)
    handles = [
        Patch(facecolor=kind.color, alpha=opacity(kind.strength, kind.strength), label=kind.name) for kind in kinds
    ]
    style.legend_below(ax, 2, handles=handles)
    return ax


def kinds_of(found: Collisions) -> list[Kind]:
    """The kinds of collisions: ambiguous and harmless ones, or a single kind without labels."""
    cells = found.cells
    if not found.setting.labelled:
        return [Kind(ANY, cells.others, HARMLESS_OTHER, 1.0)]
    relevant, others = cells.ambiguous_relevant, cells.ambiguous_others
    return [
        Kind("relevant, in an ambiguous tie", relevant, AMBIGUOUS_RELEVANT, 1.0),
        Kind("other, in an ambiguous tie", others, AMBIGUOUS_OTHER, 1.0),
        Kind("relevant, in a harmless tie", cells.relevant - relevant, HARMLESS_RELEVANT, HARMLESS),
        Kind("other, in a harmless tie", cells.others - others, HARMLESS_OTHER, HARMLESS),
    ]


def colors_of(found: Collisions, kinds: list[Kind]) -> FloatArray:
    """The red, green, blue and opacity values of each cell."""
    from matplotlib.colors import to_rgb

    cells = found.cells
    size = np.diff(cells.queries)[:, None] * np.diff(cells.ranks)[None, :]
    weights = np.array([kind.counts * kind.strength for kind in kinds])
    colors = np.array([to_rgb(kind.color) for kind in kinds])
    weight = weights.sum(axis=0)
    mixed = (weights[..., None] * colors[:, None, None, :]).sum(axis=0) / np.where(weight > 0, weight, 1)[..., None]
    strongest = np.max([(kind.counts > 0) * kind.strength for kind in kinds], axis=0)
    return np.concatenate([mixed, opacity(strongest, weight / size)[..., None]], axis=2)


def opacity(strongest: Any, weight: Any) -> Any:
    """The opacity of a cell, from the strength of its strongest kind and the total weight of its kinds."""
    faintest = FAINTEST * strongest
    return faintest + (1 - faintest) * weight


def plot_ranks(found: Collisions, ax: Any = None) -> Any:
    """Draw the share of queries whose item at each rank collides, with relevant and other items stacked.

    found : the result of `tieproof.collisions`
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. The line is the share of queries whose item is in an ambiguous tie; only these ties change
    scores. More than 120 ranks are drawn as steps, each a mean over neighbouring ranks, except for the first ten. If
    there are more than 25 ranks, the first ones are wider. Raises MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> plot_ranks(found, style.figure("This example")[1]).get_ylabel()
    'share of queries'
    """
    ax = style.axes_or_new(ax, "Collisions.plot_ranks", height=3.8)
    edges = rank_edges(found.setting.ranks, STEPS)
    relevant, others, ambiguous = (
        np.add.reduceat(queries, edges[:-1]) / np.diff(edges) / len(found.query_ids)
        for queries in (found.by_rank["relevant"], found.by_rank["others"], found.ambiguous_by_rank)
    )
    labelled = found.setting.labelled
    upper = {"fill": True, "facecolor": HARMLESS_OTHER, "edgecolor": style.ink(), "hatch": "///", "alpha": 0.5}
    if labelled:
        ax.stairs(relevant, edges + 0.5, fill=True, color=HARMLESS_RELEVANT, label=RELEVANT)
    ax.stairs(relevant + others, edges + 0.5, baseline=relevant, label=OTHER if labelled else ANY, **upper)
    if labelled:
        ax.stairs(
            ambiguous,
            edges + 0.5,
            baseline=None,
            color=AMBIGUOUS_RELEVANT,
            linewidth=2.5,
            zorder=3,
            label="in an ambiguous tie",
        )
    ax.set(ylim=style.limits(0.0, float((relevant + others).max())), xlabel="rank", ylabel="share of queries")
    ax.set_title(title(found), loc="left", fontsize=10)
    ranks_across(ax, found.setting.ranks)
    style.legend_below(ax, 3)
    style.tidy(ax)
    return ax


def ranks_across(ax: Any, ranks: int) -> None:
    """Draw the axis of ranks."""
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    ax.set_xlim(0.5, ranks + 0.5)
    if ranks <= LINEAR:
        style.whole_numbers(ax.xaxis)
        return
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def title(found: Collisions) -> str:
    """The title: the number of queries, the rule of collisions, and their cost."""
    epsilon = found.setting.epsilon
    rule = f"closer than {epsilon:g}" if epsilon else "exactly the same distance"
    of_queries = f"Collisions of {counted(len(found.query_ids), 'query')}: {rule}"
    if not found.setting.labelled or not found.ties:
        return of_queries if found.ties else f"{of_queries}\nThere are no collisions."
    leaves = "leaves" if found.ambiguous_ties == 1 else "leave"
    ambiguous = counted(found.ambiguous_ties, "ambiguous tie")
    return f"{of_queries}\n{ambiguous} {leaves} AP open by {style.number(found.ap_width)}"
