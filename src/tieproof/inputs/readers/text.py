"""Text: labels, one per line (.txt) or as a list (.json), and lines of names with their values."""

import json
import os
from collections.abc import Collection
from typing import Any

from tieproof.errors import InputError
from tieproof.inputs.labels import from_objects
from tieproof.inputs.readers.columns import Entry, refuse_scores
from tieproof.inputs.readers.contents import from_text, holds
from tieproof.inputs.readers.lines import unpacked
from tieproof.inputs.readers.location import File, Location, Piped, broken, reading
from tieproof.ties import Array

LINES = "UTF-8 text with one label a line (.txt)"
LIST = "a JSON list of labels (.json)"
FLAT = "write a flat list of labels of one type, integers or strings, such as [0, 1, 1]."

RUNS = " Judgments and runs are for tieproof run QRELS RUN."

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
    return [_single(from_text(labels, Location(path)))]


def json_list(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the list of the file as the only, unnamed entry."""
    with reading(path, LIST), path.open(encoding=ENCODING) as file:
        labels = json.load(file)
    record = labels[0] if isinstance(labels, list) and labels else labels
    if isinstance(record, dict):
        refuse_scores(path, list(record))
    if not isinstance(labels, list):
        raise InputError(f"{path} contains {_kind(labels)}; {FLAT}{RUNS}")
    for row, label in enumerate(labels):
        if label is None or isinstance(label, list | dict) or type(label) is not type(labels[0]):
            beside = f" beside {_kind(labels[0])} at [0]" if row else ""
            raise InputError(f"{path} has {_kind(label)} at [{row}]{beside}; {FLAT}{RUNS}")
    return [_single(from_objects(labels, f"labels of {path}"))]


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


def _kind(value: Any) -> str:
    return KINDS.get(type(value), "null")


def read(location: str | os.PathLike[str] | Piped, name: str, value: str) -> dict[str, str]:
    """Read the value of each name, which extends to the end of its line; both have words for messages."""
    path, content = unpacked(location)
    with reading(path, f"UTF-8 text with a {name} and its {value} on each line"):
        lines = [line.strip() for line in content.tobytes().decode(ENCODING).split("\n")]
    values: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        first, *rest = line.split(None, 1) or [""]
        if line and not rest:
            raise InputError(
                f"{path} has no {value} on line {number}: '{line}'. A line has a {name} and its {value}."
            )
        if line and values.setdefault(first, rest[0]) != rest[0]:
            raise InputError(
                f"{path} has {name} '{first}' a second time on line {number}, as '{rest[0]}' instead of "
                f"'{values[first]}'. Keep one of them."
            )
    if not values:
        raise InputError(f"{path} has only empty lines. A line has a {name} and its {value}.")
    return values
