"""The pictures of a comparison: every difference with its intervals, and the differences query by query."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tieproof.analyses.compare.tables import outcomes
from tieproof.analyses.compare.verdicts import Difference
from tieproof.measures import Measure
from tieproof.show import style
from tieproof.show.drawing import default_measure, draw_sorted, sort
from tieproof.show.files import pictures, takes_path
from tieproof.show.parts import count
from tieproof.show.style import families, shortened

if TYPE_CHECKING:
    from tieproof.analyses.compare.result import Comparison

_NAMES_WIDTH = 20  # the most columns of a system's name
_VERDICT = 26  # the most columns of a line of a verdict
_MOST = 40  # the most differences that a picture has room for


@takes_path
def plot(found: "Comparison", ax: Any = None) -> Any:
    """Draw the mean difference of every pair in every measure, with both its intervals, and the verdict in words.

    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. Bars go from the smallest to the largest difference over all orderings of tied items ("ties"),
    with a mark at the smallest one ("lower"); whiskers over the confidence interval of the expected difference
    ("queries"). At most 40 differences are drawn, of the first measures, and always at least one measure. Raises
    MissingExtraError if matplotlib is not installed.

    >>> import numpy as np
    >>> import tieproof as tp
    >>> relevance = np.eye(10)
    >>> systems = {"ours": relevance, "base": -relevance}
    >>> results = {name: tp.evaluate_scores(each, relevance, measures=["RR"]) for name, each in systems.items()}
    >>> axes = tp.compare(results).plot(style.figure("This example")[1])
    >>> print(*(label.get_text() for label in axes.get_yticklabels()), axes.texts[0].get_text(), sep="; ")
    RR; ours
    - base; ours is better
    whatever the ties
    """
    names = dict(zip(found.systems, shortened(found.systems, _NAMES_WIDTH), strict=True))
    shown: list[tuple[str, Difference | None]] = []  # for each measure its name, then every pair
    for measure in _measures_shown(found):
        shown.append((measure, None))
        shown += [(f"{names[a]}\n- {names[b]}", found[a, b, measure]) for a, b in found.pairs]
    ax = style.axes_or_new(ax, "Comparison.plot", height=1.9 + 0.4 * len(shown))
    drawn = {place: difference for place, (_, difference) in enumerate(shown) if difference is not None}
    _draw_differences(ax, [*drawn], [*drawn.values()], found.confidence)
    text = {"va": "center", "fontsize": 8, "parse_math": False, "fontfamily": families()}
    beside = {"textcoords": "offset points", "xytext": (8, 0), "annotation_clip": False}
    for place, difference in drawn.items():
        ax.annotate(_verdict_of(difference, names), (1, place), xycoords=ax.get_yaxis_transform(), **beside, **text)
    ax.axvline(0, color=style.GRAY, linewidth=1, zorder=0)
    ends = [end for each in drawn.values() for end in (0.0, each.lower, each.upper, *each.interval)]
    margin = 0.05 * (max(ends) - min(ends)) or 1.0
    ax.set_xlim(min(ends) - margin, max(ends) + margin)
    ax.set_xlabel("mean difference: right of 0 the first system is better")
    style.name_rows(ax, [name for name, _ in shown], 9, [place for place in range(len(shown)) if place not in drawn])
    style.short_numbers(ax.xaxis)
    ax.set_title(style.wrapped(_title(found)), loc="left", fontsize=10)
    return style.tidy(ax, legend=4)


def _draw_differences(ax: Any, places: Sequence[int], differences: Sequence[Difference], confidence: float) -> None:
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


def _measures_shown(comparison: "Comparison") -> tuple[str, ...]:
    return comparison.measures[: max(1, _MOST // len(comparison.pairs))]


def _verdict_of(difference: Difference, names: dict[str, str]) -> str:
    verdict = difference.verdict
    if verdict.better is None:
        return textwrap.fill(verdict.name, _VERDICT)
    return f"{names[verdict.better]} is better\n{verdict.name.removeprefix('better ')}"


def _title(comparison: "Comparison") -> str:
    corrected = f", {comparison.correction} correction" if comparison.correction else ""
    tested = f"Differences on {count(comparison.queries, 'query')}, {comparison.test} test{corrected}"
    shown = len(_measures_shown(comparison))
    several = count(len(comparison.measures), "measure")
    return tested if shown == len(comparison.measures) else f"{tested}; the first {shown} of {several}"


@takes_path
def plot_queries(found: "Comparison", a: str, b: str, measure: str | Measure | None = None, ax: Any = None) -> Any:
    """Draw the difference of two systems on each query, sorted by expected difference.

    a, b : two of its systems; above 0, the first system is better
    measure : one of the measures that were compared; by default AP, or the first one of a comparison without AP
    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. A band goes from the smallest to the largest difference over all orderings of tied items, where
    the orderings of the two systems are independent. More than 400 queries are drawn as 400 steps, each a mean over
    neighbors in the sorted order. Queries whose value is NaN are left out. Raises InputError for a system or a
    measure that the comparison does not have, and MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> lists, relevance = [[2, 1], [2, 1], [1, 2]], [[1, 0], [1, 0], [1, 0]]
    >>> one, other = (tp.evaluate_scores(each, relevance, measures=["RR"]) for each in (lists, lists[::-1]))
    >>> found = tp.compare({"one": one, "other": other})
    >>> axes = found.plot_queries("one", "other", "RR", style.figure("This example")[1])
    >>> print(axes.get_title("left"))
    RR of one - other
    one won 1, lost 1, drew 1
    """
    measure = measure or default_measure(found.measures)
    values, difference = found.per_query(a, b, measure), found[a, b, measure]
    style.matplotlib("Comparison.plot_queries")
    shown = sort(found.query_ids, values)
    ax = style.axes_or_new(ax, "Comparison.plot_queries", height=shown.height + 0.4)
    draw_sorted(ax, shown, "expected difference")
    one, other = shortened([a, b], _NAMES_WIDTH)
    ax.axhline(0, color=style.GRAY, linewidth=1, zorder=0)
    ax.set_ylabel(f"difference in {measure}")
    style.short_numbers(ax.yaxis)
    words = {"loc": "left", "fontsize": 10, "pad": 22, "parse_math": False, "fontfamily": families()}
    ax.set_title(f"{measure} of {one} - {other}\n{outcomes(difference, one)}", **words)
    low, high = min(shown.limits[0], 0.0), max(shown.limits[1], 0.0)
    margin = 0.04 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)
    return ax


COMPARISONS = pictures(plot)
