"""The picture of a measure over the queries: what each can score."""

from typing import Any

import numpy as np

from tieproof.measures import Measure
from tieproof.results.results import Result
from tieproof.ties import FloatArray
from tieproof.views.pictures import style
from tieproof.views.pictures.names import columns, families, shortened
from tieproof.views.text.parts import count as counted

STEPS = 400
"""More than a reader can tell apart in a picture as wide as a page."""

NAMED = 25
"""Queries that have room for their names."""

NAMES = 20
"""Columns for the name of a query."""

LEVEL = 4
"""Columns of a name that needs no turning."""


def plot_queries(result: Result, measure: str | Measure = "AP", ax: Any = None) -> Any:
    """Draw what each query can score, from its lower to its upper value, sorted by its expectation.

    result : of any evaluation
    measure : one of those that the result has
    ax : axes of matplotlib to draw into; without any, those of a new figure of pyplot

    Returns the axes. More than 400 queries are drawn as 400 steps, each the means over neighbours in the sorted
    order: the areas under the three lines are the means of the measure in any case. Queries whose value is NaN are
    left out. The axis starts at 0, but where all values lie within a small part of it. Up to 25 queries are named, in
    20 columns. Raises InputError for a measure that the result does not have, MissingExtraError without matplotlib.

    >>> import tieproof as tp
    >>> result = tp.evaluate_scores([[2, 1, 1], [3, 2, 1]], [[0, 1, 0], [1, 0, 0]], measures=["RR"])
    >>> axes = plot_queries(result, "RR", style.figure("This example")[1])
    >>> axes.get_title("right"), [label.get_text() for label in axes.get_xticklabels()]
    ('RR of 2 queries', ['0', '1'])
    """
    estimate = result.per_query(measure)
    values = np.array([estimate.lower, estimate.expected, estimate.upper])
    order = np.lexsort((result.query_ids, values[0], values[2], values[1]))
    order = order[~np.isnan(values[1, order])]
    count = len(order)
    names = shortened(result.query_ids[order].tolist(), NAMES) if count <= NAMED else []
    longest = max(map(columns, names), default=0)
    ax = style.axes_or_new(ax, "Result.plot_queries", height=height(longest))
    edges = np.linspace(0, count, min(count, STEPS) + 1).astype(np.int64)
    draw_steps(ax, values[:, order], edges)
    ax.set(xlim=(0, max(count, 1)), ylabel=str(measure))
    ax.set_title(f"{measure} of {counted(count, 'query')}", loc="right", fontsize=11)
    steps = f" (steps: means of about {count / STEPS:,.0f})" if count > STEPS else ""
    ax.set_xlabel(f"queries, sorted by their expected {measure}{steps}")
    if names:
        turned = {"rotation": 90, "fontsize": 8} if longest > LEVEL else {}
        ax.set_xticks(edges[:-1] + 0.5, names, parse_math=False, fontfamily=families(), **turned)
    else:
        style.whole_numbers(ax.xaxis)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2, fontsize=9)
    style.tidy(ax)
    return ax


def height(longest: int) -> float:
    """Inches in which names of so many columns leave room for the axes."""
    return 3.5 + 0.068 * longest if longest > LEVEL else 3.5


def draw_steps(ax: Any, values: FloatArray, edges: Any) -> None:
    """Lower, expected and upper value (3, Q), as steps from edge to edge; nothing where there are no queries."""
    if not values.size:
        return
    lower, expected, upper = np.add.reduceat(values, edges[:-1], axis=1) / np.diff(edges)
    ax.stairs(upper, edges, baseline=lower, fill=True, color=style.SKY_BLUE, label="lower to upper")
    for ends in (lower, upper):
        ax.hlines(ends, edges[:-1], edges[1:], color=style.BLUE, linewidth=1)
    ax.hlines(expected, edges[:-1], edges[1:], color=style.ink(), linewidth=2, label="expected")
    ax.set_ylim(style.limits(float(lower.min()), float(upper.max())))
    style.short_numbers(ax.yaxis)
