"""The picture of a credible region: an ellipse, an arc, or intervals."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tieproof.confidence import Cap, Ellipsoid, Interval
from tieproof.views.pictures import style

LEGIBLE = 8
"""The largest ratio of width and height, or of height and width, of an ellipse that is drawn in its true shape."""

ANGLES = np.linspace(-math.pi, math.pi, 361)


def plot_credible_region(region: Ellipsoid | Cap | Interval, ax: Any = None) -> Any:
    """Draw a credible region.

    region : the result of `tieproof.confidence.credible_region`
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. An ellipsoid is drawn as its projection onto the first two dimensions, with separate scales if
    one of them is more than eight times as wide as the other, or as an interval if it has one dimension. A cap is
    drawn as an arc of the circle through its mode, and samples as an interval for each column. Raises
    MissingExtraError if matplotlib is not installed.

    >>> import numpy as np
    >>> region = Ellipsoid(np.zeros(2), np.array([1.0, 0.5]), 2.0)
    >>> axes = plot_credible_region(region, style.figure("This example")[1])
    >>> axes.lines[0].get_xydata().max(axis=0).tolist()
    [2.0, 1.0]
    """
    ax = style.axes_or_new(ax, "plot_credible_region", width=4.5, height=4.5)
    DRAW[type(region)](region, ax)
    style.tidy(ax)
    return ax


def draw_ellipsoid(region: Ellipsoid, ax: Any) -> None:
    """Draw the projection onto the first two dimensions."""
    half = region.radius * region.scale
    if len(half) == 1:
        draw_columns(Interval(region.mean - half, region.mean + half), ax)
        return
    (x, y), (width, height) = region.mean[:2], half[:2]
    ax.plot(x + width * np.cos(ANGLES), y + height * np.sin(ANGLES), color=style.BLUE)
    ax.plot([x], [y], color=style.ink(), marker="+", linestyle="")
    in_shape = max(width, height) <= LEGIBLE * min(width, height)
    ax.set(xlabel="dimension 0", ylabel="dimension 1", aspect="equal" if in_shape else "auto")


def draw_cap(region: Cap, ax: Any) -> None:
    """Draw a circle around the centre of the sphere, and the arc of the cap, with the mode at the top."""
    inside = np.linspace(-region.angle, region.angle, len(ANGLES))
    ax.plot(np.sin(ANGLES), np.cos(ANGLES), color=style.GREY, linewidth=1)
    ax.plot(np.sin(inside), np.cos(inside), color=style.BLUE, linewidth=4)
    ax.plot([0, 0], [0, 1], color=style.ink(), marker="+")
    ax.set(xlabel="across the mode", ylabel="along the mode", aspect="equal")
    ax.set_title(f"within {math.degrees(region.angle):.1f} degrees")


def draw_columns(region: Interval, ax: Any) -> None:
    """Draw the interval of each column as a line."""
    low, high = np.atleast_1d(region.low), np.atleast_1d(region.high)
    places = np.arange(len(low))
    ax.hlines(places, low, high, color=style.BLUE, linewidth=min(4, 150 / len(low)))
    ax.set(ylim=(len(low) - 0.5, -0.5), xlabel="value", ylabel="column")
    style.whole_numbers(ax.yaxis)


DRAW: dict[type, Callable[[Any, Any], None]] = {Ellipsoid: draw_ellipsoid, Cap: draw_cap, Interval: draw_columns}
