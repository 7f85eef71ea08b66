"""The picture of rank correlations: Spearman's coefficient, and its interval over all orders of tied values."""

from collections.abc import Mapping
from typing import Any

from tieproof.confidence import RankCorrelation
from tieproof.views.pictures import style


def plot_rank_correlations(found: Mapping[float, RankCorrelation], ax: Any = None) -> Any:
    """Draw rank correlations over a number that was varied.

    found : the rank correlation for each value of that number
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. The line is the coefficient with mean ranks, and the band its interval over all orders of tied
    values. Raises MissingExtraError if matplotlib is not installed.

    >>> from tieproof.confidence import rank_correlation
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
    style.legend_below(ax, 2)
    style.tidy(ax)
    return ax
