"""The CSV file of an evaluator: a row for each evaluation, as the evaluators of sentence-transformers add them."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.whole_files import atomic_write


def check_columns(path: Path, columns: Sequence[str]) -> None:
    """Refuse a table with other columns, whose rows would get the wrong names, and a place that has no room for one.

    The folder is made where there is none.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            there = next(csv.reader(file), [])
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}). Pass another output_path, or write_csv=False to the "
            "evaluator.",
            "output_path",
        ) from error
    if there and there != list(columns):
        raise InputError(
            f"{path} has other columns than this evaluation: {difference(there, columns)}. Move it away, or give the "
            "evaluator another name=."
        )


def difference(there: Sequence[str], expected: Sequence[str]) -> str:
    """The first column that differs, in words.

    >>> difference(["epoch", "steps"], ["epoch", "steps", "cosine-NDCG@10"])
    "column 3 is missing, and 'cosine-NDCG@10' is expected"
    """
    for number, name in enumerate(expected, 1):
        if number > len(there):
            return f"column {number} is missing, and '{name}' is expected"
        if there[number - 1] != name:
            return f"column {number} is '{there[number - 1]}', and '{name}' is expected"
    return f"column {len(expected) + 1} is '{there[len(expected)]}', and no more are expected"


def add_row(path: Path, columns: Sequence[str], row: Sequence[Any]) -> None:
    """Add a row at the end of a table, which is written whole or stays as it was."""
    added = io.StringIO(newline="")
    writer = csv.writer(added, lineterminator="\n")
    before = path.read_bytes() if path.exists() else b""
    if not before.strip():
        before = b""
        writer.writerow(columns)
    elif not before.endswith(b"\n"):
        added.write("\n")
    writer.writerow(row)
    with atomic_write(path) as unfinished:
        unfinished.write_bytes(before + added.getvalue().encode())
