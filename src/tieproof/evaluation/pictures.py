"""The pictures of a result: the interval of each measure, category and query, and precision over recall."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.evaluation.measured import Measured, averaged
from tieproof.evaluation.text import evaluated, worst_and_best
from tieproof.measures import Measure, parse
from tieproof.show import style
from tieproof.show.drawing import default_measure, draw_intervals, draw_sorted, sort
from tieproof.show.files import pictures, takes_path
from tieproof.show.parts import NUMBERS, count, numbers
from tieproof.show.style import shortened
from tieproof.ties import Estimate

NAMES_WIDTH = 28  # the most columns of the name of a measure or a category
FIRST_NUMBER, NEXT_NUMBER = 42, 48  # points from the axes to the end of the first column, and between columns
CURVE_HEIGHT = 4.2  # the height of the picture of precision over recall, in inches
OVER = {"micro": "queries", "macro": "categories"}  # what a mean is computed over


def height(result: Measured) -> float:
    """The height of the picture in inches, so that all measures and categories are legible."""
    return 1.9 + 0.32 * len(list(_lines(result)))


@takes_path
def plot_measures(result: Measured, ax: Any = None) -> Any:
    """Draw each measure as a line from lower to upper value, with its expected value and standard deviation."""
    # The numbers on the right are those of the mean over all orderings of tied items; its standard deviation is
    # mostly much smaller than the interval. If the result has categories, the first measure is also drawn for each of
    # them or, if there are more than 20, for the five worst and the five best.
    ax = style.axes_or_new(ax, "Result.plot", height=height(result))
    names, every = zip(*_lines(result), strict=True)
    estimates = {position: estimate for position, estimate in enumerate(every) if estimate is not None}
    draw_intervals(ax, list(estimates), list(estimates.values()))
    beside = {"textcoords": "offset points", "ha": "right", "va": "center", "fontsize": 9, "annotation_clip": False}
    for column, heading in enumerate(NUMBERS):
        right = FIRST_NUMBER + NEXT_NUMBER * column
        ax.annotate(heading, (1, 1), xytext=(right, 10), xycoords="axes fraction", **beside)
        for position, estimate in estimates.items():
            number = numbers(estimate)[column]
            ax.annotate(number, (1, position), xytext=(right, 0), xycoords=ax.get_yaxis_transform(), **beside)
    lowest = min(estimate.lower for estimate in estimates.values())
    highest = max(estimate.upper for estimate in estimates.values())
    across = f"mean over the {OVER[result.setting.average]}, for all orderings of tied items"
    ax.set(xlim=style.limits(lowest, highest), xlabel=across)
    style.name_rows(ax, shortened(names, NAMES_WIDTH))
    style.short_numbers(ax.xaxis)
    ax.set_title(style.wrapped(evaluated(result)), loc="left", fontsize=10, pad=22, parse_math=False)
    return style.tidy(ax, legend=2)


def _lines(result: Measured) -> Iterator[tuple[str, Estimate[float] | None]]:
    """The lines, names with estimates or only texts: all measures, then categories for the first measure."""
    names = averaged(result)
    yield from ((name, result[name]) for name in names)
    if result.categories:
        first, between, last = worst_and_best(result, names[0])
        yield f"{names[0]} by category:", None
        yield from first
        if between:
            yield f"({between:,} more)", None
        yield from last


@takes_path
def plot_queries(result: Measured, measure: str | Measure | None = None, ax: Any = None) -> Any:
    """Draw the interval of each query from its lower to its upper value, sorted by expected value."""
    # More than 400 queries are drawn as 400 steps, each a mean over neighbors in the sorted order, so that the areas
    # under the three lines are always the means of the measure. Queries whose value is NaN are left out. The axis
    # starts at 0, unless all values are within a small part of it. The names of up to 25 queries are shown.
    measure = measure or default_measure(result.measures)
    estimate = result.per_query(measure)
    style.matplotlib("Result.plot_queries")
    queries = sort(result.query_ids, estimate)
    ax = style.axes_or_new(ax, "Result.plot_queries", height=queries.height)
    draw_sorted(ax, queries, f"expected {measure}")
    ax.set_ylabel(str(measure))
    ax.set_title(f"{measure} of {count(queries.queries, 'query')}", loc="right", fontsize=11)
    ax.set_ylim(style.limits(*queries.limits))
    return ax


@takes_path
def plot_precision_recall(result: Measured, ax: Any = None) -> Any:
    """Draw interpolated precision over recall: the expected curve, and the band over all orderings of tied items."""
    # Each value is the mean over the queries of the largest precision at any rank down to which the recall is
    # reached, as `IPrec` counts. The edges of the band are curves: one order of all ties gives the lower one, and
    # another the upper one. Refuses a result without these measures, or with several curves of them.
    levels = [measure for measure in map(parse, result.measures) if measure.name == "IPrec"]
    curves = {level(recall=0): level for level in levels}
    if len(curves) > 1:
        several = ", ".join(map(str, curves.values()))
        raise InputError(
            f"{several} belong to different curves of precision over recall. Evaluate those of one curve."
        )
    if len(levels) < 2:
        raise InputError(
            "This result has no precision at several levels of recall. Evaluate it with "
            "measures=tieproof.measures.PRECISION_RECALL, or other measures such as 'IPrec(recall=0.5)'."
        )
    ax = style.axes_or_new(ax, "Result.plot_precision_recall", height=CURVE_HEIGHT)
    found = sorted((float(level["recall"]), result[level]) for level in levels)
    recall, lower, expected, upper = np.array([(at, each.lower, each.expected, each.upper) for at, each in found]).T
    ax.fill_between(recall, lower, upper, color=style.SKY_BLUE, alpha=0.5, linewidth=1, label="lower to upper")
    ax.plot(recall, expected, color=style.BLUE, marker="o", markersize=4, label="expected")
    ax.set(xlim=(-0.02, 1.02), ylim=(0, 1.02), xlabel="recall", ylabel="interpolated precision")
    ax.set_title(style.wrapped(evaluated(result)), loc="left", fontsize=10, parse_math=False)
    return style.tidy(ax, legend=2)


PICTURES = pictures(plot_measures)  # extensions for the picture of all measures
CURVES = pictures(plot_precision_recall)  # extensions for the picture of precision over recall
