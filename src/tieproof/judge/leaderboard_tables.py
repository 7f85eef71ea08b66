"""A leaderboard as text and as a page: a row for each system, and the meaning of the ranks."""

import os
from collections.abc import Iterator
from typing import Any

from tieproof.judge.standings import NOT_VERIFIED, Leaderboard, Standing
from tieproof.show.pages.page import Axis, write_page
from tieproof.show.parts import NARROWEST, WIDTH, Row, count, paragraph, percent, table

HEADER = ("rank", "system", "lower", "ties up to", "queries 95%", "runs", "record")
RIGHT = ("rank", *HEADER[2:-1])


def render(found: Leaderboard, width: int | None = None, color: bool = False) -> str:
    """The table of all systems by the measure that ranks them, and notes on some systems.

    width : the number of columns to fit into; None for 80
    color : whether to use the escape sequences of a terminal
    """
    width = max(width or WIDTH, NARROWEST)
    rows = [row(each, found.measure) for each in found.standings]
    paragraphs = [paragraph(text, width) for text in sentences(found)]
    return "\n".join([table(HEADER, [rows], width, color, RIGHT), "", *paragraphs])


def row(standing: Standing, measure: str) -> Row:
    """The rank and the numbers of a system."""
    score = standing.scores[measure]
    queries = f"{score.queries.low:.4f}-{score.queries.high:.4f}" if score.queries else ""
    runs = f"{score.runs.smallest:.4f}-{score.runs.largest:.4f}" if score.runs.runs > 1 else ""
    rank = "-" if standing.rank is None else f"{standing.rank}"
    return rank, standing.name, f"{score.lower:.4f}", f"{score.ties.upper:.4f}", queries, runs, standing.record


def sentences(found: Leaderboard) -> Iterator[str]:
    """Sentences on the ranking and on shared ranks, and the notes on systems."""
    systems, level = count(len(found.standings), "system"), percent(found.confidence)
    yield (
        f"{systems} by {found.measure}, with every tie broken against each system. A rank is 1 + the number of "
        "systems that are ahead. A system is ahead if its lower bound is larger by more than the choice of queries "
        f"is likely to explain, at {level} for all pairs together (sign-flip test, Holm). Systems of equal rank are "
        "listed by their lower bounds; this order is not a ranking."
    )
    if any(standing.record == NOT_VERIFIED for standing in found.standings):
        yield "Not verified: the scores are those that a record states. --verify evaluates its data again."
    for standing in found.standings:
        if standing.notes:
            yield f"{standing.name}: {'; '.join(standing.notes)}."


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
