"""The page of a leaderboard: `templates/leaderboard.html` with its numbers."""

import os
from typing import Any

from tieproof.results.leaderboards import Leaderboard
from tieproof.views.pages.figures import Axis
from tieproof.views.pages.page import write_page
from tieproof.views.text.parts import count, percent

AHEAD, BEHIND, EVEN, ITSELF = "ahead", "behind", "not told apart", ""
"""The relation of a row's system to a column's."""


def report(board: Leaderboard, path: str | os.PathLike[str]) -> None:
    """Write the page of a leaderboard; see `Leaderboard.report`."""
    write_page(board, path, contents)


def contents(board: Leaderboard) -> tuple[str, dict[str, Any]]:
    """The template of the page, and the values that it shows."""
    scores = [each.scores[board.measure] for each in board.standings]
    ends = [end for score in scores for end in (score.ties.lower, score.ties.upper)]
    ends += [end for score in scores if score.queries for end in (score.queries.low, score.queries.high)]
    return "leaderboard.html", {
        "title": f"{count(len(board.standings), 'system')} by {board.measure}",
        "board": board,
        "axis": Axis.around(ends),
        "level": percent(board.confidence),
        "against": against(board),
    }


def against(board: Leaderboard) -> dict[str, dict[str, str]]:
    """The relation of each ranked system to each other ranked system."""
    names = [each.name for each in board.standings if each.rank is not None]
    words = {
        each.name: dict.fromkeys(each.ahead_of, AHEAD) | dict.fromkeys(each.behind, BEHIND)
        for each in board.standings
    }
    return {
        row: {column: ITSELF if row == column else words[row].get(column, EVEN) for column in names} for row in names
    }
