"""The picture of a distribution: how likely each value of a mean is."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tieproof.show import style
from tieproof.show.files import takes_path
from tieproof.show.parts import count
from tieproof.ties import Array

if TYPE_CHECKING:
    from tieproof.measures.distribution.distribution import Distribution

_BARS = 60  # the most bars, which are wide enough to be told apart


@takes_path
def plot_distribution(distribution: "Distribution", ax: Any = None) -> Any:
    """Draw the probability of each part of the range, with the central interval of 95 % and the three values."""
    # The bars are as wide as the axis is long where the probability is more than one in a million, so that the lowest
    # and the highest value may lie outside; they are named in the title.
    ax = style.axes_or_new(ax, "Distribution.plot")
    edges, chances = bars(distribution)
    ax.bar(edges[:-1], chances, np.diff(edges), align="edge", color=style.SKY_BLUE, label="probability")
    low, high = distribution.interval()
    expected, top = distribution.estimate.expected, float(chances.max())
    ax.plot([low, high], [-0.04 * top] * 2, color=style.BLUE, linewidth=4, label="95 % of the orders of ties")
    ax.plot([expected], [-0.04 * top], "D", markerfacecolor="none", color=style.ink(), label="expected")
    lower, upper = map(distribution._in_digits, (distribution.estimate.lower, distribution.estimate.upper))
    title = f"{count(distribution.queries, 'query')}; the lowest value is {lower}, the highest {upper}"
    ax.set_title(style.wrapped(title), loc="left", fontsize=10, parse_math=False)
    ax.set(ylim=(-0.1 * top, 1.08 * top), ylabel="probability of each bar")
    ax.set_xlabel(f"mean {distribution.name}, with ties broken at random", parse_math=False)
    style.short_numbers(ax.xaxis)
    style.short_numbers(ax.yaxis)
    return style.tidy(ax, legend=3)


def bars(distribution: "Distribution") -> tuple[Array, Array]:
    """Return the edges of the bars, (b + 1,), and the probability of each bar, (b,)."""
    low, high = distribution.quantile(1e-6).low, distribution.quantile(1.0 - 1e-6).high
    if high <= low:
        low, high = low - 0.5 * distribution.resolution, high + 0.5 * distribution.resolution
    aside = 0.5 * (high - low) / (_BARS - 1)
    edges = np.linspace(low - aside, high + aside, _BARS + 1)
    beyond = np.array([sum(distribution.at_least(edge)) / 2.0 for edge in edges.tolist()])
    beyond[0], beyond[-1] = 1.0, 0.0
    return edges, -np.diff(beyond)
