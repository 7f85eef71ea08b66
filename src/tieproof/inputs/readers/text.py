"""Labels and confidences in files, checked as those that are handed in, and files of text.

These are labels, one per line (.txt) or as a list (.json), and lines of names with their values.
"""

import json
import os
from collections.abc import Collection, Sequence

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_array, type_name
from tieproof.inputs.identities import exact_below
from tieproof.inputs.labels import as_labels, check_code_points, check_unrounded, from_objects
from tieproof.inputs.readers.columns import Entry, holds, refuse_scores
from tieproof.inputs.readers.lines import MOST_SHOWN, unpacked
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
        raise InputError(f"{path} contains {json.dumps(labels)[:MOST_SHOWN]}; {FLAT}{RUNS}")
    for row, label in enumerate(labels):
        if label is None or isinstance(label, list | dict) or type(label) is not type(labels[0]):
            beside = f" beside {json.dumps(labels[0])[:MOST_SHOWN]} at [0]" if row else ""
            raise InputError(f"{path} has {json.dumps(label)[:MOST_SHOWN]} at [{row}]{beside}; {FLAT}{RUNS}")
    return [_single(from_objects(labels, f"labels of {path}"))]


def _single(labels: Array) -> Entry:
    return Entry("", labels.shape, holds(labels.dtype, labels.shape), lambda: labels)


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


def stored_labels(array: Array, where: Location, stored: str | None = None) -> Array:
    """Return labels (n,) as integers or strings, or 0/1 (n, c); `stored` is the type of other floats in the file."""
    name = f"labels of {where}"
    array = as_array(array, name)
    array = np.asarray(array, array.dtype.newbyteorder("="))
    if array.size == 0:
        raise InputError(f"{where} contains no labels: its shape is {array.shape}; give at least one.")
    if array.ndim == 2 and len(array) == 1 != array.size:
        array = array.reshape(-1)
    if array.dtype.kind == "U":
        check_code_points(array, f"The {name}")
    elif array.dtype.kind == "S":
        array = from_bytes(array.reshape(-1).tolist(), where).reshape(array.shape)
    elif array.dtype.kind == "f" and stored:
        check_unrounded(array, exact_below(stored), name)
    elif array.dtype.kind not in "biuf":
        raise InputError(f"The {name} must be integers or strings, not {type_name(array.dtype)}. Convert them first.")
    return as_labels(array, array.shape[0] if array.ndim else 0, name, "items")


def stored_confidences(array: Array, where: Location) -> Array:
    """Return numbers as stored, a single row or column as one axis; text becomes the nearest float64."""
    array = as_array(array, f"confidences of {where}")
    if array.ndim == 2 and 1 in array.shape:
        array = array.reshape(-1)
    if array.dtype.kind == "S":
        array = from_bytes(array.reshape(-1).tolist(), where).reshape(array.shape)
    if array.dtype.kind != "U":
        return array
    check_code_points(array, f"The confidences of {where}")
    numbers = []
    for row, cell in enumerate(array.reshape(-1).tolist()):
        try:
            numbers.append(float(cell))
        except ValueError:
            raise InputError(f"{where} has '{cell}' at [{row}]; confidences are numbers: correct it.") from None
    return np.array(numbers).reshape(array.shape)


def from_text(cells: Sequence[str], where: Location) -> Array:
    """Return labels from text: integers if every label is written as an integer, otherwise strings."""
    try:
        integers = [int(cell) for cell in cells]
    except ValueError:
        integers = []
    # 007 and 7 are two names, though one number.
    as_written = [str(integer) for integer in integers] == list(cells)
    return from_objects(integers if as_written else cells, f"labels of {where}")


def from_bytes(cells: Sequence[bytes], where: Location) -> Array:
    """Return labels from bytes in UTF-8."""
    strings = []
    for row, cell in enumerate(cells):
        try:
            strings.append(cell.decode())
        except UnicodeDecodeError:
            raise InputError(
                f"{where} has {cell[:MOST_SHOWN]!r} at [{row}], which is not UTF-8 text; save strings instead of "
                "bytes."
            ) from None
    return from_objects(strings, f"labels of {where}")
