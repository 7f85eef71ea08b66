"""The lines of a TREC file, parsed by Python's methods of bytes."""

from typing import NamedTuple


class Row(NamedTuple):
    """The positions of a row's ids and of its number in the text."""

    query: tuple[int, int]
    document: tuple[int, int]
    value: tuple[int, int]


def rows_of(
    text: bytes, columns: int, query: int, document: int, value: int, more: int = 0
) -> tuple[list[Row], int | None]:
    """The rows, and the number of the first line with other columns, if there is one; from 1.

    Lines that begin with # have none. more : whether further columns may follow
    """
    rows: list[Row] = []
    start = 0
    for number, line in enumerate(text.split(b"\n"), 1):
        cells, at = [], 0
        for cell in [] if line.lstrip().startswith(b"#") else line.split():
            at = line.index(cell, at)
            cells.append((start + at, len(cell)))
            at += len(cell)
        if cells and len(cells) != columns and not (more and len(cells) > columns):
            return rows, number
        if cells:
            rows.append(Row(cells[query], cells[document], cells[value]))
        start += len(line) + 1
    return rows, None
