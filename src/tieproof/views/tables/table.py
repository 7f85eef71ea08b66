"""`Table`: the content of a table, independent of its format."""

from collections.abc import Sequence
from typing import NamedTuple


class Cell(NamedTuple):
    """A text, optionally in bold, and with marks after it that are written as superscripts."""

    text: str
    bold: bool = False
    marks: str = ""


Row = Sequence[str | Cell]


class Table(NamedTuple):
    """A table with a title above it and sentences below it; all texts are plain, and each format escapes them.

    header : the names of the columns
    sections : groups of rows; each row has one cell for each column
    numbers : the columns that are aligned to the right
    """

    title: str
    header: Sequence[str]
    sections: Sequence[Sequence[Row]]
    notes: Sequence[str] = ()
    numbers: Sequence[str] = ()

    def is_number(self, column: int) -> bool:
        """Whether a column is aligned to the right."""
        return self.header[column] in self.numbers


def as_cell(cell: str | Cell) -> Cell:
    """A cell; a text becomes a cell without bold or marks."""
    return Cell(cell) if isinstance(cell, str) else cell
