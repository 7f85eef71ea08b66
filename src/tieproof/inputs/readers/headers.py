"""Whether the first row of a table in text is a header."""

from collections.abc import Collection, Sequence

from tieproof.errors import InputError
from tieproof.inputs.readers.entries import NAMES
from tieproof.inputs.readers.remote import File

SURE = {name for names in NAMES.values() for name in names if len(name) > 1} - set(NAMES["embeddings"])
SHORT = "y"  # as likely a label, yes
ROWS = 1000
"""How many rows are looked at."""

FEW = 8
"""Rows of fewer numbers may count by chance; of more, only where others do, too."""


def is_header(cells: Sequence[str], below: Sequence[Sequence[str]], named: Collection[str], path: File) -> bool:
    """Tell a header from data: it has a known name, or several cells without a number, or counts from 0.

    below : the row under it, if there is one, and where the first row counts, up to `ROWS` of them
    named : columns that a location names

    To count is how pandas names columns that have no names, after an empty cell for its index. Without that cell,
    and where the rows below hold integers, too, it may as well be data, and is refused.
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
            f"{path} counts {', '.join(names[:3])}{', …' if len(names) > 3 else ''} on line 1 above integers, which "
            "may be numbers or the header that pandas writes; write f0,f1,… in place of a header, or above numbers."
        )
    return True


def counts(cells: Sequence[str]) -> bool:
    """Whether they are 0, 1, 2, …, perhaps behind an empty cell."""
    numbers = cells[1:] if cells[0] == "" else cells
    return list(numbers) == [str(at) for at in range(len(numbers))]


def is_number(cell: str) -> bool:
    """Whether NumPy's reader takes it; Python's also takes 1_000 and the digits of other scripts."""
    if "_" in cell or not cell.isascii():
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_integer(cell: str) -> bool:
    """Whether it is written as an integer is."""
    return cell.isascii() and cell.removeprefix("-").isdigit()


def _may_be_data(width: int, below: Sequence[Sequence[str]]) -> bool:
    """Whether there are integers below, too (pandas writes floats with a point); for long rows, others that count."""
    rows = [[cell.strip() for cell in cells] for cells in below]
    if width < FEW:
        return any(is_integer(cell) for cells in rows for cell in cells)
    return any(_counts_on(cells) for cells in rows)


def _counts_on(cells: Sequence[str]) -> bool:
    if not all(is_integer(cell) and len(cell) < 20 for cell in cells):
        return False
    numbers = list(map(int, cells))
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))
