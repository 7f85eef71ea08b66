"""`tieproof leaderboard`."""

import shlex
from collections.abc import Sequence
from pathlib import Path
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
from tieproof.cli.output import answer, check_lines, page_of, written
from tieproof.cli.streams import say
from tieproof.cli.verify import DISAGREES, with_data
from tieproof.cli.verify import command as verify_command
from tieproof.errors import InputError
from tieproof.judge import Leaderboard, leaderboard
from tieproof.judge.leaderboard_tables import render
from tieproof.judge.standings import DIFFERS
from tieproof.records.record import EXTENSION, load
from tieproof.show.files import MEANS
from tieproof.show.printable import in_one_line

HELP = (
    "Rank all systems whose records are in a folder; systems that cannot be told apart share a rank. "
    "Every tie is broken against the system.\n\n"
    "The rank of a system is 1 + the number of systems ahead of it. A system is ahead if its lower bound is larger "
    "by more than the choice of queries is likely to explain. Scores are read from the records; the logs of tieproof "
    "judge tell which records are runs of the same system. Records are marked as not verified unless --verify gives "
    "their data.\n\n"
    f"Exit status: 0, {DISAGREES} if a record differs from its data, 2 for bad input."
)

EXAMPLES = (
    "tieproof leaderboard judged",
    "tieproof leaderboard judged --html board.html --json board.json",
    "tieproof leaderboard judged -m AP -q",
    "tieproof leaderboard judged --verify 'ours.tieproof ours.npz' --verify 'theirs.tieproof theirs.npz'",
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
@option(
    "--verify",
    metavar="WORDS",
    multiple=True,
    text="Verify a record of the folder. The words are those after tieproof verify: the record and its data. "
    "Repeat it for each record.",
)
@lines_option("rank, lower bound and name of each system")
@options.json
@file_option("--html", text="Write the leaderboard as a page (.html).")
def command(
    folder: str,
    measures: Sequence[str],
    confidence: float,
    verify: Sequence[str],
    lines: bool,
    json: Text,
    html: Text,
) -> None:
    """Read the records, verify those with data, rank the systems, write and show the leaderboard."""
    check_lines(lines, json)
    check_options(measures=measures or None)
    data = dict(data_of(folder, words) for words in verify)
    options: dict[str, Any] = {"measures": measures or None, "confidence": confidence, "verify": data}
    read = [Path(word) for words in verify for word in shlex.split(words)]
    outputs = [(json, MEANS), (html, page_of(html, "judge.leaderboard_tables"))]
    board = written(lambda: leaderboard(folder, **options), read, outputs)
    if lines:
        say(in_short(board))
    else:
        answer(json, render, board)
    if any(each.record == DIFFERS for each in board.standings):
        raise click.exceptions.Exit(DISAGREES)


def data_of(folder: str, words: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a record, and its data by the names of the arguments."""
    try:
        given = verify_command.make_context("--verify", shlex.split(words)).params
    except (ValueError, click.UsageError) as error:
        raise InputError(
            f"--verify {words!r} needs a record and its data, as after tieproof verify: {error}"
        ) from error
    if given.pop("json"):
        raise InputError(f"--verify {words!r} has the option --json, which only tieproof verify takes.")
    record = Path(folder) / Path(given.pop("record")).name
    call = load(record).evaluated.origin.call
    names = ("qrels", "run") if call == "evaluate_run" else ("embeddings", "labels")

    def by_name(first: Any, second: Any, **options: Any) -> dict[str, Any]:
        return {names[0]: first, names[1]: second, **options}

    return record.name.removesuffix(EXTENSION), with_data(by_name, call, str(record), [], **given)


def in_short(board: Leaderboard) -> str:
    """Return a line for each system, with its name last."""
    return "\n".join(
        f"{'-' if each.rank is None else each.rank}\t{each.scores[board.measure].lower!r}\t{in_one_line(each.name)}"
        for each in board.standings
    )
