"""The picture of a measure over the queries: what each can score."""

from typing import Any

import numpy as np

from tieproof.measures import Measure
from tieproof.results.results import Result
from tieproof.views.pictures import style
from tieproof.views.printable import printable
from tieproof.views.text.parts import count as counted

STEPS = 400
"""More than a reader can tell apart in a picture as wide as a page."""

NAMED = 25
"""Queries that have room for their names."""


def plot_queries(result: Result, measure: str | Measure = "AP", ax: Any = None) -> Any:
    """Draw what each query can score, from its lower to its upper value, sorted by its expectation.

    result : of any evaluation
    measure : one of those that the result has
    ax : axes of matplotlib to draw into; without any, those of a new figure of pyplot

    Returns the axes. More than 400 queries are drawn as 400 steps, each the means over neighbours in the sorted
    order: the areas under the three lines are the means of the measure in any case. Queries whose value is NaN are
    left out. Raises InputError for a measure that the result does not have, MissingExtraError without matplotlib.

    >>> import tieproof as tp
    >>> result = tp.evaluate_scores([[2, 1, 1], [3, 2, 1]], [[0, 1, 0], [1, 0, 0]], measures=["RR"])
    >>> axes = plot_queries(result, "RR", style.figure("This example")[1])
    >>> axes.get_title("right"), [label.get_text() for label in axes.get_xticklabels()]
    ('RR of 2 queries', ['0', '1'])
    """
    estimate = result.per_query(measure)
    ax = style.axes_or_new(ax, "Result.plot_queries")
    values = np.array([estimate.lower, estimate.expected, estimate.upper])
    order = np.lexsort((values[0], values[2], values[1]))
    order = order[~np.isnan(values[1, order])]
    count = len(order)
    edges = np.linspace(0, count, min(count, STEPS) + 1).astype(np.int64)
    lower, expected, upper = np.add.reduceat(values[:, order], edges[:-1], axis=1) / np.diff(edges)
    ax.stairs(upper, edges, baseline=lower, fill=True, color=style.SKY_BLUE, label="lower to upper")
    for values in (lower, upper):
        ax.hlines(values, edges[:-1], edges[1:], color=style.BLUE, linewidth=1)
    ax.hlines(expected, edges[:-1], edges[1:], color=style.BLACK, linewidth=2, label="expected")
    ax.set(xlim=(0, count), ylim=(0, 1.02), ylabel=str(measure))
    ax.set_title(f"{measure} of {counted(count, 'query')}", loc="right")
    steps = f" (steps: means of about {count / STEPS:,.0f})" if count > STEPS else ""
    ax.set_xlabel(f"queries, sorted by their expected {measure}{steps}")
    if count <= NAMED:
        names = [printable(name) for name in result.query_ids[order].tolist()]
        rotation = 90 if max(map(len, names)) > 4 else 0
        ax.set_xticks(edges[:-1] + 0.5, names, rotation=rotation, parse_math=False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2)
    style.tidy(ax)
    return ax
