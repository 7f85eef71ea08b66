"""The picture of error-versus-reject curves: the mean error of the queries that are left."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tieproof.confidence import ErrorRejectCurve
from tieproof.views.pictures import style

POINTS = 400
"""More than a reader can tell apart in a picture as wide as a page."""


def plot_error_reject(curves: ErrorRejectCurve | Mapping[str, ErrorRejectCurve], ax: Any = None) -> Any:
    """Draw the mean error over the share of rejected queries, with all that ties leave open.

    curves : one, or several by name, such as {"P@1": result.error_reject("P@1")}
    ax : axes of matplotlib to draw into; without any, those of a new figure of pyplot

    Returns the axes. A band goes from lower to upper, a line is the expectation; the legend has the upper area, which
    is the value to report. Of more than 400 queries lines show 400. Raises MissingExtraError without matplotlib.

    >>> from tieproof.confidence import error_reject_curve
    >>> axes = plot_error_reject(error_reject_curve([0, 1, 0], [0.9, 0.2, 0.2]), style.figure("This example")[1])
    >>> axes.get_legend().get_texts()[0].get_text()
    'area 0.278'
    """
    named = {"": curves} if isinstance(curves, ErrorRejectCurve) else curves
    ax = style.axes_or_new(ax, "plot_error_reject")
    for (name, curve), look in zip(named.items(), style.LOOKS, strict=False):
        count = len(curve.rejected)
        shown = np.unique(np.linspace(0, count - 1, POINTS).round().astype(np.int64))
        across, error = curve.rejected[shown], curve.error
        ax.fill_between(across, error.lower[shown], error.upper[shown], color=look.color, alpha=0.3, linewidth=0)
        label = f"{name}, area {curve.area.upper:.3f}" if name else f"area {curve.area.upper:.3f}"
        marks = {"marker": look.marker, "markevery": 0.2, "markersize": 5}
        ax.plot(across, error.expected[shown], color=look.color, label=label, **marks)
    ax.set(
        xlim=(0, 1), xlabel="share of queries rejected, the least confident first", ylabel="mean error of the others"
    )
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    style.tidy(ax)
    return ax
