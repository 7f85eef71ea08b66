"""`tieproof leaderboard`: many runs against the same judgments, or the records in a folder."""

import os
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

import tieproof.trials.judge
from tieproof.analyses.leaderboard.leaderboard import measure_in_runs
from tieproof.analyses.leaderboard.published import read_published
from tieproof.analyses.leaderboard.result import BOARDS, RankedSystems
from tieproof.cli import options
from tieproof.cli.exits import say
from tieproof.cli.options import Option, OptionKind, Text, argument, command
from tieproof.cli.output import Outputs, answer, check_lines, written
from tieproof.cli.run import read_files
from tieproof.cli.truth import DISAGREES, with_data
from tieproof.cli.truth import verify as verify_command
from tieproof.errors import InputError
from tieproof.evaluation.records.record import load
from tieproof.evaluation.runs import as_in_runs, evaluate_run
from tieproof.evaluation.saving import EXTENSION
from tieproof.inputs.list_rules import DEFAULT
from tieproof.inputs.system_names import named
from tieproof.show.files import PAGE, PER_QUERY
from tieproof.show.printable import in_one_line
from tieproof.trials.judge.standings import DIFFERS, Leaderboard

# The options that only runs have.
OF_RUNS = ("published", "level", "precision", "truncated", *DEFAULT._fields, "csv", "plot")


@command(
    evaluate_run,
    "Rank many runs by one measure, with the places that ties alone leave open to each system, and those that the "
    "choice of queries leaves open. FILES are QRELS and the runs, as for tieproof run; a folder stands for the files "
    "in it. The name of a system is that of its file, without folder and known extensions.\n\n"
    "If FILES is only a folder, rank all systems whose records are in it; systems that cannot be told apart share a "
    "rank. Every tie is broken against the system. The rank of a system is 1 + the number of systems ahead of it. A "
    "system is ahead if its lower bound is larger by more than the choice of queries is likely to explain. Scores "
    "are read from the records; the logs of tieproof judge tell which records are runs of the same system. Records "
    "are marked as not verified unless --verify gives their data.\n\n"
    f"Exit status: 0, {DISAGREES} if a record differs from its data, 2 for bad input.",
    (
        "tieproof leaderboard qrels.txt runs/*.run -m nDCG@10",
        "tieproof leaderboard qrels.txt runs/*.run -m nDCG@10 --published published.tsv --html board.html",
        "tieproof leaderboard qrels.txt runs --precision float32 --csv board.csv",
        "tieproof leaderboard judged",
        "tieproof leaderboard judged --html board.html --json board.json",
        "tieproof leaderboard judged -m AP -q",
        "tieproof leaderboard judged --verify 'ours.tieproof ours.npz' --verify 'theirs.tieproof theirs.npz'",
    ),
    files=argument("QRELS and the runs of two or more systems, or a folder of records.", nargs=-1, required=True),
    measures=options.measures(
        "The measure that ranks. Default: AP of runs, the first one of records, of which several may be shown.",
        default=(),
    ),
    published=Option("The published numbers, each on a line with its system, or with a system and a measure."),
    confidence=Option(
        "The confidence with which systems are told apart; of records, 1 - SHARE is the level of the tests.",
        options.BETWEEN_0_AND_1,
        more={"default": 0.95},
    ),
    level=Option("As for tieproof run.", OptionKind("GRADE", float), ("--level", "-l")),
    missing="How a query scores that has relevant documents but is missing from a run; with skip, the queries that "
    "every run answers count.",
    empty="How a query scores that has nothing relevant.",
    precision="Round the scores first, as trec_eval before version 10 does to float32.",
    **options.shared("own duplicates documents"),
    truncated=options.flag("As for tieproof run: each list was cut off at its length.", "--truncated"),
    verify=options.repeated(
        "Verify a record of the folder. The words are those after tieproof verify: the record and its data. Repeat "
        "it for each record.",
        OptionKind("WORDS"),
    ),
    lines=options.lines("place or rank, lower bound and name of each system"),
    **options.shared("explain json latex markdown"),
    csv=Option(f"Write the table of runs ({', '.join(PER_QUERY)}).", formats=PER_QUERY),
    plot=Option(f"Draw the interval of each run ({', '.join(BOARDS)}).", formats=BOARDS),
    html=Option("Write the leaderboard as a page (.html).", formats=PAGE),
)
def leaderboard(outputs: Outputs, files: Sequence[str], lines: bool, verify: Sequence[str], **settings: Any) -> None:
    """Read the files, rank the systems, write and show the leaderboard."""
    board: RankedSystems | Leaderboard
    check_lines(lines, outputs)
    measures = as_in_runs(settings["measures"]) if len(files) > 1 else settings["measures"]
    options.check_options(measures=measures or None)
    if len(files) > 1:
        if verify:
            raise InputError("--verify is of records, but runs were given; leave it out.")
        board = _of_runs(outputs, files, **settings | {"measures": measures})
    else:
        for name in options.given_options():
            if name in OF_RUNS:
                raise InputError(f"--{name} is of runs, but a folder of records was given; give QRELS RUN RUN….")
        board = _of_records(outputs, files[0], verify, settings["measures"], settings["confidence"])
    if lines:
        for place, lower, name in board._lines():
            say(f"{'-' if place is None else place}\t{lower!r}\t{in_one_line(name)}")
    else:
        answer(outputs, board)
    if isinstance(board, Leaderboard) and any(each.record == DIFFERS for each in board.standings):
        raise click.exceptions.Exit(DISAGREES)


def _of_runs(
    outputs: Outputs, files: Sequence[str], measures: Sequence[str], published: Text, **settings: Any
) -> RankedSystems:
    qrels, *given = files
    if len(measures) > 1 or any("," in each and "(" not in each for each in measures):
        raise InputError(f"A leaderboard of runs is by one measure, not by {', '.join(measures)}; name one.")
    measure = measure_in_runs(measures[0] if measures else "AP", settings["level"])
    numbers = None if published is None else read_published(published, measure)
    systems = named([file for each in given for file in _files_in(each)], {})

    def ranked() -> RankedSystems:
        (judged_by, *runs), pairs = read_files((qrels, *systems.values()), settings)
        known = settings | {name: values for name, (_, values) in pairs.items()}
        of_systems = {
            name: load(run) if str(run).lower().endswith(EXTENSION) else run
            for name, run in zip(systems, runs, strict=True)
        }
        return tieproof.leaderboard(judged_by, of_systems, published=numbers, measure=measure, **known)

    return written(ranked, [*files, published, settings["documents"]], outputs)


def _files_in(path: str) -> list[str]:
    """The files of a folder, sorted, without hidden ones; of any other path itself."""
    if not os.path.isdir(path):
        return [path]
    files = sorted(each for each in Path(path).iterdir() if each.is_file() and not each.name.startswith("."))
    if not files:
        raise InputError(f"{path} is a folder without files; give a folder of runs.")
    return [str(each) for each in files]


def _of_records(
    outputs: Outputs, folder: str, verify: Sequence[str], measures: Sequence[str], confidence: float
) -> Leaderboard:
    if not os.path.isdir(folder):
        raise InputError(f"{folder} is not a folder; give the folder with the records, or QRELS and several runs.")
    data = dict(_data_of(folder, words) for words in verify)
    how: dict[str, Any] = {"measures": measures or None, "confidence": confidence, "verify": data}
    read = [Path(word) for words in verify for word in shlex.split(words)]
    return written(partial(tieproof.trials.judge.leaderboard, folder, **how), read, outputs)


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
