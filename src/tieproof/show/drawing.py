"""What several pictures share: bars of intervals, and sorted values of single queries drawn as steps."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.show import style
from tieproof.show.style import columns, families, shortened
from tieproof.ties import Estimate, FloatArray, IntArray


def draw_intervals(ax: Any, places: npt.ArrayLike, estimates: Sequence[Estimate[float]]) -> None:
    """Draw each estimate as a horizontal line at its position on the y axis; its std is over orderings of ties.

    The ends are marked, so that an interval of width 0 is visible. The mark of the expected value is hollow, so that
    whiskers inside it are visible.
    """
    lower, expected, upper, std = np.array([(e.lower, e.expected, e.upper, e.std) for e in estimates]).T
    ax.hlines(places, lower, upper, color=style.SKY_BLUE, linewidth=9, label="lower to upper")
    ends = {"linestyle": "", "marker": "|", "markersize": 11, "markeredgewidth": 2, "color": style.BLUE}
    for values in (lower, upper):
        ax.plot(values, places, **ends)
    mark = {"fmt": "D", "markersize": 6, "markerfacecolor": "none", "markeredgewidth": 0.8, "color": style.ink()}
    ax.errorbar(expected, places, xerr=std, label="expected ± tie std", capsize=3, linewidth=1.2, **mark)


STEPS = 400  # the most steps: more than a reader can tell apart in a picture as wide as a page
_NAMED = 25  # the most queries whose names have room
_NAMES = 20  # the most columns of a query's name
_LEVEL = 4  # the most columns of a name that is not rotated


def default_measure(measures: Sequence[str]) -> str:
    """Return AP, or the first of measures without AP."""
    return "AP" if "AP" in measures else measures[0]


class Sorted(NamedTuple):
    """Queries that have a value, sorted by expected value."""

    values: FloatArray  # (3, Q) the lower, expected and upper values
    names: list[str]  # the names of the queries; empty if there are too many to show

    @property
    def queries(self) -> int:
        """The number of queries Q."""
        return int(self.values.shape[1])

    @property
    def height(self) -> float:
        """The height of the picture in inches, so that names leave room for the axes."""
        longest = max(map(columns, self.names), default=0)
        return 3.5 + 0.068 * longest if longest > _LEVEL else 3.5

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest value that is drawn; 0 and 0 if there are no queries."""
        _, steps = in_steps(self.values, STEPS)
        return (float(steps[0].min()), float(steps[2].max())) if self.queries else (0.0, 0.0)


def in_steps(values: FloatArray, most: int) -> tuple[IntArray, FloatArray]:
    """The first places of at most `most` steps of values (…, n), and the end, (s + 1,), and their means, (…, s)."""
    count = values.shape[-1]
    edges = np.linspace(0, count, min(count, most) + 1).astype(np.int64)
    return edges, np.add.reduceat(values, edges[:-1], axis=-1) / np.diff(edges) if count else values


def sort(ids: npt.NDArray[Any], estimate: Estimate[FloatArray]) -> Sorted:
    """Sort queries by expected, upper and lower value, and finally by id; leave out NaN."""
    values = np.array([estimate.lower, estimate.expected, estimate.upper])
    order = np.lexsort((ids, values[0], values[2], values[1]))
    order = order[~np.isnan(values[1, order])]
    return Sorted(values[:, order], shortened(ids[order].tolist(), _NAMES) if len(order) <= _NAMED else [])


def draw_sorted(ax: Any, queries: Sorted, by: str) -> None:
    """Draw queries, sorted `by` a value, as at most 400 steps, with their axis and a legend."""
    edges, (lower, expected, upper) = in_steps(queries.values, STEPS)
    ax.stairs(upper, edges, baseline=lower, fill=True, color=style.SKY_BLUE, label="lower to upper")
    for ends in (lower, upper):
        ax.hlines(ends, edges[:-1], edges[1:], color=style.BLUE, linewidth=1)
    ax.hlines(expected, edges[:-1], edges[1:], color=style.ink(), linewidth=2, label="expected")
    steps = f" (steps: means of about {queries.queries / STEPS:,.0f})" if queries.queries > STEPS else ""
    ax.set(xlim=(0, max(queries.queries, 1)), xlabel=f"queries, sorted by their {by}{steps}")
    if queries.names:
        turned = {"rotation": 90, "fontsize": 8} if max(map(columns, queries.names)) > _LEVEL else {}
        ax.set_xticks(edges[:-1] + 0.5, queries.names, parse_math=False, fontfamily=families(), **turned)
    else:
        style.whole_numbers(ax.xaxis)
    style.short_numbers(ax.yaxis)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.2, fontsize=9)
    style.tidy(ax)
