"""`tieproof leaderboard`."""

from collections.abc import Sequence
from typing import Any

import click

from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.options import (
    EARLIER_NAMES,
    Text,
    between_0_and_1,
    check_options,
    file_argument,
    file_option,
    lines_option,
    measures_option,
    option,
)
from tieproof.cli.output import answer, check_lines, written
from tieproof.cli.reports import page_of
from tieproof.cli.streams import say
from tieproof.judge import Leaderboard, leaderboard
from tieproof.views.printable import in_one_line
from tieproof.views.text.files import MEANS
from tieproof.views.text.leaderboard import render

HELP = (
    "Rank all systems whose records are in a folder; systems that cannot be told apart share a rank. "
    "Every tie is broken against the system.\n\n"
    "The rank of a system is 1 + the number of systems ahead of it. A system is ahead if its lower bound is larger "
    "by more than the choice of queries is likely to explain. Scores are read from the records; the logs of tieproof "
    "judge tell which records are runs of the same system."
)

EXAMPLES = (
    "tieproof leaderboard judged",
    "tieproof leaderboard judged --html board.html --json board.json",
    "tieproof leaderboard judged -m AP -q",
)


@click.command(cls=Command, help=HELP, examples=EXAMPLES, context_settings=EARLIER_NAMES)
@file_argument(
    "folder", meaning="A folder of records of the same queries (.tieproof), and of logs of tieproof judge."
)
@measures_option(
    text="A measure to show, or several with commas between them; the first one ranks. Default: all of the records.",
)
@option(
    "--confidence",
    metavar="SHARE",
    default=0.95,
    parser=between_0_and_1,
    text="The confidence with which systems are told apart; 1 - SHARE is the level of the tests.",
)
@lines_option("rank, lower bound and name of each system")
@options.json
@file_option("--html", text="Write the leaderboard as a page (.html).")
def command(folder: str, measures: Sequence[str], confidence: float, lines: bool, json: Text, html: Text) -> None:
    """Read the records, rank the systems, write and show the leaderboard."""
    check_lines(lines, json)
    check_options(measures=measures or None)
    options: dict[str, Any] = {"measures": measures or None, "confidence": confidence}
    board = written(lambda: leaderboard(folder, **options), [], [(json, MEANS), (html, page_of(html, "leaderboard"))])
    if lines:
        say(in_short(board))
    else:
        answer(json, render, board)


def in_short(board: Leaderboard) -> str:
    """Return a line for each system, with its name last."""
    return "\n".join(
        f"{'-' if each.rank is None else each.rank}\t{each.scores[board.measure].lower!r}\t{in_one_line(each.name)}"
        for each in board.standings
    )
