"""Ranks the files of several runs, for `tieproof leaderboard` and `tieproof run`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tieproof
from tieproof.analyses.leaderboard.published import read_published
from tieproof.analyses.leaderboard.result import RankedSystems
from tieproof.cli.exits import say
from tieproof.cli.options import Text
from tieproof.cli.output import Outputs, answer, written
from tieproof.errors import InputError
from tieproof.inputs.readers.location import with_pipes_read
from tieproof.inputs.system_names import named
from tieproof.measures import parse
from tieproof.show.printable import in_one_line


def of_runs(
    outputs: Outputs,
    files: Sequence[str],
    lines: bool,
    measures: Sequence[str] = (),
    published: Text = None,
    **settings: Any,
) -> None:
    """Rank runs, write and show the leaderboard."""
    qrels, *given = files
    if len(measures) > 1 or any("," in each and "(" not in each for each in measures):
        raise InputError(f"A leaderboard of runs is by one measure, not by {', '.join(measures)}; name one.")
    measure = parse(measures[0] if measures else "AP")
    numbers = None if published is None else read_published(published, measure)
    systems = named([file for each in given for file in _files_in(each)], {})

    def ranked() -> RankedSystems:
        judged_by, *runs = with_pipes_read(qrels, *systems.values())
        of_systems = dict(zip(systems, runs, strict=True))
        return tieproof.leaderboard(judged_by, of_systems, published=numbers, measure=measure, **settings)

    board = written(ranked, [*files, published], outputs)
    if lines:
        for each in board.systems:
            say(f"{each.place}\t{each.score.lower!r}\t{in_one_line(each.name)}")
    else:
        answer(outputs, board)


def _files_in(path: str) -> list[str]:
    """The files of a folder, sorted, without hidden ones; of any other path itself."""
    if not os.path.isdir(path):
        return [path]
    files = sorted(each for each in Path(path).iterdir() if each.is_file() and not each.name.startswith("."))
    if not files:
        raise InputError(f"{path} is a folder without files; give a folder of runs.")
    return [str(each) for each in files]
