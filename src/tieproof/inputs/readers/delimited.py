"""Text tables (.csv, .tsv), read with NumPy and the standard library."""

import csv
from collections.abc import Collection, Generator, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.contents import from_text
from tieproof.inputs.readers.damage import broken, reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.headers import (
    ROWS,
    counts,
    is_header,
    is_integer,
    is_number,
)
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array

KINDS = {",": "a table in UTF-8 text (.csv)", "\t": "a table in UTF-8 text (.tsv)"}
ENCODING = "utf-8-sig"


class Row(NamedTuple):
    """The cells of a row, and the line on which it ends."""

    line: int
    cells: list[str]


class Table(NamedTuple):
    """A table of which only the first rows were read; without a header, `columns` are numbered from 1."""

    path: File
    delimiter: str
    columns: list[str]
    header: bool

    def rows(self) -> Iterator[Row]:
        """Yield the rows under the header; a row with another number of cells than columns is refused."""
        rows = _rows(self.path, self.delimiter)
        if self.header:
            next(rows)
        for row in rows:
            if len(row.cells) != len(self.columns):
                raise InputError(
                    f"{self.path} has a ragged row: line {row.line} has {len(row.cells)} cells, "
                    f"but the first row has {len(self.columns)}; give every row the same number of cells."
                )
            yield row


def entries(delimiter: str, path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the columns of the table."""
    table = _open(path, delimiter, named)
    return [_entry(table, column) for column in range(len(table.columns))]


def matrix(delimiter: str, path: File, named: Collection[str], taken: Sequence[int]) -> Array:
    """Return the columns at some positions, each number rounded correctly to float64.

    NumPy's own reader is correct and fast. A table that it refuses is read again, slowly, to locate the fault.
    """
    table = _open(path, delimiter, named)
    left_out = sorted(set(range(len(table.columns))).difference(taken))
    try:
        numbers = _parse(table, left_out)
    except ValueError as error:
        _find_fault(table, left_out)
        raise InputError(broken(path, KINDS[delimiter])) from error
    if len(table.columns) == 1:  # NumPy skips blank lines, where a number is missing
        _find_fault(table, left_out)
    return np.delete(numbers, left_out, axis=1) if left_out else numbers


def _open(path: File, delimiter: str, named: Collection[str]) -> Table:
    rows = _rows(path, delimiter)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path} has no rows; give a table with at least one.")
    if any("\0" in cell for cell in first.cells):
        raise InputError(broken(path, KINDS[delimiter]))
    cells = [cell.strip() for cell in first.cells]
    below = [row.cells for row in islice(rows, ROWS if counts(cells) else 1)]
    rows.close()
    header = is_header(cells, below, named, path)
    if header and not below:
        raise InputError(f"{path} has no rows under its header; give a table with at least one.")
    columns = [name if header and name else str(at) for at, name in enumerate(cells, 1)]
    if header and not cells[0]:
        columns[0] = "index"  # pandas writes no name for its index
    return Table(path, delimiter, columns, header)


def _rows(path: File, delimiter: str) -> Generator[Row, None, None]:
    """Yield the rows of a file; blank lines are allowed only at its end."""
    blank = None
    with reading(path, KINDS[delimiter]), path.open(encoding=ENCODING, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        for cells in reader:
            if not cells:
                blank = blank or reader.line_num
                continue
            if blank:
                raise InputError(f"{path} is blank on line {blank}; remove the line, or fill it in.")
            yield Row(reader.line_num, cells)


def _parse(table: Table, left_out: Sequence[int]) -> Array:
    with table.path.open(encoding=ENCODING, newline="") as file:
        if table.header:
            next(csv.reader(file, delimiter=table.delimiter))
        numbers = np.loadtxt(
            file,
            delimiter=table.delimiter,
            comments=None,
            quotechar='"',
            ndmin=2,
            converters=dict.fromkeys(left_out, lambda cell: 0.0),
        )
    if numbers.shape[1] != len(table.columns):
        raise ValueError("the header has another length")
    return numbers


def _find_fault(table: Table, left_out: Sequence[int]) -> None:
    """Raise for the first ragged row, or the first cell that is not a number."""
    for row in table.rows():
        for at, cell in enumerate(row.cells):
            if at not in left_out and not is_number(cell):
                raise InputError(
                    f"{table.path} has {_shown(cell)} on line {row.line} in column {_name(table, at)}, where "
                    "a number is expected; correct it, or rename a column that is not a dimension to 'id'."
                )


def _entry(table: Table, at: int) -> Entry:
    def load(most: int | None = None) -> Array:
        labels = []
        for row in islice(table.rows(), most):
            label = row.cells[at].strip()
            if not label:
                raise InputError(
                    f"{table.path} has no label on line {row.line} in column {_name(table, at)}; "
                    "give every item a label, or leave the item out."
                )
            labels.append(label)
        _check_labels(table, at, labels)
        return from_text(labels, Location(table.path, table.columns[at]))

    return Entry(table.columns[at], (None,), f"column {at + 1}", load, first=lambda: load(ROWS))


def _check_labels(table: Table, at: int, labels: Sequence[str]) -> None:
    """Refuse NaN among numbers, and a first label above integers that may be a header."""
    if all(is_number(label) for label in labels):
        missing = [row for row, label in enumerate(labels, 1) if label.lower().lstrip("+-") == "nan"]
        if missing:
            raise InputError(
                f"{table.path} has NaN in row {missing[0]} of column {_name(table, at)}; "
                "give every item a label, or leave the item out."
            )
    first, rest = labels[0], labels[1:]
    if not table.header and rest and not is_number(first) and all(is_integer(label) for label in rest):
        raise InputError(
            f"{table.path} has {_shown(first)} on line 1 above integers, which may be a header or a label; "
            f"if it is a header, choose '{table.path}:{first}' or write 'label' instead."
        )


def _name(table: Table, at: int) -> str:
    return f"{at + 1} ('{table.columns[at]}')" if table.header else str(at + 1)


def _shown(cell: str) -> str:
    return f"'{cell}'" if cell.strip() else "an empty cell"
