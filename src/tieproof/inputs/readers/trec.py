"""TREC files: the relevance judgments of queries (qrels) and the ranked documents of a system (a run).

Qrels with the header of BEIR have its three columns, and a run of MS MARCO has three, without scores. Columns are
separated by blanks or tabs, lines may be empty or comments (#), and a file of any name may be compressed by gzip.

A file is read whole, not mapped: a mapped one that is cut short meanwhile ends the process, and reading takes a tenth
of the time. One that changes meanwhile is refused. Threads then read pieces of the text, and note where the ids of
each line are, and its number.
"""

import gzip
import os
import zlib
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import unchanged
from tieproof.inputs.documents import Bytes, Documents
from tieproof.inputs.options import parse_threads
from tieproof.inputs.readers.location import LONGEST_BEGINNING, Piped, broken, check, kind_of
from tieproof.native.calls import Output, native
from tieproof.native.threads import for_each, in_order
from tieproof.ties import Array, FloatArray, IntArray, SmallIntArray

MOST_SHOWN = 60
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # written by some editors at the beginning
GZIP = b"\x1f\x8b"
NEWLINE = ord("\n")

PIECE_BYTES = 2**22
"""The lines that a thread reads between checks for an interruption: some milliseconds."""

LONGEST_LINE = 2**20

Numbers = defaultdict[bytes, int]
"""Ids and their numbers, in the order of first use."""


class TrecLayout(NamedTuple):
    """The columns of a file, the word for its values, and a sentence about another accepted layout.

    more : whether further columns may follow, which are not read
    """

    kind: str
    columns: tuple[str, ...]
    value: str
    beside: str = ""
    more: bool = False


QRELS = TrecLayout(
    "TREC qrels",
    ("query", "iteration", "document", "grade"),
    "grade",
    " Qrels of BEIR begin with their header: query-id, corpus-id, score.",
)
BEIR = TrecLayout("BEIR qrels", ("query", "document", "grade"), "grade")
RUN = TrecLayout(
    "a TREC run",
    ("query", "Q0", "document", "rank", "score", "tag"),
    "score",
    " A run of MS MARCO has the 3 columns query, document, rank.",
    more=True,
)
MS_MARCO = TrecLayout("a run of MS MARCO", ("query", "document", "rank"), "rank")
"""https://microsoft.github.io/MSMARCO-Passage-Ranking-Submissions: a smaller rank is nearer."""

BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]


class LineLayout(NamedTuple):
    """The number of columns of a line, and which are the query, the document and the value.

    more : 1 if further columns may follow, which are not read, else 0
    """

    columns: int
    query: int
    document: int
    value: int
    more: int = 0


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
        """Allocate room for so many rows."""
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
"""The reasons why reading stops: the end, a line with wrong columns, a line that is too long."""


def numbering() -> Numbers:
    """Return an empty dictionary that assigns the next number to each new id."""
    numbers: Numbers = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def read(
    location: str | os.PathLike[str] | Piped, layout: TrecLayout, queries: Numbers
) -> tuple[Documents, FloatArray]:
    """Read the documents of a file of this layout and their values; ids of queries get numbers from `queries`.

    Values become the nearest float64. Raises InputError, with the line, where a line has other columns or a value
    is no number.
    """
    path, text = unpacked(location)
    if text.min(initial=1) == 0:
        raise InputError(broken(path, layout.kind, _beginning(text)))
    start = len(BYTE_ORDER_MARK) if text[: len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK else 0
    first, behind = _first_line(text, start)
    if layout is QRELS and first == BEIR_HEADER:
        layout, start = BEIR, behind
    elif layout is RUN and len(first) == len(MS_MARCO.columns):
        layout = MS_MARCO
    place = layout.columns.index
    columns = LineLayout(
        len(layout.columns), place("query"), place("document"), place(layout.value), int(layout.more)
    )
    letters, rows = _pieces_of(text, start)
    room = LineRows.of(rows[-1].stop)

    def lines_of(piece: tuple[slice, slice]) -> tuple[LineRows, LinesRead]:
        part = LineRows._make(array[piece[1]] for array in room)
        before = LinesRead(READ_ALL, piece[0].start, 1 + piece[1].start, 0, 0, 0)
        return part, read_lines(text, piece[0].stop, LONGEST_LINE, columns, part, before)

    taken: list[slice] = []
    runs: list[tuple[IntArray, IntArray]] = []
    with closing(in_order(lines_of, zip(letters, rows, strict=True), parse_threads(None))) as parts:
        for piece, (part, lines) in zip(rows, parts, strict=True):
            _read_numbers(path, layout, text, part, lines)
            if lines.status != READ_ALL:
                _refuse_line(path, layout, text, lines)
            taken.append(slice(piece.start, piece.start + lines.rows))
            runs.append(_runs_of_queries(text, part, lines, queries))
    query = np.repeat(*map(np.concatenate, zip(*runs, strict=True)))
    if not len(query):
        raise InputError(f"{path} has only empty lines or comments. {_expected(layout)}")
    at, length, value = (_joined(array, taken) for array in (room.document_at, room.document_length, room.value))
    if layout is MS_MARCO:
        _check_ranks(path, text, at, query, value)
        value = -value
    return Documents(text, at, length, query), value


def _first_line(text: Bytes, start: int) -> tuple[list[bytes], int]:
    """Return the cells of the first line that is neither empty nor a comment, and the position behind that line."""
    while start < len(text):
        line = text[start : start + LONGEST_LINE].tobytes().partition(b"\n")[0]
        start += len(line)
        if (cells := line.split()) and not cells[0].startswith(b"#"):
            return cells, start
        start += 1
    return [], len(text)


def _check_ranks(path: Path | Piped, text: Bytes, at: IntArray, query: IntArray, rank: FloatArray) -> None:
    """Refuse numbers that are no ranks: three columns may also be scores, or judgments without their header."""
    as_scores = "write scores as a TREC run, whose 6 columns are query, Q0, document, rank, score, tag."
    wrong = np.flatnonzero((rank < 0) | (rank != np.rint(rank)))
    if wrong.size:
        raise InputError(
            f"{path} has {rank[wrong[0]]:g} as the rank on line {line_at(text, at[wrong[0]])}, where a whole number "
            f"is expected. {_expected(MS_MARCO)} Ranks are whole numbers; {as_scores}"
        )
    order = np.lexsort((at, rank, query))
    again = np.flatnonzero((np.diff(query[order]) == 0) & (np.diff(rank[order]) == 0))
    if again.size:
        first, second = order[again[0]], order[again[0] + 1]
        raise InputError(
            f"{path} has the rank {rank[first]:g} twice for one query, on lines {line_at(text, at[first])} and "
            f"{line_at(text, at[second])}. {_expected(MS_MARCO)} Each rank of a query occurs once; {as_scores}"
        )


def unpacked(location: str | os.PathLike[str] | Piped) -> tuple[Path | Piped, Bytes]:
    """Return a path, or what came through a pipe, and the content, unpacked if compressed."""
    path = location if isinstance(location, Piped) else Path(location)
    if isinstance(path, Path):
        check(path)
    try:
        if isinstance(path, Piped):
            packed = path.content.startswith(GZIP)
            return path, np.frombuffer(gzip.decompress(path.content) if packed else path.content, np.uint8)
        with unchanged([os.fspath(path)]):
            return path, _content_of(path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path} cannot be unpacked: the gzip file is damaged or cut short; write or copy it again."
        ) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); check the disk it is on.") from error


def _content_of(path: Path) -> Bytes:
    with path.open("rb") as file:
        packed, size = file.read(len(GZIP)) == GZIP, os.fstat(file.fileno()).st_size
    if packed:
        with gzip.open(path) as content:
            return np.frombuffer(content.read(), np.uint8)
    text = np.empty(size, np.uint8)

    def fill(piece: slice) -> None:
        with path.open("rb") as file:
            file.seek(piece.start)
            file.readinto(text[piece].data)

    for_each(fill, _slices([*range(0, size, PIECE_BYTES), size]), parse_threads(None))
    return text


def _pieces_of(text: Bytes, start: int) -> tuple[list[slice], list[slice]]:
    """Split a text from a position on into pieces of whole lines, at least one.

    Returns the letters of each piece, and the rows of the room that its lines may take.
    """
    starts = [start]
    for near in range(start + PIECE_BYTES, len(text), PIECE_BYTES):
        if near > starts[-1]:
            behind = text[near - 1 : near + LONGEST_LINE].tobytes().find(b"\n")
            starts.append(near + max(behind, 0))  # or within a line that is refused for its length
    letters = _slices([*starts, len(text)])
    lines = in_order(lambda piece: int(np.count_nonzero(text[piece] == NEWLINE)), letters, parse_threads(None))
    ends = [0, *accumulate(lines)]
    ends[-1] += 1  # the last line may have no end
    return letters, _slices(ends)


def _slices(bounds: Sequence[int]) -> list[slice]:
    return [slice(*pair) for pair in pairwise(bounds)]


@native
def read_lines(
    text: Bytes, stop: int, longest: int, layout: LineLayout, rows: Output[LineRows], before: LinesRead
) -> LinesRead:
    """Read the lines that begin before `stop`, from where reading ended."""


def _read_numbers(path: Path | Piped, layout: TrecLayout, text: Bytes, room: LineRows, lines: LinesRead) -> None:
    """Read the numbers that are left to Python: long ones, and cells that may not be numbers."""
    for row, at, length in zip(
        *(part[: lines.open] for part in (room.open, room.open_at, room.open_length)), strict=True
    ):
        cell = text[at : at + length].tobytes()
        if not _is_number(cell):
            raise InputError(
                f"{path} has '{shown(cell)}' as the {layout.value} on line {line_at(text, at)}, where a number is "
                f"expected. {_expected(layout)}"
            )
        room.value[row] = float(cell)


def _is_number(cell: bytes) -> bool:
    """Whether a cell is a number as other programs write it."""
    try:
        float(cell)
    except ValueError:
        return False
    return b"_" not in cell


def _refuse_line(path: Path | Piped, layout: TrecLayout, text: Bytes, lines: LinesRead) -> NoReturn:
    """Raise for a line that is too long or has the wrong number of columns."""
    line = text[lines.at : lines.at + LONGEST_LINE].tobytes().partition(b"\n")[0]
    if lines.status == TOO_LONG:
        raise InputError(
            f"{path} has more than {LONGEST_LINE:,} bytes on line {lines.line}: '{shown(line)}'. {_expected(layout)}"
        )
    if kind_of(_beginning(text)):
        raise InputError(broken(path, layout.kind, _beginning(text)))
    count = len(line.split())
    columns = f"{count} column{'s' if count > 1 else ''}"
    commas = (
        " For a table with commas, pass the data frame of pandas.read_csv to tp.evaluate_run." if b"," in line else ""
    )
    raise InputError(f"{path} has {columns} on line {lines.line}: '{shown(line)}'. {_expected(layout)}{commas}")


def _beginning(text: Bytes) -> bytes:
    """Return the first bytes, which tell files of other kinds."""
    return text[:LONGEST_BEGINNING].tobytes()


def _runs_of_queries(text: Bytes, room: LineRows, lines: LinesRead, queries: Numbers) -> tuple[IntArray, IntArray]:
    """Return the number of the query of each sequence of rows, and the length of the sequence."""
    starts, at, length = (part[: lines.segments] for part in (room.segment, room.query_at, room.query_length))
    letters = text.data
    ids = (bytes(letters[first:end]) for first, end in zip(at.tolist(), (at + length).tolist(), strict=True))
    return np.fromiter(map(queries.__getitem__, ids), np.int64, lines.segments), np.diff(starts, append=lines.rows)


def _joined(array: Array, parts: Sequence[slice]) -> Array:
    """Join parts of an array; empty lines leave gaps between them."""
    if all(before.stop == after.start for before, after in pairwise(parts)):
        return array[: parts[-1].stop]
    return np.concatenate([array[part] for part in parts])


def line_at(text: Bytes, at: int) -> int:
    """Return the number of the line, from 1, that contains a position."""
    return 1 + int(np.count_nonzero(text[:at] == NEWLINE))


def _expected(layout: TrecLayout) -> str:
    columns = ", ".join(layout.columns)
    return f"A line of {layout.kind} has the {len(layout.columns)} columns {columns}.{layout.beside}"


def shown(line: bytes) -> str:
    """Return the beginning of a line, for messages."""
    text = line.strip().decode(errors="replace")
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
