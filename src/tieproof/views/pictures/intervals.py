"""The drawing of intervals in all pictures: a bar from lower to upper, the expected value and its tie std."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.ties import Estimate
from tieproof.views.pictures import style


def draw_intervals(ax: Any, places: npt.ArrayLike, estimates: Sequence[Estimate[float]]) -> None:
    """Draw each estimate as a horizontal line at its position on the y axis; its std is over orderings of ties.

    The ends are marked, so that an interval of width 0 is visible. The mark of the expected value is hollow, so that
    whiskers inside it are visible.

    >>> from tieproof.ties import Estimate
    >>> ax = style.figure("This example")[1]
    >>> draw_intervals(ax, [0], [Estimate(0.25, 0.5, 1.0, 0.125)])
    >>> ax.get_legend_handles_labels()[1]
    ['lower to upper', 'expected ± tie std']
    """
    lower, expected, upper, std = np.array(
        [(each.lower, each.expected, each.upper, each.std) for each in estimates]
    ).T
    ax.hlines(places, lower, upper, color=style.SKY_BLUE, linewidth=9, label="lower to upper")
    ends = {"linestyle": "", "marker": "|", "markersize": 11, "markeredgewidth": 2, "color": style.BLUE}
    for values in (lower, upper):
        ax.plot(values, places, **ends)
    mark = {"fmt": "D", "markersize": 6, "markerfacecolor": "none", "markeredgewidth": 0.8, "color": style.ink()}
    ax.errorbar(expected, places, xerr=std, label="expected ± tie std", capsize=3, linewidth=1.2, **mark)
