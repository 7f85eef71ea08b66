"""The process of a system that is a function: it reads the items, calls the function, and writes its answers.

It runs like any other command, and has no more information than that.
"""

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.audit.targets import load
from tieproof.errors import InputError
from tieproof.judge.items import ROWS, TEXTS


def main() -> None:
    """Answer all questions."""
    name, items, pairs, answers = sys.argv[1:]
    contents = {file.stem: content_of(file) for file in Path(items).iterdir()}
    questions = [line.split(",") for line in Path(pairs).read_text(encoding="ascii").splitlines()]
    with contextlib.redirect_stdout(sys.stderr):
        try:
            function = load(name)
        except InputError as error:
            sys.exit(str(error))
        rows = answered(function, [[contents[name] for name in names] for names in questions])
    write(Path(answers), questions, rows)


def content_of(file: Path) -> Any:
    """An item as the function gets it: a line as text, a row as an array, any other item as the path of its file."""
    if file.suffix == TEXTS:
        return file.read_text(encoding="utf-8")
    return np.load(file, allow_pickle=False) if file.suffix == ROWS else file


def answered(function: Callable[..., Any], questions: Sequence[Sequence[Any]]) -> list[Any]:
    """A row of numbers for each question, by one call for all items, or one call for each pair."""
    if len(questions[0]) == 1:
        return [np.ravel(row) for row in function([items[0] for items in questions])]
    return [np.ravel(function(*items)) for items in questions]


def write(path: Path, questions: Sequence[Sequence[str]], rows: Sequence[Any]) -> None:
    """Write rows as an array or, if their lengths differ, as lines."""
    if len(rows) == len(questions) and len({len(row) for row in rows}) == 1:
        np.save(path, np.array(rows, dtype=np.float64))
        return
    lines = [",".join([*names, *map(repr, row.tolist())]) for names, row in zip(questions, rows, strict=False)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
