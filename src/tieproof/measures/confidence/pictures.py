"""The pictures of confidence: error-versus-reject curves, accuracy, rank correlation, and credible regions."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.measures import parse
from tieproof.measures.confidence import (
    Cap,
    ConfidenceAccuracy,
    CredibleRetrieval,
    Ellipsoid,
    ErrorRejectCurve,
    Interval,
    RankCorrelation,
)
from tieproof.show import style
from tieproof.show.files import takes_path
from tieproof.show.parts import fixed
from tieproof.ties import FloatArray

_LEGIBLE = 8  # the largest ratio of the two sides of an ellipse that is drawn in its true shape
_ANGLES = np.linspace(-math.pi, math.pi, 361)
POINTS = 400  # the most points of a curve: more than a reader can tell apart in a picture as wide as a page


@takes_path
def plot_confidence_accuracy(found: ConfidenceAccuracy, ax: Any = None) -> Any:
    """Draw the share of queries that a threshold on the confidence classifies correctly, over all thresholds.

    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. The dotted line is the threshold that accepts no query. Raises MissingExtraError if matplotlib
    is not installed.

    >>> from tieproof.measures.confidence import confidence_vs_recall_at_1
    >>> found = confidence_vs_recall_at_1([1, 0, 1], [0.9, 0.2, 0.2])
    >>> axes = plot_confidence_accuracy(found, style.figure("This example")[1])
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['each threshold', 'nothing accepted 0.3333', 'mean 0.5556', 'best 0.6667']
    """
    ax = style.axes_or_new(ax, "plot_confidence_accuracy", height=3.8)
    several, nothing, average, best = style.LOOKS[:4]
    marks = {"color": several.color, "marker": several.marker, "markersize": 3}
    ax.plot(found.thresholds.astype(np.float64), found.accuracy[1:], label="each threshold", **marks)
    lines = (
        (nothing, ":", 2.5, "nothing accepted", float(found.accuracy[0])),
        (average, "--", 1.5, "mean", found.mean),
        (best, "-.", 1.0, "best", found.best),
    )
    for look, dashes, width, name, value in lines:
        ax.axhline(value, color=look.color, linestyle=dashes, linewidth=width, label=f"{name} {fixed(value)}")
    ax.set(ylim=(-0.02, 1.02), xlabel="threshold on the confidence", ylabel="share of queries judged correctly")
    return style.tidy(ax, legend=4)


@takes_path
def plot_credible_region(region: Ellipsoid | Cap | Interval, ax: Any = None) -> Any:
    """Draw a credible region.

    region : the result of `tieproof.measures.confidence.credible_region`
    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

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
    if isinstance(region, Cap):
        _draw_cap(region, ax)
    elif isinstance(region, Ellipsoid) and len(region.mean) > 1:
        _draw_ellipsoid(region, ax)
    elif isinstance(region, Ellipsoid):
        half = region.radius * region.scale
        _draw_columns(region.mean - half, region.mean + half, ax)
    else:
        _draw_columns(np.atleast_1d(region.low), np.atleast_1d(region.high), ax)
    return style.tidy(ax)


def _draw_ellipsoid(region: Ellipsoid, ax: Any) -> None:
    half = region.radius * region.scale
    (x, y), (width, height) = region.mean[:2], half[:2]
    ax.plot(x + width * np.cos(_ANGLES), y + height * np.sin(_ANGLES), color=style.BLUE)
    ax.plot([x], [y], color=style.ink(), marker="+", linestyle="")
    in_shape = max(width, height) <= _LEGIBLE * min(width, height)
    ax.set(xlabel="dimension 0", ylabel="dimension 1", aspect="equal" if in_shape else "auto")


def _draw_cap(region: Cap, ax: Any) -> None:
    """Draw a circle around the center of the sphere, and the arc of the cap, with the mode at the top."""
    inside = np.linspace(-region.angle, region.angle, len(_ANGLES))
    ax.plot(np.sin(_ANGLES), np.cos(_ANGLES), color=style.GRAY, linewidth=1)
    ax.plot(np.sin(inside), np.cos(inside), color=style.BLUE, linewidth=4)
    ax.plot([0, 0], [0, 1], color=style.ink(), marker="+")
    ax.set(xlabel="across the mode", ylabel="along the mode", aspect="equal")
    ax.set_title(f"within {math.degrees(region.angle):.1f} degrees")


def _draw_columns(low: FloatArray, high: FloatArray, ax: Any) -> None:
    places = np.arange(len(low))
    ax.hlines(places, low, high, color=style.BLUE, linewidth=min(4, 150 / len(low)))
    ax.set(ylim=(len(low) - 0.5, -0.5), xlabel="value", ylabel="column")
    style.whole_numbers(ax.yaxis)


# The curves: name, dashes, width and size of marks; the wider of two equal curves is visible around the other.
_CURVES = (("coverage", "-", 5, 10), ("recall", "--", 2.5, 6.5), ("precision", "-.", 1, 3.5))


@takes_path
def plot_credible_retrieval(found: CredibleRetrieval, ax: Any = None) -> Any:
    """Draw coverage, recall and precision over the requested masses.

    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. Coverage is on the dotted diagonal if the posteriors are calibrated, and below it if they are
    overconfident. Raises MissingExtraError if matplotlib is not installed.

    >>> import numpy as np
    >>> from tieproof.measures.confidence import Held
    >>> held = Held(0.9, held=np.array([2, 1]), relevant_held=np.array([1, 1]), relevant=np.array([1, 1]))
    >>> axes = plot_credible_retrieval(
    ...     CredibleRetrieval(np.array([0, 1]), 0, (held,)), style.figure("This example")[1]
    ... )
    >>> [line.get_ydata().tolist()[0] for line in axes.lines[1:]]
    [1.0, 1.0, 0.75]
    """
    ax = style.axes_or_new(ax, "plot_credible_retrieval", width=5, height=5)
    points = sorted(found.points, key=lambda point: point.mass)
    ax.plot([0, 1], [0, 1], color=style.GRAY, linestyle=":", label="coverage as promised")
    masses = [point.mass for point in points]
    for (name, dashes, width, size), look in zip(_CURVES, style.LOOKS, strict=False):
        line = {"linestyle": dashes, "linewidth": width, "marker": look.marker, "markersize": size}
        ax.plot(masses, [getattr(point, name) for point in points], color=look.color, label=name, **line)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="mass of the regions", ylabel="share held")
    return style.tidy(ax, legend=2)


@takes_path
def plot_error_reject(curves: ErrorRejectCurve | Mapping[str, ErrorRejectCurve], ax: Any = None) -> Any:
    """Draw the mean error over the share of rejected queries, with the interval over all orderings of ties.

    curves : one curve, or several by name, such as {"P@1": result.error_reject("P@1")}
    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. A band goes from lower to upper, and a line is the expected value. The legend shows the upper
    area, which is the value to report, and names a measure by its error, such as 1 - P@1. At most 400 points are
    drawn for each curve. Raises MissingExtraError if matplotlib is not installed.

    >>> from tieproof.measures.confidence import error_reject_curve
    >>> axes = plot_error_reject(error_reject_curve([0, 1, 0], [0.9, 0.2, 0.2]), style.figure("This example")[1])
    >>> axes.get_legend().get_texts()[0].get_text()
    'upper area 0.2778'
    """
    named = {"": curves} if isinstance(curves, ErrorRejectCurve) else curves
    ax = style.axes_or_new(ax, "plot_error_reject", height=3.6 + 0.2 * (len(named) // 2))
    for place, (name, curve) in enumerate(named.items()):
        line, count = style.line_of(place), len(curve.rejected)
        shown = np.unique(np.linspace(0, count - 1, POINTS).round().astype(np.int64))
        across, error = curve.rejected[shown], curve.error
        band = {"color": line["color"], "alpha": 0.3, "linewidth": 0}
        ax.fill_between(across, error.lower[shown], error.upper[shown], **band)
        area = f"upper area {fixed(curve.area.upper)}"
        label = f"{_error_of(name)}, {area}" if name else area
        # Equal curves have their marks at different positions.
        marks = {"markevery": (0.2 * (place % 7) / 7, 0.2), "markersize": 5}
        ax.plot(across, error.expected[shown], label=label, **line, **marks)
    highest = max((float(curve.error.upper.max()) for curve in named.values()), default=0.0)
    ax.set(xlim=(-0.02, 1.02), ylabel="mean error of the others", ylim=style.limits(0.0, highest))
    ax.set_xlabel("share of queries rejected, the least confident first")
    return style.tidy(ax, legend=2)


def _error_of(name: str) -> str:
    """The name of a curve; a measure is named by its error."""
    try:
        parse(name)
    except InputError:
        return name
    return f"1 - {name}"


@takes_path
def plot_rank_correlations(found: Mapping[float, RankCorrelation], ax: Any = None) -> Any:
    """Draw rank correlations over a number that was varied.

    found : the rank correlation for each value of that number
    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. The line is the coefficient with mean ranks, and the band its interval over all orders of tied
    values. Raises MissingExtraError if matplotlib is not installed.

    >>> from tieproof.measures.confidence import rank_correlation
    >>> found = {x: rank_correlation([1, x, 3], [1, 2, 3]) for x in (0, 1, 2)}
    >>> axes = plot_rank_correlations(found, style.figure("This example")[1])
    >>> axes.lines[0].get_ydata().tolist()
    [0.5, 0.8660254037844387, 1.0]
    """
    ax = style.axes_or_new(ax, "plot_rank_correlations")
    look, across = style.LOOKS[0], sorted(found)
    ordered = [found[place] for place in across]
    low, high = ([getattr(each.orders, end) for each in ordered] for end in ("lower", "upper"))
    ax.fill_between(across, low, high, color=look.color, alpha=0.3, linewidth=0, label="orders of tied values")
    marks = {"color": look.color, "marker": look.marker, "markersize": 4}
    ax.plot(across, [each.coefficient for each in ordered], label="Spearman's coefficient", **marks)
    ax.vlines(across, low, high, color=look.color, linewidth=1)
    ax.set(xlabel="number that was varied", ylabel="rank correlation")
    return style.tidy(ax, legend=2)
