"""The picture of error-versus-reject curves: the mean error of the queries that are not rejected."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tieproof.confidence import ErrorRejectCurve
from tieproof.errors import InputError
from tieproof.measures import parse
from tieproof.views.pictures import style

POINTS = 400
"""The most points of a curve: more than a reader can tell apart in a picture as wide as a page."""


def plot_error_reject(curves: ErrorRejectCurve | Mapping[str, ErrorRejectCurve], ax: Any = None) -> Any:
    """Draw the mean error over the share of rejected queries, with the interval over all orderings of ties.

    curves : one curve, or several by name, such as {"P@1": result.error_reject("P@1")}
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. A band goes from lower to upper, and a line is the expected value. The legend shows the upper
    area, which is the value to report, and names a measure by its error, such as 1 - P@1. At most 400 points are
    drawn for each curve. Raises MissingExtraError if matplotlib is not installed.

    >>> from tieproof.confidence import error_reject_curve
    >>> axes = plot_error_reject(error_reject_curve([0, 1, 0], [0.9, 0.2, 0.2]), style.figure("This example")[1])
    >>> axes.get_legend().get_texts()[0].get_text()
    'upper area 0.278'
    """
    named = {"": curves} if isinstance(curves, ErrorRejectCurve) else curves
    ax = style.axes_or_new(ax, "plot_error_reject", height=3.6 + 0.2 * (len(named) // 2))
    for place, (name, curve) in enumerate(named.items()):
        line, count = style.line_of(place), len(curve.rejected)
        shown = np.unique(np.linspace(0, count - 1, POINTS).round().astype(np.int64))
        across, error = curve.rejected[shown], curve.error
        band = {"color": line["color"], "alpha": 0.3, "linewidth": 0}
        ax.fill_between(across, error.lower[shown], error.upper[shown], **band)
        area = f"upper area {curve.area.upper:.3f}"
        label = f"{error_of(name)}, {area}" if name else area
        # Equal curves have their marks at different positions.
        marks = {"markevery": (0.2 * (place % 7) / 7, 0.2), "markersize": 5}
        ax.plot(across, error.expected[shown], label=label, **line, **marks)
    ax.set(xlim=(-0.02, 1.02), ylabel="mean error of the others", ylim=error_limits([*named.values()]))
    ax.set_xlabel("share of queries rejected, the least confident first")
    style.legend_below(ax, 2)
    style.tidy(ax)
    return ax


def error_of(name: str) -> str:
    """The name of a curve; a measure is named by its error.

    >>> error_of("ndcg@10"), error_of("1 - P@1"), error_of("float16")
    ('1 - ndcg@10', '1 - P@1', 'float16')
    """
    try:
        parse(name)
    except InputError:
        return name
    return f"1 - {name}"


def error_limits(curves: Sequence[ErrorRejectCurve]) -> tuple[float, float]:
    """The limits of the axis: from 0 to a little more than the largest error."""
    return style.limits(0.0, max((float(curve.error.upper.max()) for curve in curves), default=0.0))
