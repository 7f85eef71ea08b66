"""Tables in files, whose columns have names: text with a header, JSON, lines of JSON, and Parquet.

The content tells the format, whatever the name of the file, which may be packed. Text has columns separated by
commas, tabs or semicolons; JSON is a list of records, a dictionary of columns, or a record on each line.
"""

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError, import_extra
from tieproof.inputs.arrays import as_numbers
from tieproof.inputs.frames import Columns, as_frame
from tieproof.inputs.readers import json_lists
from tieproof.inputs.readers.delimited import check_length
from tieproof.inputs.readers.lines import is_number, shown, unpacked
from tieproof.inputs.readers.location import Piped, broken, check, kind_of, reading
from tieproof.inputs.readers.text import ENCODING
from tieproof.ties import Array

KIND = "a table in UTF-8 text, JSON or Parquet"

EXPECTED = (
    "A table in JSON is a list of records, a record on each line, or a dictionary of columns of one length. Write it "
    "by frame.to_json(path, orient='records')."
)

DELIMITERS = "\t;,"  # what separates columns: the first of these in the header

TRUTHS = {"true": 1, "false": 0}


def read(location: str | os.PathLike[str] | Piped) -> Any:
    """Read a table as a frame, whose columns are read by their names."""
    path = location if isinstance(location, Piped) else Path(location)
    if isinstance(path, Path):
        check(path)
    with reading(path, KIND), path.open("rb") as file:
        if file.read(4) == b"PAR1":
            file.seek(0)
            return as_frame(import_extra("pyarrow.parquet", f"Reading {path}", "parquet").read_table(file))
    content = unpacked(location)[1].tobytes()
    if kind_of(content) or b"\0" in content:
        raise InputError(broken(path, KIND, content))
    table = _of_json(path, content) if json_lists.is_json(content) else _of_text(path, content)
    if not any(map(len, table.values)):
        raise InputError(f"{path} has no rows; give a table with at least one.")
    return table


def as_column(cells: Sequence[Any]) -> Array:
    """Return the cells of a column as an array: of numbers where all are, and otherwise of objects."""
    if set(map(type, cells)) <= {int, float, bool}:
        return as_numbers([*cells], "numbers of a column")
    return np.array(cells, dtype=object)


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


def numbers(column: Array) -> list[Any]:
    """Return the cells of a column, as numbers where they contain one."""
    return [*map(as_number, column.tolist())]


def _of_text(path: Path | Piped, content: bytes) -> Columns:
    with reading(path, KIND):
        text = content.decode(ENCODING)
        first = text.lstrip("\n").partition("\n")[0]
        delimiter = next((sign for sign in DELIMITERS if sign in first), ",")
        reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
        numbered = [(reader.line_num, [each.strip() for each in row]) for row in reader if any(row)]
    if not numbered:
        raise InputError(f"{path} has only empty lines; give a table with a header and at least one row.")
    lines = [line for line, _ in numbered[1:]]
    header, *rows = [row for _, row in numbered]
    if any(map(is_number, header)):
        raise InputError(
            f"{path} has no header, but begins with '{shown(first.encode())}'. Write the names of the columns on its "
            "first line, such as query_id,doc_id,score,relevance."
        )
    for line, row in zip(lines, rows, strict=True):
        check_length(path, line, row, len(header))
    if delimiter == ";":  # then a comma is the decimal point, as spreadsheets write it in many countries
        rows = [[point if is_number(point := cell.replace(",", ".")) else cell for cell in row] for row in rows]
    return _columns(header, [[cell or None for cell in column] for column in zip(*rows, strict=True)], lines)


def _of_json(path: Path | Piped, text: bytes) -> Columns:
    content, lines = json_lists.contents(path, text, EXPECTED)
    if isinstance(content, dict) and not all(isinstance(values, list | dict) for values in content.values()):
        content = [content]
    if isinstance(content, list) and all(isinstance(record, dict) for record in content):
        names = [*dict.fromkeys(name for record in content for name in record)]
        return _columns(names, [[record.get(name) for record in content] for name in names], lines)
    # A column of pandas is a dictionary from its index.
    columns = [
        [*values.values()] if isinstance(values, dict) else values
        for values in (content.values() if isinstance(content, dict) else ())
    ]
    if len({len(column) for column in columns}) != 1:
        raise InputError(f"{path} is JSON, but no table. {EXPECTED}")
    return _columns([*content], columns)


def _columns(names: Sequence[str], values: Sequence[Sequence[Any]], lines: Sequence[int] = ()) -> Columns:
    return Columns(names, [*map(as_column, values)], lines)
