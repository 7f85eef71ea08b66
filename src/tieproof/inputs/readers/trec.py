"""TREC files: the relevance judgments of queries (qrels) and the ranked documents of a system (a run).

Qrels with the header of BEIR have its three columns. Columns are separated by blanks or tabs, lines may be empty, and
a file of any name may be compressed by gzip.
"""

import gzip
import os
import zlib
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.documents import Bytes, Documents
from tieproof.inputs.readers import trec_lines
from tieproof.inputs.readers.damage import broken
from tieproof.inputs.readers.location import check
from tieproof.inputs.readers.pipes import Piped
from tieproof.inputs.readers.trec_lines import (
    LONGEST_LINE,
    NEWLINE,
    READ_ALL,
    TOO_LONG,
    LineLayout,
    LineRows,
    LinesRead,
    pieces_of,
    read_pieces,
)
from tieproof.ties import Array, FloatArray, IntArray

MOST_SHOWN = 60
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # written by some editors at the beginning

Numbers = defaultdict[bytes, int]
"""Ids and their numbers, in the order of first use."""


class TrecLayout(NamedTuple):
    """The columns of a file, the word for its values, and a sentence about another accepted layout."""

    kind: str
    columns: tuple[str, ...]
    value: str
    beside: str = ""


QRELS = TrecLayout(
    "TREC qrels",
    ("query", "iteration", "document", "grade"),
    "grade",
    " Qrels of BEIR begin with their header: query-id, corpus-id, score.",
)
BEIR = TrecLayout("BEIR qrels", ("query", "document", "grade"), "grade")
RUN = TrecLayout("a TREC run", ("query", "Q0", "document", "rank", "score", "tag"), "score")

BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]


class TrecRows(NamedTuple):
    """The rows of a file: documents of queries, and a value for each."""

    documents: Documents
    value: FloatArray


def numbering() -> Numbers:
    """Return an empty dictionary that assigns the next number to each new id.

    >>> number = numbering()
    >>> number[b"q1"], number[b"q2"], number[b"q1"]
    (0, 1, 0)
    """
    numbers: Numbers = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def read(location: str | os.PathLike[str] | Piped, layout: TrecLayout, queries: Numbers) -> TrecRows:
    """Read a file of this layout; ids of queries get their numbers from `queries`.

    Values become the nearest float64. Raises InputError, with the line, where a line has other columns or a value
    is no number.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "qrels").write_text("q1 0 d1 1")
    ...     read(f"{folder}/qrels", QRELS, numbering()).value
    array([1.])
    """
    path = checked(location)
    text = text_of(path, layout)
    layout, start = behind_header(text, layout)
    columns = LineLayout(len(layout.columns), *(map(layout.columns.index, ("query", "document", layout.value))))
    pieces = pieces_of(text, start)
    room = LineRows.of(pieces[-1].rows.stop)
    taken: list[slice] = []
    runs: list[tuple[IntArray, IntArray]] = []
    with closing(read_pieces(text, pieces, columns, room)) as parts:
        for piece, (part, found) in zip(pieces, parts, strict=True):
            read_numbers(path, layout, text, part, found)
            if found.status != READ_ALL:
                refuse_line(path, layout, text, found)
            taken.append(slice(piece.rows.start, piece.rows.start + found.rows))
            runs.append(runs_of_queries(text, part, found, queries))
    query = np.repeat(*map(np.concatenate, zip(*runs, strict=True)))
    if not len(query):
        raise InputError(f"{path} has empty lines only. {expected(layout)}")
    at, length, value = (joined(array, taken) for array in (room.document_at, room.document_length, room.value))
    return TrecRows(Documents(text, at, length, query), value)


def checked(location: str | os.PathLike[str] | Piped) -> Path | Piped:
    """Return a path that can be read, or what came through a pipe."""
    if isinstance(location, Piped):
        return location
    path = Path(location)
    check(path)
    return path


def joined(array: Array, parts: Sequence[slice]) -> Array:
    """Join parts of an array; empty lines leave gaps between them."""
    if all(before.stop == after.start for before, after in pairwise(parts)):
        return array[: parts[-1].stop]
    return np.concatenate([array[part] for part in parts])


def text_of(path: Path | Piped, layout: TrecLayout) -> Bytes:
    """Return the content of the file, unpacked if compressed; a file with NUL bytes is refused."""
    text = unpacked(path)
    if text.min(initial=1) == 0:
        raise InputError(broken(path, layout.kind))
    return text


def unpacked(path: Path | Piped) -> Bytes:
    """Return the content of the file, unpacked if compressed."""
    try:
        return trec_lines.text_of(path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path} cannot be unpacked: the gzip file is damaged or cut short; write or copy it again."
        ) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); check the disk it is on.") from error


def behind_header(text: Bytes, layout: TrecLayout) -> tuple[TrecLayout, int]:
    r"""Return the layout that the first line announces, and where the lines begin.

    >>> behind_header(np.frombuffer(b"query-id\tcorpus-id\tscore\nq1\td1\t1", np.uint8), QRELS)[1]
    24
    """
    first = text[:LONGEST_LINE].tobytes().partition(b"\n")[0]
    start = len(BYTE_ORDER_MARK) if first.startswith(BYTE_ORDER_MARK) else 0
    if layout is QRELS:
        head = first[start:]
        if head.split() == BEIR_HEADER:
            return BEIR, start + len(head)
    return layout, start


def read_numbers(path: Path | Piped, layout: TrecLayout, text: Bytes, room: LineRows, found: LinesRead) -> None:
    """Read the numbers that are left to Python: long ones, and cells that may not be numbers."""
    for row, at, length in zip(
        *(part[: found.open] for part in (room.open, room.open_at, room.open_length)), strict=True
    ):
        cell = text[at : at + length].tobytes()
        if not is_number(cell):
            raise InputError(
                f"{path} has '{shown(cell)}' as the {layout.value} on line {line_at(text, at)}, where a number is "
                f"expected. {expected(layout)}"
            )
        room.value[row] = float(cell)


def refuse_line(path: Path | Piped, layout: TrecLayout, text: Bytes, found: LinesRead) -> NoReturn:
    """Raise for a line that is too long or has the wrong number of columns."""
    line = text[found.at : found.at + LONGEST_LINE].tobytes().partition(b"\n")[0]
    if found.status == TOO_LONG:
        raise InputError(
            f"{path} has more than {LONGEST_LINE:,} bytes on line {found.line}: '{shown(line)}'. {expected(layout)}"
        )
    count = len(line.split())
    columns = f"{count} column{'s' if count > 1 else ''}"
    raise InputError(f"{path} has {columns} on line {found.line}: '{shown(line)}'. {expected(layout)}")


def runs_of_queries(text: Bytes, room: LineRows, found: LinesRead, queries: Numbers) -> tuple[IntArray, IntArray]:
    """Return the number of the query of each sequence of rows, and the length of the sequence."""
    starts, at, length = (part[: found.segments] for part in (room.segment, room.query_at, room.query_length))
    letters = text.data
    ids = (bytes(letters[first:end]) for first, end in zip(at.tolist(), (at + length).tolist(), strict=True))
    return np.fromiter(map(queries.__getitem__, ids), np.int64, found.segments), np.diff(starts, append=found.rows)


def line_at(text: Bytes, at: int) -> int:
    """Return the number of the line, from 1, that contains a position."""
    return 1 + int(np.count_nonzero(text[:at] == NEWLINE))


def expected(layout: TrecLayout) -> str:
    """Return the sentence that describes a line of the layout."""
    columns = ", ".join(layout.columns)
    return f"A line of {layout.kind} has the {len(layout.columns)} columns {columns}.{layout.beside}"


def is_number(cell: bytes) -> bool:
    """Whether a cell is a number as other programs write it."""
    try:
        float(cell)
    except ValueError:
        return False
    return b"_" not in cell


def shown(line: bytes) -> str:
    """Return the beginning of a line, for messages."""
    text = line.strip().decode(errors="replace")
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
