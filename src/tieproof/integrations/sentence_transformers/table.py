"""The CSV file of an evaluator, with a row for each evaluation as in the evaluators of sentence-transformers."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tieproof.errors import InputError
from tieproof.whole_files import atomic_write


def check_columns(path: Path, columns: Sequence[str]) -> None:
    """Refuse a table with other columns, and a path that cannot be written.

    A missing folder is created.
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
            f"{path} has other columns than this evaluation: {difference(there, columns)}. Move the file away, or "
            "pass another name= to the evaluator."
        )


def difference(there: Sequence[str], expected: Sequence[str]) -> str:
    """The first column that differs, in words.

    >>> difference(["epoch", "steps"], ["epoch", "steps", "cosine-NDCG@10"])
    "column 3 is missing, but 'cosine-NDCG@10' is expected"
    """
    for number, name in enumerate(expected, 1):
        if number > len(there):
            return f"column {number} is missing, but '{name}' is expected"
        if there[number - 1] != name:
            return f"column {number} is '{there[number - 1]}', but '{name}' is expected"
    return f"column {len(expected) + 1} is '{there[len(expected)]}', but no more columns are expected"


def add_row(path: Path, columns: Sequence[str], row: Sequence[Any]) -> None:
    """Add a row at the end of a table; on an error the file is left unchanged."""
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
