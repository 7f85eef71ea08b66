"""Tells qrels and runs, by the first line of a file, from other files, and from each other."""

import os

from tieproof.errors import InputError
from tieproof.inputs.readers.lines import is_number, unpacked
from tieproof.inputs.readers.location import Piped
from tieproof.inputs.readers.trec import QRELS, RUN, TrecLayout, first_line


def layout_of(line: bytes) -> TrecLayout | None:
    """Return the layout that a line has, qrels or a run; None for another line.

    >>> layout_of(b"q1 0 d1 1").kind, layout_of(b"q1 Q0 d1 1 0.5 tag").kind, layout_of(b"0.5 0.25")
    ('TREC qrels', 'a TREC run', None)
    """
    cells = line.split()
    usual = len(cells) > 1 and (cells[1].upper() in (b"0", b"Q0") or not is_number(cells[1]))
    if usual and len(cells) == len(QRELS.columns) and is_number(cells[3]):
        return QRELS
    return RUN if usual and len(cells) >= len(RUN.columns) and is_number(cells[3]) and is_number(cells[4]) else None


def layout_of_file(location: str | os.PathLike[str] | Piped) -> TrecLayout | None:
    """Return the layout of a file by its first line; None for a file of another kind, or one that cannot be read."""
    try:
        _, text = unpacked(location)
    except InputError:
        return None
    return layout_of(first_line(text, 0)[0])
