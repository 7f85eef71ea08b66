"""The pictures of a comparison: every difference with its intervals, and the differences query by query."""

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from tieproof.comparison.result import Comparison
from tieproof.comparison.verdicts import Difference
from tieproof.measures import Measure
from tieproof.show import style
from tieproof.show.drawing import default_measure, draw_sorted, sort
from tieproof.show.parts import count as counted
from tieproof.show.style import families, shortened

NAMES_WIDTH = 20
"""The most columns of a system's name."""

VERDICT = 26
"""The most columns of a line of a verdict."""

MOST = 40
"""The most differences that a picture has room for."""


class Line(NamedTuple):
    """A row of the picture: a difference with its name and verdict, or the name of a measure."""

    name: str
    difference: Difference | None
    verdict: str


def height(found: Comparison) -> float:
    """The height of the picture in inches, so that all differences are legible."""
    return 1.9 + 0.4 * len(lines(found))


def plot_comparison(found: Comparison, ax: Any = None) -> Any:
    """Draw the mean difference of every pair in every measure, with both its intervals, and the verdict in words.

    found : the result of `tieproof.compare`
    ax : matplotlib axes to draw on; None for new ones

    Returns the axes. Bars go from the smallest to the largest difference over all orderings of tied items ("ties"),
    with a mark at the smallest one ("lower"); whiskers over the confidence interval of the expected difference
    ("queries"). At most 40 differences are drawn, of the first measures, and always at least one measure. Raises
    MissingExtraError if matplotlib is not installed.

    >>> import numpy as np
    >>> import tieproof as tp
    >>> relevance = np.eye(10)
    >>> systems = {"ours": relevance, "base": -relevance}
    >>> results = {name: tp.evaluate_scores(each, relevance, measures=["RR"]) for name, each in systems.items()}
    >>> axes = plot_comparison(tp.compare(results), style.figure("This example")[1])
    >>> print(*(label.get_text() for label in axes.get_yticklabels()), axes.texts[0].get_text(), sep="; ")
    RR; ours
    - base; ours is better
    whatever the ties
    """
    shown = lines(found)
    ax = style.axes_or_new(ax, "Comparison.plot", height=height(found))
    drawn = [(place, line.difference) for place, line in enumerate(shown) if line.difference is not None]
    draw_differences(ax, [place for place, _ in drawn], [each for _, each in drawn], found.confidence)
    beside = {"textcoords": "offset points", "va": "center", "fontsize": 8, "annotation_clip": False}
    for place, line in enumerate(shown):
        if line.difference is not None:
            words = {**beside, "parse_math": False, "fontfamily": families()}
            ax.annotate(line.verdict, (1, place), xytext=(8, 0), xycoords=ax.get_yaxis_transform(), **words)
    ax.axvline(0, color=style.GREY, linewidth=1, zorder=0)
    ends = [end for _, each in drawn for end in (0.0, each.lower, each.upper, *each.interval)]
    margin = 0.05 * (max(ends) - min(ends)) or 1.0
    ax.set(xlim=(min(ends) - margin, max(ends) + margin), ylim=(len(shown) - 0.4, -0.6))
    ax.set_xlabel("mean difference: right of 0 the first system is better")
    ax.set_yticks(range(len(shown)), [line.name for line in shown], parse_math=False)
    for label, line in zip(ax.get_yticklabels(), shown, strict=True):
        label.set(fontfamily=families(), fontsize=9, fontweight="normal" if line.difference else "bold")
    ax.tick_params(axis="y", length=0)
    style.short_numbers(ax.xaxis)
    ax.set_title(style.wrapped(title(found, len(drawn))), loc="left", fontsize=10)
    style.legend_below(ax, 4)
    style.tidy(ax)
    return ax


def draw_differences(ax: Any, places: Sequence[int], differences: Sequence[Difference], confidence: float) -> None:
    """Draw bars for the intervals over ties, and over them whiskers for the intervals over queries.

    Bootstrap intervals need not contain the value itself, so a whisker is a separate line.
    """
    ends = [(each.lower, each.upper) for each in differences], [each.interval for each in differences]
    queries = f"queries: {confidence:.0%} interval"
    bar = {"color": style.SKY_BLUE, "linewidth": 9, "label": "ties: lower to upper"}
    whisker = {"color": style.ink(), "linewidth": 1.2, "label": queries}
    for intervals, line, edge, size in zip(ends, (bar, whisker), (style.BLUE, style.ink()), (11, 8), strict=True):
        low, high = zip(*intervals, strict=True)
        ax.hlines(places, low, high, **line)
        for values in (low, high):
            ax.plot(values, places, linestyle="", marker="|", markersize=size, markeredgewidth=2, color=edge)
    mark = {"linestyle": "", "markersize": 6, "markeredgewidth": 0.8, "color": style.ink()}
    ax.plot([each.lower for each in differences], places, marker="o", label="lower", **mark)
    expected = [each.expected for each in differences]
    ax.plot(expected, places, marker="D", markerfacecolor="none", label="expected", **mark)


def lines(found: Comparison) -> list[Line]:
    """The rows of the picture: for each measure its name, then every pair."""
    names = dict(zip(found.systems, shortened(found.systems, NAMES_WIDTH), strict=True))
    result = []
    for measure in measures_shown(found):
        result.append(Line(measure, None, ""))
        for a, b in found.pairs:
            difference = found[a, b, measure]
            result.append(Line(f"{names[a]}\n- {names[b]}", difference, verdict_of(difference, names)))
    return result


def measures_shown(found: Comparison) -> tuple[str, ...]:
    """The first measures, as many as there is room for."""
    return found.measures[: max(1, MOST // len(found.pairs))]


def verdict_of(difference: Difference, names: dict[str, str]) -> str:
    """A verdict in a few words, wrapped."""
    verdict = difference.verdict
    if verdict.better is None:
        return textwrap.fill(verdict.name, VERDICT)
    return f"{names[verdict.better]} is better\n{verdict.name.removeprefix('better ')}"


def title(found: Comparison, drawn: int) -> str:
    """The title: the number of queries, and the test."""
    corrected = f", {found.correction} correction" if found.correction else ""
    tested = f"Differences on {counted(found.queries, 'query')}, {found.test} test{corrected}"
    shown = len(measures_shown(found))
    several = counted(len(found.measures), "measure")
    return tested if shown == len(found.measures) else f"{tested}; the first {shown} of {several}"


NAME_WIDTH = 24
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
    one, other = shortened([a, b], NAME_WIDTH)
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
