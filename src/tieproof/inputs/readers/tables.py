"""Tables in files, whose columns have names: text with a header, JSON, lines of JSON, and Parquet.

The content tells the format, whatever the name of the file, which may be packed.
"""

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.frames import as_frame
from tieproof.inputs.readers.lines import is_number, shown, unpacked
from tieproof.inputs.readers.location import Piped, broken, check, kind_of, library, reading
from tieproof.inputs.readers.text import ENCODING
from tieproof.ties import Array

KIND = "a table in UTF-8 text, JSON or Parquet"
DELIMITERS = "\t;,"
"""What separates columns: the first of these in the header."""

TRUTHS = {"true": 1, "false": 0}


@dataclass(frozen=True)
class NamedColumns:
    """A table in memory, with what a data frame has.

    columns : the names of the columns
    values : the values of each column; None where one is missing
    lines : the line on which each row ends; None for rows without lines
    """

    columns: Sequence[str]
    values: Sequence[Sequence[Any]]
    lines: Sequence[int] | None = None

    def __getitem__(self, name: str) -> Array:
        """The column of this name: numbers where all cells are, and otherwise objects."""
        values = [*self.values[self.columns.index(name)]]
        if set(map(type, values)) <= {int, float, bool}:
            return as_numbers(values, f"numbers of column '{name}'")
        return np.array(values, dtype=object)


def read(location: str | os.PathLike[str] | Piped) -> Any:
    """Read a table as a frame: `columns` has their names, and each is read by its name.

    Text has a header, and columns separated by commas, tabs or semicolons. JSON is a list of records,
    a dictionary of columns, or a record on each line.
    """
    path = location if isinstance(location, Piped) else Path(location)
    if isinstance(path, Path):
        check(path)
    with reading(path, KIND), path.open("rb") as file:
        if file.read(4) == b"PAR1":
            file.seek(0)
            return as_frame(library("pyarrow.parquet", Path(str(path)), "parquet").read_table(file))
    content = unpacked(location)[1].tobytes()
    if kind_of(content) or b"\0" in content:
        raise InputError(broken(path, KIND, content))
    with reading(path, KIND):
        text = content.decode(ENCODING)
    table = _of_json(path, text) if text.lstrip()[:1] in ("[", "{") else _of_text(path, text)
    if not table.values or not len(table.values[0]):
        raise InputError(f"{path} has no rows; give a table with at least one.")
    return table


def as_number(cell: Any) -> Any:
    """Return the number that a cell of text contains; the cell itself if it contains none.

    >>> as_number("7"), as_number("0.5"), as_number("True"), as_number("0,5")
    (7, 0.5, 1, '0,5')
    """
    if not isinstance(cell, str):
        return cell
    if not is_number(cell):
        return TRUTHS.get(cell.lower(), cell)
    return int(cell) if cell.lstrip("+-").isdigit() else float(cell)


def _of_text(path: Path | Piped, text: str) -> NamedColumns:
    first = text.lstrip("\n").partition("\n")[0]
    delimiter = next((sign for sign in DELIMITERS if sign in first), ",")
    with reading(path, KIND):
        reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
        numbered = [(reader.line_num, [each.strip() for each in row]) for row in reader if any(row)]
    lines = [line for line, _ in numbered[1:]]
    header, *rows = [row for _, row in numbered]
    if any(map(is_number, header)):
        raise InputError(
            f"{path} has no header, but begins with '{shown(first.encode())}'. Write the names of the columns on its "
            "first line, such as query_id,doc_id,score,relevance."
        )
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(header):
            raise InputError(
                f"{path} has a ragged row: line {line} has {len(row)} cells, but the header has {len(header)}; "
                "give every row the same number of cells."
            )
    if delimiter == ";":  # then a comma is the decimal point, as spreadsheets write it in many countries
        rows = [[point if is_number(point := cell.replace(",", ".")) else cell for cell in row] for row in rows]
    return NamedColumns(header, [[cell or None for cell in column] for column in zip(*rows, strict=True)], lines)


def _of_json(path: Path | Piped, text: str) -> NamedColumns:
    lines = None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        numbered = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        lines, content = [number for number, _ in numbered], [_record(path, *each) for each in numbered]
    if isinstance(content, dict) and not all(isinstance(values, list | dict) for values in content.values()):
        content = [content]
    if isinstance(content, list) and all(isinstance(record, dict) for record in content):
        names = [*dict.fromkeys(name for record in content for name in record)]
        return NamedColumns(names, [[record.get(name) for record in content] for name in names], lines)
    # A column of pandas is a dictionary from its index.
    columns = [
        [*values.values()] if isinstance(values, dict) else values
        for values in (content.values() if isinstance(content, dict) else ())
    ]
    if len({len(column) for column in columns}) != 1:
        raise InputError(
            f"{path} is JSON, but neither a list of records nor a dictionary of columns of one length. Write it by "
            "frame.to_json(path, orient='records')."
        )
    return NamedColumns([*content], columns, None)


def _record(path: Path | Piped, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(
            f"{path} has no JSON on line {number}: '{shown(line.encode())}'. Write a list of records, or a record on "
            "each line."
        ) from None
