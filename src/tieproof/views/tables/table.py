"""`Table`: what there is to show of a result, whatever it is written in."""

from collections.abc import Sequence
from typing import NamedTuple


class Cell(NamedTuple):
    """A text, which may stand in bold, and have marks behind it that are written as superscripts."""

    text: str
    bold: bool = False
    marks: str = ""


Row = Sequence[str | Cell]


class Table(NamedTuple):
    """A table with its title above it and sentences below it; all texts are plain, and escaped by what writes them.

    header : the names of the columns
    sections : rows that belong together, as many cells each as there are columns
    numbers : the columns that stand to the right
    """

    title: str
    header: Sequence[str]
    sections: Sequence[Sequence[Row]]
    notes: Sequence[str] = ()
    numbers: Sequence[str] = ()

    def is_number(self, column: int) -> bool:
        """Whether a column stands to the right."""
        return self.header[column] in self.numbers


def as_cell(cell: str | Cell) -> Cell:
    """A cell, of a text as it is."""
    return Cell(cell) if isinstance(cell, str) else cell
