"""Pictures of collisions: queries x ranks, as figures 2 and 3 of Nicolaou et al. 2018, and how many at each rank."""

from typing import Any

import numpy as np

from tieproof.results.collisions import Collisions
from tieproof.views.pictures import style
from tieproof.views.text.parts import count as counted

STEPS = 120
"""Steps of the picture by rank; more would be too narrow to tell apart."""

FAINTEST = 0.45
"""How strong the colour of a cell is of which hardly anything collides: it must be seen."""

RELEVANT, OTHER, NONE = "relevant collision", "other collision", "none"
RELEVANT_COLOR, OTHER_COLOR = style.BLUE, style.ORANGE
"""One dark, one light: they differ in grey, too."""


def plot_collisions(found: Collisions, ax: Any = None) -> Any:
    """Draw queries x ranks: which items collide with a neighbour in the ranking, and which of them are relevant.

    found : of `tieproof.collisions`
    ax : axes of matplotlib to draw into; without any, those of a new figure of pyplot

    Returns the axes. Where several queries or ranks share a cell, its colour is mixed of those of its collisions, and
    the fainter, the fewer of its items collide. Within a tie the relevant items stand last, as for `lower`. Raises
    MissingExtraError without matplotlib.

    >>> import tieproof as tp
    >>> found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> plot_collisions(found, style.figure("This example")[1]).get_title()
    'Collisions of 4 queries: exactly the same distance'
    """
    ax = style.axes_or_new(ax, "Collisions.plot", height=4.5)
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    cells = found.cells
    relevant, others = cells.relevant[..., None], cells.others[..., None]
    size = np.diff(cells.queries)[:, None, None] * np.diff(cells.ranks)[None, :, None]
    together = np.maximum(relevant + others, 1)
    mixed = (relevant * to_rgb(RELEVANT_COLOR) + others * to_rgb(OTHER_COLOR)) / together
    strength = np.where(relevant + others > 0, FAINTEST + (1 - FAINTEST) * (relevant + others) / size, 0.0)
    image = mixed * strength + (1 - strength)
    queries, ranks = int(cells.queries[-1]), int(cells.ranks[-1])
    ax.imshow(image, extent=(0.5, ranks + 0.5, queries, 0), aspect="auto", interpolation="nearest")
    shared = " (several share a row)" if queries > len(image) else ""
    ax.set(xlabel="rank", ylabel=f"queries{shared}", title=title(found))
    if queries <= len(image):
        ax.yaxis.get_major_locator().set_params(integer=True)
    looks = [Patch(facecolor=RELEVANT_COLOR, label=RELEVANT), Patch(facecolor=OTHER_COLOR, label=OTHER)]
    looks.append(Patch(facecolor="white", edgecolor=style.GREY, label=NONE))
    ax.legend(handles=looks, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)
    return ax


def plot_ranks(found: Collisions, ax: Any = None) -> Any:
    """Draw the share of queries whose item at each rank collides with a neighbour, relevant and other ones stacked.

    found : of `tieproof.collisions`
    ax : axes of matplotlib to draw into; without any, those of a new figure of pyplot

    Returns the axes. More than 120 ranks are drawn as 120 steps, each the mean over neighbouring ranks. Raises
    MissingExtraError without matplotlib.

    >>> import tieproof as tp
    >>> found = tp.collisions([[0.0], [1.0], [-1.0], [3.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> plot_ranks(found, style.figure("This example")[1]).get_ylabel()
    'share of queries'
    """
    ax = style.axes_or_new(ax, "Collisions.plot_ranks")
    count = found.setting.ranks
    edges = np.linspace(0, count, min(count, STEPS) + 1).astype(np.int64)
    relevant, others = (
        np.add.reduceat(found.by_rank[name], edges[:-1]) / np.diff(edges) / len(found.query_ids)
        for name in ("relevant", "others")
    )
    lower = {"fill": True, "color": RELEVANT_COLOR, "label": RELEVANT}
    upper = {"fill": True, "facecolor": OTHER_COLOR, "edgecolor": style.BLACK, "hatch": "///", "label": OTHER}
    ax.stairs(relevant, edges + 0.5, **lower)
    ax.stairs(relevant + others, edges + 0.5, baseline=relevant, linewidth=0.3, **upper)
    ax.set(xlim=(0.5, count + 0.5), ylim=(0, None), xlabel="rank", ylabel="share of queries", title=title(found))
    ax.legend(loc="best", frameon=False)
    style.tidy(ax)
    return ax


def title(found: Collisions) -> str:
    """Of how many queries, and by which rule."""
    epsilon = found.setting.epsilon
    rule = f"closer than {epsilon:g}" if epsilon else "exactly the same distance"
    return f"Collisions of {counted(len(found.query_ids), 'query')}: {rule}"
