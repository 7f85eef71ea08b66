"""TREC files: the relevance judgments of queries (qrels) and the ranked documents of a system (a run).

Qrels with the header of BEIR's have its three columns. Columns are separated by blanks or tabs, lines may be empty,
and a file may be packed by gzip, whatever its name.
"""

import gzip
import os
import zlib
from collections import defaultdict
from pathlib import Path
from typing import IO, NamedTuple, NoReturn, cast

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.documents import Bytes, Documents
from tieproof.inputs.readers.damage import broken
from tieproof.inputs.readers.location import check
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, SmallIntArray

PIECE_BYTES = 2**22
"""Lines that are read before an interruption is heard: some milliseconds."""

LONGEST_LINE = 2**20
MOST_SHOWN = 60
GZIP = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # that some editors put first

Numbers = defaultdict[bytes, int]
"""Ids and the number of each, in the order in which they came."""


class TrecLayout(NamedTuple):
    """The columns of a file, what its values are, and what else is understood."""

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


class LineLayout(NamedTuple):
    """How many columns a line has, and which are the query, the document and the value."""

    columns: int
    query: int
    document: int
    value: int


class LineRows(NamedTuple):
    """Room for the rows of a file: where in the text their ids are, and their values.

    open, open_at, open_length : rows whose number is left to Python, and where that is
    segment, query_at, query_length : the first row of each run of rows with one query, and where its id is
    """

    document_at: IntArray
    document_length: SmallIntArray
    value: FloatArray
    open: IntArray
    open_at: IntArray
    open_length: SmallIntArray
    segment: IntArray
    query_at: IntArray
    query_length: SmallIntArray

    @classmethod
    def of(cls, count: int) -> "LineRows":
        """Room for so many rows."""
        types = {IntArray: np.int64, SmallIntArray: np.int32, FloatArray: np.float64}
        return cls(*(np.empty(count, types[kind]) for kind in cls.__annotations__.values()))


class LinesRead(NamedTuple):
    """What ended reading, in which place and on which line, and how much was read; what goes on from there."""

    status: int
    at: int
    line: int
    rows: int
    open: int
    segments: int


READ_ALL, WRONG_COLUMNS, TOO_LONG = 0, 1, 2
"""What ends reading: the end, a line with other columns, a line that is too long."""


class TrecRows(NamedTuple):
    """The rows of a file: documents of queries, and a value for each."""

    documents: Documents
    value: FloatArray


def numbering() -> Numbers:
    """An empty dictionary that numbers what it is asked for.

    >>> number = numbering()
    >>> number[b"q1"], number[b"q2"], number[b"q1"]
    (0, 1, 0)
    """
    numbers: Numbers = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def read(location: str | os.PathLike[str], layout: TrecLayout, queries: Numbers) -> TrecRows:
    """Read a file of this layout; ids of queries get their numbers from `queries`.

    Values become the nearest float64. Raises InputError, with the line, where a line has other columns or a value
    is no number.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "qrels").write_text("q1 0 d1 1")
    ...     read(f"{folder}/qrels", QRELS, numbering()).value
    array([1.])
    """
    path = Path(location)
    check(path)
    text = text_of(path, layout)
    layout, start = behind_header(text, layout)
    columns = LineLayout(len(layout.columns), *(map(layout.columns.index, ("query", "document", layout.value))))
    letters = np.frombuffer(text, np.uint8)
    room = LineRows.of(text.count(b"\n", start) + 1)
    found = LinesRead(READ_ALL, start, 1, 0, 0, 0)
    while found.at < len(text):
        before, stop = found, min(found.at + PIECE_BYTES, len(text))
        found = read_lines(letters, stop, LONGEST_LINE, columns, room, before)
        read_numbers(path, layout, text, room, slice(before.open, found.open))
        if found.status != READ_ALL:
            refuse_line(path, layout, text, found)
    if not found.rows:
        raise InputError(f"{path} has empty lines only. {expected(layout)}")
    rows, query = slice(found.rows), query_of_rows(text, room, found, queries)
    return TrecRows(Documents(letters, room.document_at[rows], room.document_length[rows], query), room.value[rows])


@native
def read_lines(
    text: Bytes, stop: int, longest: int, layout: LineLayout, rows: Output[LineRows], before: LinesRead
) -> LinesRead:
    """Read the lines that begin before `stop`, from where reading ended."""


def text_of(path: Path, layout: TrecLayout) -> bytes:
    """All of the file, unpacked where it is packed."""
    try:
        with opened(path) as file:
            text = file.read()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path} cannot be unpacked: the gzip file is damaged or cut short; write or copy it again."
        ) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); check the disk it is on.") from error
    if b"\0" in text:
        raise InputError(broken(path, layout.kind))
    return text


def opened(path: Path) -> IO[bytes]:
    """The file, unpacked where it is packed."""
    with path.open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def behind_header(text: bytes, layout: TrecLayout) -> tuple[TrecLayout, int]:
    r"""The layout that the first line announces, and where the lines begin.

    >>> behind_header(b"query-id\tcorpus-id\tscore\nq1\td1\t1", QRELS)[1]
    24
    """
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    if layout is QRELS:
        end = text.find(b"\n", start)
        head = text[start : end if end >= 0 else len(text)]
        if head.split() == BEIR_HEADER:
            return BEIR, start + len(head)
    return layout, start


def read_numbers(path: Path, layout: TrecLayout, text: bytes, room: LineRows, which: slice) -> None:
    """Read the numbers that are left to Python: long ones, and what is none."""
    for row, at, length in zip(room.open[which], room.open_at[which], room.open_length[which], strict=True):
        cell = text[at : at + length]
        if not is_number(cell):
            raise InputError(
                f"{path} has '{shown(cell)}' as the {layout.value} on line {line_at(text, at)}, where a number is "
                f"expected. {expected(layout)}"
            )
        room.value[row] = float(cell)


def refuse_line(path: Path, layout: TrecLayout, text: bytes, found: LinesRead) -> NoReturn:
    """Raise for a line that is too long or has other columns."""
    line = text[found.at : found.at + LONGEST_LINE].partition(b"\n")[0]
    if found.status == TOO_LONG:
        raise InputError(
            f"{path} has more than {LONGEST_LINE:,} bytes on line {found.line}: '{shown(line)}'. {expected(layout)}"
        )
    count = len(line.split())
    columns = f"{count} column{'s' if count > 1 else ''}"
    raise InputError(f"{path} has {columns} on line {found.line}: '{shown(line)}'. {expected(layout)}")


def query_of_rows(text: bytes, room: LineRows, found: LinesRead, queries: Numbers) -> IntArray:
    """The number of each row's query."""
    starts, at, length = (part[: found.segments] for part in (room.segment, room.query_at, room.query_length))
    ids = (text[first:end] for first, end in zip(at.tolist(), (at + length).tolist(), strict=True))
    numbers = np.fromiter(map(queries.__getitem__, ids), np.int64, found.segments)
    return np.repeat(numbers, np.diff(starts, append=found.rows))


def line_at(text: bytes | Bytes, at: int) -> int:
    """The number of the line, from 1, that a place is on."""
    return 1 + bytes(text[:at]).count(b"\n")


def expected(layout: TrecLayout) -> str:
    """What a line of the layout is."""
    columns = ", ".join(layout.columns)
    return f"A line of {layout.kind} has the {len(layout.columns)} columns {columns}.{layout.beside}"


def is_number(cell: bytes) -> bool:
    """Whether it is a number as other programs write it."""
    try:
        float(cell)
    except ValueError:
        return False
    return b"_" not in cell


def shown(line: bytes) -> str:
    """The beginning of a line."""
    text = line.strip().decode(errors="replace")
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
