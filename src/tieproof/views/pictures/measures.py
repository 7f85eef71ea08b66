"""The picture of a result: what each measure can be."""

from typing import Any

from tieproof.results.results import Result
from tieproof.views.pictures import style
from tieproof.views.pictures.intervals import draw_intervals


def height(count: int) -> float:
    """Inches in which so many measures are legible."""
    return 1.4 + 0.32 * count


def plot_measures(result: Result, ax: Any = None) -> Any:
    """Draw each measure as the line from its lower to its upper value, with its expectation and standard deviation.

    result : of any evaluation
    ax : axes of matplotlib to draw into; without any, those of a new figure of pyplot

    Returns the axes. The numbers on the right are lower, expected and upper value; the standard deviation is that of
    the mean over all orderings of tied items, mostly much smaller than the interval. Raises MissingExtraError without
    matplotlib.

    >>> import tieproof as tp
    >>> result = tp.evaluate_scores([[2, 1, 1]], [[0, 1, 0]], measures=["AP", "P@1"])
    >>> axes = plot_measures(result, style.figure("This example")[1])
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['AP', 'P@1']
    """
    names = result.measures
    ax = style.axes_or_new(ax, "Result.plot", height=height(len(names)))
    estimates = [result[name] for name in names]
    draw_intervals(ax, range(len(names)), estimates)
    for column, heading in enumerate(("lower", "expected", "upper")):
        beside = {"textcoords": "offset points", "va": "center", "fontsize": 9, "annotation_clip": False}
        ax.annotate(heading, (1, 1), xytext=(10 + 50 * column, 8), xycoords="axes fraction", **beside)
        for place, estimate in enumerate(estimates):
            number = f"{getattr(estimate, heading):.4f}"
            ax.annotate(number, (1, place), xytext=(10 + 50 * column, 0), xycoords=ax.get_yaxis_transform(), **beside)
    ax.set(
        xlim=(0, 1), ylim=(len(names) - 0.4, -0.6), xlabel="mean over the queries, for all orderings of tied items"
    )
    ax.set_yticks(range(len(names)), names)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2)
    style.tidy(ax)
    return ax
