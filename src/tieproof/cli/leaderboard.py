"""`tieproof leaderboard`."""

from collections.abc import Sequence
from typing import Any

import click

from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.options import (
    Text,
    between_0_and_1,
    check_options,
    file_argument,
    file_option,
    measures_option,
    option,
)
from tieproof.cli.output import STANDARD_OUTPUT, answer, written
from tieproof.cli.reports import page_of
from tieproof.cli.streams import say
from tieproof.errors import InputError
from tieproof.judge import Leaderboard, leaderboard
from tieproof.views.printable import in_one_line
from tieproof.views.text.files import MEANS
from tieproof.views.text.leaderboard import render

HELP = (
    "Rank all systems whose records lie in a folder; those that cannot be told apart share a rank. "
    "Every tie is broken against each of them.\n\n"
    "A rank is 1 + the number of systems that are ahead: whose lower bound is larger by more than the choice of "
    "queries is likely to explain. Scores come from the records; the logs of tieproof judge say which of them are "
    "runs of one system."
)

EXAMPLES = (
    "tieproof leaderboard judged",
    "tieproof leaderboard judged --html board.html --json board.json",
    "tieproof leaderboard judged -m AP -q",
)


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@file_argument("folder", meaning="Records of the same queries (.tieproof), and logs of tieproof judge.")
@measures_option(
    text="What is shown; the first one ranks. Default: those of the records.",
)
@option(
    "--confidence",
    metavar="SHARE",
    default=0.95,
    parser=between_0_and_1,
    text="1 - SHARE is the level at which two systems are told apart.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print rank, lower bound and name of each system, nothing else.")
@options.json
@file_option("--html", text="Write a page to look at and to send (.html).")
def command(folder: str, measures: Sequence[str], confidence: float, quiet: bool, json: Text, html: Text) -> None:
    """Read, rank, write, show."""
    if quiet and json == STANDARD_OUTPUT:
        raise InputError("-q and --json - both print on standard output; give the JSON a file.")
    check_options(measures=measures or None)
    options: dict[str, Any] = {"measures": measures or None, "confidence": confidence}
    board = written(lambda: leaderboard(folder, **options), [], [(json, MEANS), (html, page_of(html, "leaderboard"))])
    if quiet:
        say(in_short(board))
    else:
        answer(json, render, board)


def in_short(board: Leaderboard) -> str:
    """A line for each system, its name last."""
    return "\n".join(
        f"{'-' if each.rank is None else each.rank}\t{each.scores[board.measure].lower!r}\t{in_one_line(each.name)}"
        for each in board.standings
    )
