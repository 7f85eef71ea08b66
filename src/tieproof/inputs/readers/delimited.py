"""Tables in text (.csv, .tsv): whether the first row is a header, and the columns.

A column is read as text, cell by cell; the dimensions are read by NumPy, all at once.
"""

import csv
from collections.abc import Collection, Generator, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.columns import SURE, Entry
from tieproof.inputs.readers.lines import MOST_SHOWN, is_number
from tieproof.inputs.readers.location import File, Location, Piped, broken, reading
from tieproof.inputs.readers.text import ENCODING, from_text
from tieproof.ties import Array

KINDS = {",": "a table in UTF-8 text (.csv)", "\t": "a table in UTF-8 text (.tsv)"}

ROWS = 1000  # how many rows are looked at to decide whether the first one is a header
SHORT = "y"  # may also be a label that means "yes"
FEW_NUMBERS = 8  # a row of fewer numbers may be 0, 1, 2, … by chance; a longer one only if other rows count, too


class _Table(NamedTuple):
    """A table of which only the first rows were read; without a header, `columns` are numbered from 1."""

    path: File
    delimiter: str
    columns: list[str]
    header: bool

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows under the header, each with the line on which it ends; ragged rows are refused."""
        rows = _rows(self.path, self.delimiter)
        if self.header:
            next(rows)
        for line, cells in rows:
            check_length(self.path, line, cells, len(self.columns))
            yield line, cells

    def called(self, at: int) -> str:
        """Return the number and the name of a column, for messages."""
        return f"{at + 1} ('{self.columns[at]}')" if self.header else str(at + 1)


def check_length(path: File | Piped, line: int, cells: Sequence[str], expected: int) -> None:
    """Refuse a ragged row, which has not as many cells as the first."""
    if len(cells) != expected:
        raise InputError(
            f"{path} has a ragged row: line {line} has {len(cells)} cells, but the first row has {expected}; give "
            "every row the same number of cells."
        )


def entries(delimiter: str, path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the columns of the table."""
    table = _open(path, delimiter, named)
    return [_entry(table, at) for at in range(len(table.columns))]


def matrix(delimiter: str, path: File, named: Collection[str], taken: Sequence[int]) -> Array:
    """Return the columns at some positions, each number rounded correctly to float64.

    NumPy's own reader is correct and fast. A table that it refuses is read again, slowly, to locate the fault.
    """
    table = _open(path, delimiter, named)
    left_out = sorted(set(range(len(table.columns))).difference(taken))
    try:
        with path.open(encoding=ENCODING, newline="") as file:
            if table.header:
                next(csv.reader(file, delimiter=delimiter))
            numbers: Array = np.loadtxt(
                file,
                delimiter=delimiter,
                comments=None,
                quotechar='"',
                ndmin=2,
                converters=dict.fromkeys(left_out, lambda cell: 0.0),
            )
        if numbers.shape[1] != len(table.columns):
            raise ValueError("the header has another length")
    except ValueError as error:
        _find_fault(table, left_out)
        raise InputError(broken(path, KINDS[delimiter])) from error
    if len(table.columns) == 1:  # NumPy skips blank lines, where a number is missing
        _find_fault(table, left_out)
    return np.delete(numbers, left_out, axis=1) if left_out else numbers


def _find_fault(table: _Table, left_out: Sequence[int]) -> None:
    """Raise for the first ragged row, or the first cell that is not a number."""
    for line, cells in table.rows():
        for at, cell in enumerate(cells):
            if at not in left_out and not is_number(cell):
                _check_no_vector(table, at, line, cell)
                raise InputError(
                    f"{table.path} has {_shown(cell)} on line {line} in column {table.called(at)}, where "
                    "a number is expected; correct it, or rename a column that is not a dimension to 'id'."
                )


def _check_no_vector(table: _Table, at: int, line: int, cell: str) -> None:
    """Refuse a vector as text, as pandas writes a column of lists or arrays."""
    numbers = cell.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    if len(numbers) < 2 or not all(map(is_number, numbers)):
        return
    split = ".str.strip('[]').str.replace(',', ' ').str.split().map(lambda cells: [*map(float, cells)])"
    name, path = repr(table.columns[at]), str(table.path)
    write = (
        f" Write it again: frame = pandas.read_csv({path!r}, sep={table.delimiter!r}); frame[{name}] = "
        f"frame[{name}]{split}; frame.to_parquet({path.rpartition('.')[0] + '.parquet'!r})."
    )
    raise InputError(
        f"{table.path} has a vector as text, {_shown(cell[:MOST_SHOWN])}, on line {line} in column "
        f"{table.called(at)}, but one column for each dimension is expected, or a column of lists in a .parquet file."
        + (write if table.header else "")
    )


def _entry(table: _Table, at: int) -> Entry:
    def load() -> Array:
        labels = []
        for line, cells in table.rows():
            label = cells[at].strip()
            if not label:
                raise InputError(
                    f"{table.path} has no label on line {line} in column {table.called(at)}; "
                    "give every item a label, or leave the item out."
                )
            labels.append(label)
        _check_labels(table, at, labels)
        return from_text(labels, Location(table.path, table.columns[at]))

    return Entry(table.columns[at], (None,), f"column {at + 1}", load)


def _check_labels(table: _Table, at: int, labels: Sequence[str]) -> None:
    """Refuse NaN among numbers, and a first label above integers that may be a header."""
    if all(is_number(label) for label in labels):
        missing = [row for row, label in enumerate(labels, 1) if label.lower().lstrip("+-") == "nan"]
        if missing:
            raise InputError(
                f"{table.path} has NaN in row {missing[0]} of column {table.called(at)}; "
                "give every item a label, or leave the item out."
            )
    first, rest = labels[0], labels[1:]
    if not table.header and rest and not is_number(first) and all(_is_integer(label) for label in rest):
        raise InputError(
            f"{table.path} has {_shown(first)} on line 1 above integers, which may be a header or a label; "
            f"if it is a header, choose '{table.path}:{first}' or write 'label' instead."
        )


def _open(path: File, delimiter: str, named: Collection[str]) -> _Table:
    rows = _rows(path, delimiter)
    _, first = next(rows, (0, None))
    if first is None:
        raise InputError(f"{path} has no rows; give a table with at least one.")
    if any("\0" in cell for cell in first):
        raise InputError(broken(path, KINDS[delimiter]))
    cells = [cell.strip() for cell in first]
    below = [row for _, row in islice(rows, ROWS if _counts(cells) else 1)]
    rows.close()
    if below:
        _check_delimiter(path, delimiter, delimiter.join(first), delimiter.join(below[0]))
    header = _is_header(cells, below, named, path)
    if header and not below:
        raise InputError(f"{path} has no rows under its header; give a table with at least one.")
    columns = [name if header and name else str(at) for at, name in enumerate(cells, 1)]
    if header and not cells[0]:
        columns[0] = "index"  # pandas writes no name for its index
    return _Table(path, delimiter, columns, header)


def _rows(path: File, delimiter: str) -> Generator[tuple[int, list[str]], None, None]:
    """Yield the rows of a file, each with the line on which it ends; blank lines are allowed only at its end."""
    blank = None
    with reading(path, KINDS[delimiter]), path.open(encoding=ENCODING, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        for cells in reader:
            if not cells:
                blank = blank or reader.line_num
                continue
            if blank:
                raise InputError(f"{path} is blank on line {blank}; remove the line, or fill it in.")
            yield reader.line_num, cells


def _check_delimiter(path: File, delimiter: str, first: str, second: str) -> None:
    """Refuse a table whose columns are separated by another character; texts in a column may contain some of them."""
    for other in ";\t,|".replace(delimiter, ""):  # a comma may also be the decimal point
        parts, below = ([part.strip() for part in line.split(other)] for line in (first, second))
        if len(parts) != len(below) or first.count(other) < max(1, first.count(delimiter)):
            continue
        numbers = [part for part in below if is_number(part.replace(",", "."))]
        if SURE.isdisjoint(part.lower() for part in parts) and not (len(parts) > 2 and numbers):
            continue
        read = f"sep={other!r}" + (", decimal=','" if other != "," and any("," in part for part in numbers) else "")
        wrote = "index=False" + ("" if delimiter == "," else f", sep={delimiter!r}")
        if any(is_number(part.replace(",", ".")) for part in parts):
            read, wrote = f"{read}, header=None", f"{wrote}, header=False"
        raise InputError(
            f"{path} has columns that are separated by {other!r}, but {delimiter!r} is expected. Write it again: "
            f"pandas.read_csv({str(path)!r}, {read}).to_csv({str(path)!r}, {wrote})."
        )


def _is_header(cells: Sequence[str], below: Sequence[Sequence[str]], named: Collection[str], path: File) -> bool:
    """Whether the first row is a header: it has a known name, or several cells without a number, or is 0, 1, 2, ….

    below : the next row, if there is one; if the first row counts, up to `ROWS` rows
    named : the columns that a location names

    pandas writes 0, 1, 2, … for columns without names, after an empty cell for its index. Without that cell, and if
    the rows below contain integers, too (pandas writes floats with a point), or for long rows also count, the row may
    be data, and is refused.
    """
    names = [cell.lower() for cell in cells]
    if any(name in SURE for name in names) or any(cell in named and not is_number(cell) for cell in cells):
        return True
    if below and any(name == SHORT and is_number(under) for name, under in zip(names, below[0], strict=False)):
        return True
    if len(names) == 1:
        return False
    if not any(is_number(name) for name in names):
        return True
    if not _counts(names):
        return False
    rows = [[cell.strip() for cell in row] for row in below]
    is_long = len(names) >= FEW_NUMBERS
    if names[0] != "" and any(_counts_on(row) if is_long else any(map(_is_integer, row)) for row in rows):
        raise InputError(
            f"{path} has {', '.join(names[:3])}{', …' if len(names) > 3 else ''} on line 1 above integers, which may "
            "be data or a header of pandas; replace a header by f0,f1,…, or insert f0,f1,… above data."
        )
    return True


def _counts(cells: Sequence[str]) -> bool:
    """Whether the cells are 0, 1, 2, …, possibly after an empty cell."""
    numbers = cells[1:] if cells[0] == "" else cells
    return list(numbers) == [str(at) for at in range(len(numbers))]


def _counts_on(cells: Sequence[str]) -> bool:
    if not all(_is_integer(cell) and len(cell) < 20 for cell in cells):
        return False
    numbers = list(map(int, cells))
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _is_integer(cell: str) -> bool:
    return cell.isascii() and cell.removeprefix("-").isdigit()


def _shown(cell: str) -> str:
    return f"'{cell}'" if cell.strip() else "an empty cell"
