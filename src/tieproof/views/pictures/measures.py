"""The picture of a result: the interval of each measure, and of the first measure in each category."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Any, NamedTuple

from tieproof.results.results import Result
from tieproof.ties import Estimate
from tieproof.views.pictures import style
from tieproof.views.pictures.intervals import draw_intervals
from tieproof.views.pictures.names import families, shortened
from tieproof.views.text.parts import NUMBERS
from tieproof.views.text.text import evaluated
from tieproof.views.worst_and_best import worst_and_best

NAMES = 28
"""The most columns of the name of a measure or a category."""

FIRST_NUMBER, NEXT_NUMBER = 42, 48
"""The distance in points from the axes to the end of the first column of numbers, and between columns."""

OVER = {"micro": "queries", "macro": "categories"}
"""What a mean is computed over."""


class Line(NamedTuple):
    """A row of the picture: a name with an estimate, or only a text."""

    name: str
    estimate: Estimate[float] | None


def height(result: Result) -> float:
    """The height of the picture in inches, so that all measures and categories are legible.

    >>> import tieproof as tp
    >>> height(tp.evaluate_scores([[2, 1, 1]], [[0, 1, 0]], measures=["AP", "P@1"]))
    2.54
    """
    return inches(lines(result))


def inches(shown: Sequence[Line]) -> float:
    """The height in inches for a number of rows."""
    return 1.9 + 0.32 * len(shown)


def plot_measures(result: Result, ax: Any = None) -> Any:
    """Draw each measure as a line from its lower to its upper value, with its expected value and standard deviation.

    result : the result of any evaluation
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. The numbers on the right are the lower, expected and upper value and the standard deviation of
    the mean over all orderings of tied items, which is mostly much smaller than the interval. If the result has
    categories, the first measure is also drawn for each of them or, if there are more than 20, for the five worst and
    the five best. Raises MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> result = tp.evaluate_scores([[2, 1, 1]], [[0, 1, 0]], measures=["AP", "P@1"])
    >>> axes = plot_measures(result, style.figure("This example")[1])
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['AP', 'P@1']
    """
    shown = lines(result)
    ax = style.axes_or_new(ax, "Result.plot", height=inches(shown))
    drawn = [(place, line.estimate) for place, line in enumerate(shown) if line.estimate is not None]
    places, estimates = zip(*drawn, strict=True)
    draw_intervals(ax, places, estimates)
    for column, heading in enumerate(NUMBERS):
        write(ax, column, (1, 1), 10, heading, "axes fraction")
        for place, estimate in drawn:
            write(ax, column, (1, place), 0, style.number(astuple(estimate)[column]), ax.get_yaxis_transform())
    ends = style.limits(min(each.lower for each in estimates), max(each.upper for each in estimates))
    across = f"mean over the {OVER[result.setting.average]}, for all orderings of tied items"
    ax.set(xlim=ends, ylim=(len(shown) - 0.4, -0.6), xlabel=across)
    ax.set_yticks(range(len(shown)), shortened([line.name for line in shown], NAMES), parse_math=False)
    for label in ax.get_yticklabels():
        label.set_fontfamily(families())
    ax.tick_params(axis="y", length=0)
    style.short_numbers(ax.xaxis)
    ax.set_title(style.wrapped(evaluated(result)), loc="left", fontsize=10, pad=22, parse_math=False)
    style.legend_below(ax, 2)
    style.tidy(ax)
    return ax


def lines(result: Result) -> list[Line]:
    """The rows of the picture: the means of all measures, then the first measure in the categories that are shown."""
    means = [Line(name, result[name]) for name in result.measures]
    return [*means, *lines_of_categories(result, result.measures[0])] if result.categories else means


def lines_of_categories(result: Result, measure: str) -> Iterator[Line]:
    """The rows of one measure in the categories that are shown, under a heading."""
    first, between, last = worst_and_best(result, measure)
    yield Line(f"{measure} by category:", None)
    yield from (Line(*named) for named in first)
    if between:
        yield Line(f"({between:,} more)", None)
    yield from (Line(*named) for named in last)


def write(ax: Any, column: int, place: tuple[float, float], above: float, text: str, coordinates: Any) -> None:
    """Write a number, or the header of its column, on the right of the axes."""
    beside = {"textcoords": "offset points", "ha": "right", "va": "center", "fontsize": 9, "annotation_clip": False}
    offset = (FIRST_NUMBER + NEXT_NUMBER * column, above)
    ax.annotate(text, place, xytext=offset, xycoords=coordinates, **beside)
