"""The picture of error-versus-reject curves: the mean error of the queries that are left."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tieproof.confidence import ErrorRejectCurve
from tieproof.errors import InputError
from tieproof.measures import parse
from tieproof.views.pictures import style

POINTS = 400
"""More than a reader can tell apart in a picture as wide as a page."""


def plot_error_reject(curves: ErrorRejectCurve | Mapping[str, ErrorRejectCurve], ax: Any = None) -> Any:
    """Draw the mean error over the share of rejected queries, with all that ties leave open.

    curves : one, or several by name, such as {"P@1": result.error_reject("P@1")}
    ax : axes of matplotlib to draw into; without any, those of a new figure of pyplot

    Returns the axes. A band goes from lower to upper, a line is the expectation; the legend has the upper area, which
    is the value to report, and for the name of a measure that of its error. Of more than 400 queries lines show 400.
    Raises MissingExtraError without matplotlib.

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
        # Curves that are one have their marks at different places.
        marks = {"markevery": (0.2 * (place % 7) / 7, 0.2), "markersize": 5}
        ax.plot(across, error.expected[shown], label=label, **line, **marks)
    ax.set(xlim=(-0.02, 1.02), ylabel="mean error of the others", ylim=error_limits([*named.values()]))
    ax.set_xlabel("share of queries rejected, the least confident first")
    style.legend_below(ax, 2)
    style.tidy(ax)
    return ax


def error_of(name: str) -> str:
    """What a curve is called; that of a measure by its error.

    >>> error_of("ndcg@10"), error_of("1 - P@1"), error_of("float16")
    ('1 - ndcg@10', '1 - P@1', 'float16')
    """
    try:
        parse(name)
    except InputError:
        return name
    return f"1 - {name}"


def error_limits(curves: Sequence[ErrorRejectCurve]) -> tuple[float, float]:
    """From 0 to a little more than the largest error."""
    return style.limits(0.0, max((float(curve.error.upper.max()) for curve in curves), default=0.0))
