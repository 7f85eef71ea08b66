"""Labels in text: one per line (.txt), or a list (.json)."""

import json
import math
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.contents import from_integers, from_strings, from_text, holds
from tieproof.inputs.readers.damage import broken, reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.location import Location, check
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array

LINES = "UTF-8 text with one label a line (.txt)"
LIST = "a JSON list of labels (.json)"

ENCODING = "utf-8-sig"  # UTF-8, with or without the byte order mark that some editors write


def lines(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the lines of the file as the only, unnamed entry."""
    with reading(path, LINES), path.open(encoding=ENCODING) as file:
        labels = [line.strip() for line in file]
    if any("\0" in label for label in labels):
        raise InputError(broken(path, LINES))
    while labels and not labels[-1]:
        labels.pop()
    if "" in labels:
        raise InputError(f"{path} has no label on line {labels.index('') + 1}; give one label a line.")
    return [_single(from_text(labels, Location(path)) if labels else np.array([]))]


def json_list(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the list of the file as the only, unnamed entry."""
    with reading(path, LIST):
        labels = json.loads(path.read_text(encoding=ENCODING))
    if not isinstance(labels, list):
        raise InputError(f"{path} contains {_kind(labels)}; write a list of labels instead, such as [0, 1, 1].")
    for row, label in enumerate(labels):
        if label is None or (isinstance(label, float) and math.isnan(label)):
            raise InputError(f"{path} has {_kind(label)} at [{row}]; give every item a label, or leave it out.")
        if isinstance(label, list | dict):
            raise InputError(f"{path} has {_kind(label)} at [{row}]; write a flat list, such as [0, 1, 1].")
        if type(label) is not type(labels[0]):
            raise InputError(
                f"{path} mixes {_kind(labels[0])} at [0] and {_kind(label)} at [{row}]; "
                "write labels of one type, integers or strings."
            )
    kind = type(labels[0]) if labels else float
    return [_single(CONVERSIONS[kind](labels, Location(path)))]


def _single(labels: Array) -> Entry:
    return Entry("", labels.shape, holds(labels.dtype, labels.shape), lambda: labels)


KINDS: dict[type, str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number with a point",
    str: "a string",
    list: "a list",
    dict: "an object",
}


CONVERSIONS: dict[type, Callable[[Sequence[Any], Location], Array]] = {
    bool: lambda labels, where: np.array(labels, dtype=np.bool_),
    int: from_integers,
    float: lambda labels, where: np.array(labels, dtype=np.float64),
    str: from_strings,
}


def _kind(value: Any) -> str:
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    return KINDS.get(type(value), "null")


def read(location: str | os.PathLike[str], name: str, value: str) -> dict[str, str]:
    r"""Read the value of each name; a value extends to the end of the line, and may contain blanks.

    name, value : the words for both in messages

    Raises InputError, with the line, if a line has no value, or if a name has two values.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "categories.txt").write_text("q1 short question\nq2\tclaim\n")
    ...     read(f"{folder}/categories.txt", "query", "category")
    {'q1': 'short question', 'q2': 'claim'}
    """
    path, kind = Path(location), f"UTF-8 text with a {name} and its {value} on each line"
    check(path)
    with reading(path, kind), path.open(encoding=ENCODING) as file:
        lines = [line.strip() for line in file]
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        first, *rest = line.split(None, 1) or [""]
        if line and not rest:
            raise InputError(
                f"{path} has no {value} on line {number}: '{line}'. A line has a {name} and its {value}."
            )
        if line and found.setdefault(first, rest[0]) != rest[0]:
            raise InputError(
                f"{path} has {name} '{first}' a second time on line {number}, as '{rest[0]}' instead of "
                f"'{found[first]}'. Keep one of them."
            )
    if not found:
        raise InputError(f"{path} has only empty lines. A line has a {name} and its {value}.")
    return found


def read_categories(location: str | os.PathLike[str]) -> dict[str, str]:
    """Read the category of each query; see `named_lines.read`."""
    return read(location, "query", "category")
