"""The process of a system that is a function: it reads the items, calls the function, and writes its answers.

It runs like any other command, and has no more information than that.
"""

import contextlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.trials.audit.targets import load
from tieproof.trials.judge.items import ROWS, TEXTS


def main() -> None:
    """Answer all questions: by one call for all items, or by one call for each pair."""
    name, items, pairs, answers = sys.argv[1:]
    contents = {file.stem: _content_of(file) for file in Path(items).iterdir()}
    questions = [line.split(",") for line in Path(pairs).read_text(encoding="ascii").splitlines()]
    with contextlib.redirect_stdout(sys.stderr):
        try:
            function = load(name)
        except InputError as error:
            sys.exit(str(error))
        if len(questions[0]) == 1:
            rows = [np.ravel(row) for row in function([contents[item] for (item,) in questions])]
        else:
            rows = [np.ravel(function(*(contents[item] for item in pair))) for pair in questions]
    if len(rows) == len(questions) and len({len(row) for row in rows}) == 1:
        np.save(answers, np.array(rows, dtype=np.float64))
    else:
        lines = [",".join([*names, *map(repr, row.tolist())]) for names, row in zip(questions, rows, strict=False)]
        Path(answers).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _content_of(file: Path) -> Any:
    """An item as the function gets it: a line as text, a row as an array, any other item as the path of its file."""
    if file.suffix == TEXTS:
        return file.read_text(encoding="utf-8")
    return np.load(file, allow_pickle=False) if file.suffix == ROWS else file
