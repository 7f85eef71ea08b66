"""Decides whether the first row of a text table is a header."""

from collections.abc import Collection, Sequence

from tieproof.errors import InputError
from tieproof.inputs.readers.entries import NAMES
from tieproof.inputs.readers.remote import File

SURE = {name for names in NAMES.values() for name in names if len(name) > 1} - set(NAMES["embeddings"])
SHORT = "y"  # may also be a label that means "yes"
ROWS = 1000
"""The number of rows that are looked at."""

FEW = 8
"""A row of fewer numbers may be 0, 1, 2, … by chance; a longer one only if other rows count, too."""


def is_header(cells: Sequence[str], below: Sequence[Sequence[str]], named: Collection[str], path: File) -> bool:
    """Whether the first row is a header: it has a known name, or several cells without a number, or is 0, 1, 2, ….

    below : the next row, if there is one; if the first row counts, up to `ROWS` rows
    named : the columns that a location names

    pandas writes 0, 1, 2, … for columns without names, after an empty cell for its index. Without that cell, and if
    the rows below contain integers, too, the row may be data, and is refused.
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
    if not counts(names):
        return False
    if names[0] != "" and _may_be_data(len(names), below):
        raise InputError(
            f"{path} has {', '.join(names[:3])}{', …' if len(names) > 3 else ''} on line 1 above integers, which may "
            "be data or a header of pandas; replace a header by f0,f1,…, or insert f0,f1,… above data."
        )
    return True


def counts(cells: Sequence[str]) -> bool:
    """Whether the cells are 0, 1, 2, …, possibly after an empty cell."""
    numbers = cells[1:] if cells[0] == "" else cells
    return list(numbers) == [str(at) for at in range(len(numbers))]


def is_number(cell: str) -> bool:
    """Whether NumPy's reader accepts a cell; Python also accepts 1_000 and the digits of other scripts."""
    if "_" in cell or not cell.isascii():
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_integer(cell: str) -> bool:
    """Whether a cell is written as an integer."""
    return cell.isascii() and cell.removeprefix("-").isdigit()


def _may_be_data(width: int, below: Sequence[Sequence[str]]) -> bool:
    """Whether rows below have integers, too (pandas writes floats with a point), or for long rows also count."""
    rows = [[cell.strip() for cell in cells] for cells in below]
    if width < FEW:
        return any(is_integer(cell) for cells in rows for cell in cells)
    return any(_counts_on(cells) for cells in rows)


def _counts_on(cells: Sequence[str]) -> bool:
    if not all(is_integer(cell) and len(cell) < 20 for cell in cells):
        return False
    numbers = list(map(int, cells))
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))
