"""The picture of a leaderboard: the interval of every system, with its published number."""

from typing import TYPE_CHECKING, Any

from tieproof.show import style
from tieproof.show.drawing import draw_intervals
from tieproof.show.files import pictures, takes_path
from tieproof.show.parts import count
from tieproof.show.style import shortened

if TYPE_CHECKING:
    from tieproof.analyses.leaderboard.result import RankedSystems

_NAMES_WIDTH = 28  # the most columns of a system's name


@takes_path
def plot(board: "RankedSystems", ax: Any = None) -> Any:
    """Draw the interval of every system over the orderings of tied items, the first place at the top.

    ax : matplotlib axes to draw on, or the path of a picture to write; None for new axes

    Returns the axes. Bars go from the lower to the upper value, with the standard deviation around the expected
    one, and a mark at the published number if there is one. Raises MissingExtraError if matplotlib is not installed.

    >>> import tieproof as tp
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> run = {"q1": {"d1": 1.0, "d3": 1.0}, "q2": {"d3": 2.0, "d2": 1.0}}
    >>> axes = tp.leaderboard(qrels, {"one": run, "other": run}).plot(style.figure("This example")[1])
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['1  one', '1  other']
    """
    ax = style.axes_or_new(ax, "RankedSystems.plot", height=1.7 + 0.25 * len(board))
    scores = [each.score for each in board.systems]
    places = list(range(len(scores)))
    draw_intervals(ax, places, scores)
    printed = [(each.published, at) for at, each in enumerate(board.systems) if each.published is not None]
    if printed:
        mark = {"linestyle": "", "marker": "x", "markersize": 6, "color": style.VERMILION, "zorder": 3}
        ax.plot(*zip(*printed, strict=True), label="published", **mark)
    names = shortened([each.name for each in board.systems], _NAMES_WIDTH)
    style.name_rows(ax, [f"{each.place}  {name}" for each, name in zip(board.systems, names, strict=True)], 8)
    ax.set_xlabel(board.measure, parse_math=False)
    ax.set_title(style.wrapped(f"{count(len(places), 'system')}: what ties leave open"), loc="left", fontsize=10)
    return style.tidy(ax, legend=3)


BOARDS = pictures(plot)
