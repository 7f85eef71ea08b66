"""The picture of the differences of two systems, query by query."""

from typing import Any

from tieproof.measures import Measure
from tieproof.results.comparison import Comparison
from tieproof.views.pictures import style
from tieproof.views.pictures.names import families, shortened
from tieproof.views.pictures.sorted_queries import default_measure, draw_sorted, sort

NAMES = 24
"""The most columns of a system's name."""


def plot_query_differences(
    found: Comparison, a: str, b: str, measure: str | Measure | None = None, ax: Any = None
) -> Any:
    """Draw the difference of two systems on each query, sorted by expected difference.

    found : the result of `tieproof.compare`
    a, b : two of its systems; above 0, the first system is better
    measure : one of the measures that were compared; by default AP, or the first one of a comparison without AP
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. A band goes from the smallest to the largest difference over all orderings of tied items, where
    the orderings of the two systems are independent. More than 400 queries are drawn as 400 steps, each a mean over
    neighbours in the sorted order. Queries whose value is NaN are left out. Raises InputError for a system or a
    measure that the comparison does not have, and MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> lists, relevance = [[2, 1], [2, 1], [1, 2]], [[1, 0], [1, 0], [1, 0]]
    >>> one, other = (tp.evaluate_scores(each, relevance, measures=["RR"]) for each in (lists, lists[::-1]))
    >>> axes = plot_query_differences(
    ...     tp.compare({"one": one, "other": other}), "one", "other", "RR", style.figure("This example")[1]
    ... )
    >>> print(axes.get_title("left"))
    RR of one - other
    wins 1, losses 1, draws 1
    """
    measure = measure or default_measure(found.measures)
    values, difference = found.per_query(a, b, measure), found[a, b, measure]
    style.matplotlib("Comparison.plot_queries")
    shown = sort(found.query_ids, values)
    ax = style.axes_or_new(ax, "Comparison.plot_queries", height=shown.height + 0.4)
    draw_sorted(ax, shown, "expected difference")
    one, other = shortened([a, b], NAMES)
    ax.axhline(0, color=style.GREY, linewidth=1, zorder=0)
    ax.set_ylabel(f"difference in {measure}")
    style.short_numbers(ax.yaxis)
    outcomes = f"wins {difference.wins:,}, losses {difference.losses:,}, draws {difference.draws:,}"
    words = {"loc": "left", "fontsize": 10, "pad": 22, "parse_math": False, "fontfamily": families()}
    ax.set_title(f"{measure} of {one} - {other}\n{outcomes}", **words)
    low, high = min(shown.limits[0], 0.0), max(shown.limits[1], 0.0)
    margin = 0.04 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)
    return ax
