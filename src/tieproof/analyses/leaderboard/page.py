"""The page of a leaderboard: `templates/board.html` with its numbers."""

from typing import TYPE_CHECKING, Any

from tieproof.show.pages.page import Axis
from tieproof.show.parts import count

if TYPE_CHECKING:
    from tieproof.analyses.leaderboard.result import RankedSystems


def contents(board: "RankedSystems") -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    ends = [end for each in board.systems for end in (each.score.lower, each.score.upper)]
    table = board._table()
    return "board.html", {
        "title": f"{count(len(board), 'system')} by {board.measure}",
        "board": board,
        "table": table,
        "axis": Axis.around(ends + [each.published for each in board.systems if each.published is not None]),
    }
