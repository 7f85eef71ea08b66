"""The picture of a measure over the queries: the interval of each query."""

from typing import Any

from tieproof.measures import Measure
from tieproof.results.results import Result
from tieproof.views.pictures import style
from tieproof.views.pictures.sorted_queries import default_measure, draw_sorted, sort
from tieproof.views.text.parts import count as counted


def plot_queries(result: Result, measure: str | Measure | None = None, ax: Any = None) -> Any:
    """Draw the interval of each query from its lower to its upper value, sorted by expected value.

    result : the result of any evaluation
    measure : one of the measures of the result; by default AP, or the first one of a result without AP
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. More than 400 queries are drawn as 400 steps, each a mean over neighbours in the sorted order,
    so that the areas under the three lines are always the means of the measure. Queries whose value is NaN are left
    out. The axis starts at 0, unless all values are within a small part of it. If there are at most 25 queries, their
    names are shown, in 20 columns. Raises InputError for a measure that the result does not have, and
    MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> result = tp.evaluate_scores([[2, 1, 1], [3, 2, 1]], [[0, 1, 0], [1, 0, 0]], measures=["RR"])
    >>> axes = plot_queries(result, "RR", style.figure("This example")[1])
    >>> axes.get_title("right"), [label.get_text() for label in axes.get_xticklabels()]
    ('RR of 2 queries', ['0', '1'])
    """
    measure = measure or default_measure(result.measures)
    estimate = result.per_query(measure)
    style.matplotlib("Result.plot_queries")
    found = sort(result.query_ids, estimate)
    ax = style.axes_or_new(ax, "Result.plot_queries", height=found.height)
    draw_sorted(ax, found, f"expected {measure}")
    ax.set_ylabel(str(measure))
    ax.set_title(f"{measure} of {counted(found.queries, 'query')}", loc="right", fontsize=11)
    ax.set_ylim(style.limits(*found.limits))
    return ax
