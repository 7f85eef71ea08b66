"""The picture of credible regions: coverage, precision and recall of the items inside, by mass."""

from typing import Any, NamedTuple

from tieproof.confidence import CredibleRetrieval
from tieproof.views.pictures import style


class Curve(NamedTuple):
    """One of the three curves, and how it is drawn; the wider of two equal curves is visible around the other."""

    name: str
    dashes: str
    width: float
    marker: float


CURVES = (Curve("coverage", "-", 5, 10), Curve("recall", "--", 2.5, 6.5), Curve("precision", "-.", 1, 3.5))


def plot_credible_retrieval(found: CredibleRetrieval, ax: Any = None) -> Any:
    """Draw coverage, recall and precision over the requested masses.

    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. Coverage is on the dotted diagonal if the posteriors are calibrated, and below it if they are
    overconfident. Raises MissingExtraError if matplotlib is not installed.

    >>> import numpy as np
    >>> from tieproof.confidence import Held
    >>> held = Held(0.9, held=np.array([2, 1]), relevant_held=np.array([1, 1]), relevant=np.array([1, 1]))
    >>> axes = plot_credible_retrieval(
    ...     CredibleRetrieval(np.array([0, 1]), 0, (held,)), style.figure("This example")[1]
    ... )
    >>> [line.get_ydata().tolist()[0] for line in axes.lines[1:]]
    [1.0, 1.0, 0.75]
    """
    ax = style.axes_or_new(ax, "plot_credible_retrieval", width=5, height=5)
    points = sorted(found.points, key=lambda point: point.mass)
    ax.plot([0, 1], [0, 1], color=style.GREY, linestyle=":", label="coverage as promised")
    masses = [point.mass for point in points]
    for curve, look in zip(CURVES, style.LOOKS, strict=False):
        line = {
            "linestyle": curve.dashes,
            "linewidth": curve.width,
            "marker": look.marker,
            "markersize": curve.marker,
        }
        values = [getattr(point, curve.name) for point in points]
        ax.plot(masses, values, color=look.color, label=curve.name, **line)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="mass of the regions", ylabel="share held")
    style.legend_below(ax, 2)
    style.tidy(ax)
    return ax
