"""The picture of confidence vs recall@1: the share of queries that each threshold classifies correctly."""

from typing import Any

import numpy as np

from tieproof.confidence import ConfidenceAccuracy
from tieproof.views.pictures import style


def plot_confidence_accuracy(found: ConfidenceAccuracy, ax: Any = None) -> Any:
    """Draw the share of queries that a threshold on the confidence classifies correctly, over all thresholds.

    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. The dotted line is the threshold that accepts no query. Raises MissingExtraError if matplotlib
    is not installed.

    >>> from tieproof.confidence import confidence_vs_recall_at_1
    >>> found = confidence_vs_recall_at_1([1, 0, 1], [0.9, 0.2, 0.2])
    >>> axes = plot_confidence_accuracy(found, style.figure("This example")[1])
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['each threshold', 'nothing accepted 0.333', 'mean 0.556', 'best 0.667']
    """
    ax = style.axes_or_new(ax, "plot_confidence_accuracy", height=3.8)
    several, nothing, average, best = style.LOOKS[:4]
    ax.plot(
        found.thresholds.astype(np.float64),
        found.accuracy[1:],
        color=several.color,
        marker=several.marker,
        markersize=3,
        label="each threshold",
    )
    lines = (
        (nothing, ":", 2.5, "nothing accepted", float(found.accuracy[0])),
        (average, "--", 1.5, "mean", found.mean),
        (best, "-.", 1.0, "best", found.best),
    )
    for look, dashes, width, name, value in lines:
        ax.axhline(value, color=look.color, linestyle=dashes, linewidth=width, label=f"{name} {value:.3f}")
    ax.set(ylim=(-0.02, 1.02), xlabel="threshold on the confidence", ylabel="share of queries judged correctly")
    style.legend_below(ax, 4)
    style.tidy(ax)
    return ax
