"""`tieproof judge`, which runs systems, and `tieproof leaderboard`, which ranks them."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import tieproof.trials.judge
from tieproof.cli import options
from tieproof.cli.exits import is_terminal, say
from tieproof.cli.options import (
    BETWEEN_0_AND_1,
    COUNT,
    FILE,
    NAME,
    Option,
    OptionKind,
    argument,
    check_options,
    command,
    lines,
    repeated,
    shared,
)
from tieproof.cli.output import Outputs, answer, check_lines, written
from tieproof.cli.verify import DISAGREES, with_data
from tieproof.cli.verify import verify as verify_command
from tieproof.errors import InputError
from tieproof.evaluation.records.record import load
from tieproof.evaluation.saving import EXTENSION
from tieproof.show.printable import in_one_line
from tieproof.trials.judge import Competition
from tieproof.trials.judge.items import contest_of
from tieproof.trials.judge.standings import DIFFERS

JUDGE = (
    "Run a system that nobody trusts on data that it has never seen, and score it. "
    "The creator of the system hands over a program, and never sees the test set.\n\n"
    "COMPETITION is the file of a competition (docs/competition_file.md). It gives the measures, the paths of items "
    "and labels, and the limits of time and memory. "
    "The system is given the items under meaningless names, batch by batch, each batch in a process and a folder of "
    "its own, and without network where bubblewrap is installed. It never gets the labels.\n\n"
    "SYSTEM is a command, module:function, podman:IMAGE with a command, or an address. A command contains {items} "
    "(the path of a folder with a file for each item) or {lines} (the path of a file with a line for each item). It "
    "prints a line with the name and the numbers of each item, or writes an array to {answers}. If the competition "
    "asks for distances, {pairs} is the path of the file of pairs.\n\n"
    "If the judge was killed, call it again: it resumes where it stopped."
)

JUDGE_EXAMPLES = (
    "tieproof judge competition.toml --system './system {items}'",
    "tieproof judge competition.toml --system 'python3 embed.py {lines} {answers}' --show model --name ours",
    "tieproof judge competition.toml --system my_system:embed --name random --runs 3 --json judgment.json",
)


@command(
    tieproof.trials.judge.judge,
    JUDGE,
    JUDGE_EXAMPLES,
    competition="The file of the competition, in TOML.",
    system=Option("The system to judge.", OptionKind("SYSTEM"), more={"required": True}),
    name=Option("The name of the system, which its files begin with.", NAME, more={"default": "system"}),
    out="The folder for records, answers and the log.",
    phase=Option("The phase whose test set is used. Default: the only phase.", NAME),
    runs=Option("The number of runs of the system. Default: that of the competition.", COUNT),
    seal="How the system is kept from everything but its items.",
    show=repeated("A file or folder that the system may read; repeat it for more.", FILE),
    lines=lines("only the lower bound by which systems are ranked"),
    **shared("json"),
)
def judge(outputs: Outputs, competition: str, system: str, phase: str | None, lines: bool, **settings: Any) -> None:
    """Read the competition, run and score the system, write and show the judgment."""
    check_lines(lines, outputs)
    judged_by = Competition.read(competition)
    judgment = written(
        lambda: tieproof.trials.judge.judge(
            judged_by, system, phase=phase, progress=is_terminal(sys.stderr), **settings
        ),
        [*contest_of(judged_by, phase).secrets],
        outputs,
    )
    if lines:
        say(repr(judgment[judgment.measures[0]].lower))  # the number by which systems are ranked
    else:
        answer(outputs, judgment)


LEADERBOARD = (
    "Rank all systems whose records are in a folder; systems that cannot be told apart share a rank. "
    "Every tie is broken against the system.\n\n"
    "The rank of a system is 1 + the number of systems ahead of it. A system is ahead if its lower bound is larger "
    "by more than the choice of queries is likely to explain. Scores are read from the records; the logs of tieproof "
    "judge tell which records are runs of the same system. Records are marked as not verified unless --verify gives "
    "their data.\n\n"
    f"Exit status: 0, {DISAGREES} if a record differs from its data, 2 for bad input."
)

LEADERBOARD_EXAMPLES = (
    "tieproof leaderboard judged",
    "tieproof leaderboard judged --html board.html --json board.json",
    "tieproof leaderboard judged -m AP -q",
    "tieproof leaderboard judged --verify 'ours.tieproof ours.npz' --verify 'theirs.tieproof theirs.npz'",
)


@command(
    tieproof.trials.judge.leaderboard,
    LEADERBOARD,
    LEADERBOARD_EXAMPLES,
    folder=argument("A folder of records of the same queries (.tieproof), and of logs of tieproof judge."),
    measures=options.measures(
        "A measure to show, or several with commas between them; the first one ranks. Default: all of the records."
    ),
    confidence=Option(
        "The confidence with which systems are told apart; 1 - SHARE is the level of the tests.", BETWEEN_0_AND_1
    ),
    verify=repeated(
        "Verify a record of the folder. The words are those after tieproof verify: the record and its data. Repeat "
        "it for each record.",
        OptionKind("WORDS"),
    ),
    lines=lines("rank, lower bound and name of each system"),
    **shared("json"),
    html=Option("Write the leaderboard as a page (.html).", formats="trials.judge.standings"),
)
def leaderboard(
    outputs: Outputs, folder: str, measures: Sequence[str], confidence: float, verify: Sequence[str], lines: bool
) -> None:
    """Read the records, verify those with data, rank the systems, write and show the leaderboard."""
    check_lines(lines, outputs)
    check_options(measures=measures or None)
    data = dict(_data_of(folder, words) for words in verify)
    board = written(
        lambda: tieproof.trials.judge.leaderboard(
            folder, measures=measures or None, confidence=confidence, verify=data
        ),
        [Path(word) for words in verify for word in shlex.split(words)],
        outputs,
    )
    if lines:
        for each in board.standings:
            rank = "-" if each.rank is None else each.rank
            say(f"{rank}\t{each.scores[board.measure].lower!r}\t{in_one_line(each.name)}")
    else:
        answer(outputs, board)
    if any(each.record == DIFFERS for each in board.standings):
        raise click.exceptions.Exit(DISAGREES)


def _data_of(folder: str, words: str) -> tuple[str, dict[str, Any]]:
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
