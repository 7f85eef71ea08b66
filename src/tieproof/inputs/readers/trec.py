"""TREC files: the relevance judgments of queries (qrels) and the ranked documents of a system (a run).

Qrels with the header of BEIR have its three columns, and a run of MS MARCO has three, without scores. Columns are
separated by blanks or tabs, and ids may contain blanks where tabs separate all columns. Lines may be empty or
comments (#), and a file of any name may be compressed.
"""

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from tieproof.errors import InputError, warn
from tieproof.inputs.documents import Bytes, Documents
from tieproof.inputs.options import parse_threads
from tieproof.inputs.readers import lines
from tieproof.inputs.readers.lines import BYTE_ORDER_MARK, LONGEST_LINE, NEWLINE, is_number, shown
from tieproof.inputs.readers.location import LONGEST_BEGINNING, Piped, broken, kind_of
from tieproof.native.calls import Output, native
from tieproof.native.threads import in_order
from tieproof.ties import FloatArray, IntArray, SmallIntArray

SAMPLE_BYTES = 2**18  # of lines whose ranks are compared with the scores first: less than a millisecond

Numbers = defaultdict[bytes, int]  # ids and their numbers, in the order of first use


class TrecLayout(NamedTuple):
    """The columns of a file, and how messages tell of them."""

    kind: str  # what the file is called
    columns: tuple[str, ...]
    value: str  # what its values are called
    beside: str = ""  # a sentence about another accepted layout
    more: bool = False  # whether further columns may follow, which are not read


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
THREE = TrecLayout("a run of three columns", ("query", "document", "rank or score"), "rank or score")
"""https://microsoft.github.io/MSMARCO-Passage-Ranking-Submissions: a smaller rank is nearer."""

BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]


class LineLayout(NamedTuple):
    """How many columns a line has, which are the query, the document and the value, and 1 if more may follow."""

    columns: int
    query: int
    document: int
    value: int
    more: int = 0


class LineRows(NamedTuple):
    """Room for the rows of a file: where in the text their ids are, and their values."""

    document_at: IntArray
    document_length: SmallIntArray
    value: FloatArray
    open: IntArray  # rows whose number is left to Python
    open_at: IntArray  # where that number is
    open_length: SmallIntArray
    segment: IntArray  # the first row of each run of rows with one query
    query_at: IntArray  # where the id of that query is
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


READ_ALL, WRONG_COLUMNS, TOO_LONG = 0, 1, 2  # why reading stops


def numbering() -> Numbers:
    """Return an empty dictionary that assigns the next number to each new id."""
    numbers: Numbers = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def read(
    location: str | os.PathLike[str] | Piped, layout: TrecLayout, queries: Numbers
) -> tuple[Documents, FloatArray, FloatArray | None, bool]:
    """Read a file of this layout; ids of queries get numbers from `queries`.

    Returns the documents, their values as the nearest float64, the ranks of a run if they may contradict its scores,
    and whether the values are minus the ranks. Raises InputError, with the line, where a line has other columns or a
    value is no number. Warns of comments that may be rows, and of three columns whose whole numbers are no ranks.
    """
    path, text = lines.unpacked(location)
    if text.min(initial=1) == 0:
        raise _of_another_kind(path, layout, text)
    start = len(BYTE_ORDER_MARK) if text[: len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK else 0
    first, behind = first_line(text, start)
    if layout is QRELS and first.split() == BEIR_HEADER:
        layout, start = BEIR, behind
    elif layout is RUN and _has_three_columns(first):
        layout = THREE
    columns = _columns(layout, layout.value)
    letters, rows = lines.pieces_of(text, start)
    split = lines.with_blanks_hidden(text, columns.columns - 1) if b"\t" in first else text
    room = LineRows.of(rows[-1].stop)

    def lines_of(piece: tuple[slice, slice]) -> tuple[LineRows, LinesRead]:
        part = LineRows._make(array[piece[1]] for array in room)
        before = LinesRead(READ_ALL, piece[0].start, 1 + piece[1].start, 0, 0, 0)
        return part, read_lines(split, piece[0].stop, LONGEST_LINE, columns, part, before)

    taken: list[slice] = []
    skipped: list[slice] = []
    runs: list[tuple[IntArray, IntArray]] = []
    with closing(in_order(lines_of, zip(letters, rows, strict=True), parse_threads(None))) as parts:
        for place, piece, (part, done) in zip(letters, rows, parts, strict=True):
            _read_numbers(path, layout, text, part, done)
            if done.status != READ_ALL:
                _refuse_line(path, layout, text, split, done)
            taken.append(slice(piece.start, piece.start + done.rows))
            if done.rows < piece.stop - piece.start:  # lines that are empty, or comments
                skipped.append(place)
            runs.append(_runs_of_queries(text, part, done, queries))
    query = np.repeat(*map(np.concatenate, zip(*runs, strict=True)))
    if not len(query):
        raise InputError(f"{path} has only empty lines or comments. {_expected(layout)}")
    at, length, value = (
        np.concatenate([array[part] for part in taken])  # empty lines and comments leave gaps between the parts
        for array in (room.document_at, room.document_length, room.value)
    )
    _warn_of_comments(path, layout, text, skipped)
    given = value
    if layout is THREE:
        value = _as_scores(str(path), query, value, list(queries))
    rank = None
    if layout is RUN:
        start = letters[0].start
        some = _ranks(split, [slice(start, min(start + SAMPLE_BYTES, len(text)))])
        if some is not None and _may_contradict(query[: len(some)], some, value[: len(some)]):
            rank = _ranks(split, letters)
    return Documents(text, at, length, query), value, rank, value is not given


def first_line(text: Bytes, start: int) -> tuple[bytes, int]:
    """Return the first line that is neither empty nor a comment, and the position behind that line."""
    while start < len(text):
        line = text[start : start + LONGEST_LINE].tobytes().partition(b"\n")[0]
        start += len(line)
        if line.split() and not line.split()[0].startswith(b"#"):
            return line, start
        start += 1
    return b"", len(text)


def _columns(layout: TrecLayout, value: str) -> LineLayout:
    place = layout.columns.index
    return LineLayout(len(layout.columns), place("query"), place("document"), place(value), int(layout.more))


def _has_three_columns(first: bytes) -> bool:
    """Whether the first line of a run has three columns, of which an id may contain blanks between tabs."""
    cells = first.split()
    by_tabs = first.count(b"\t") == 2 and not (len(cells) >= len(RUN.columns) and is_number(cells[4]))
    return len(cells) == len(THREE.columns) or by_tabs


def _ranks(text: Bytes, pieces: Sequence[slice]) -> FloatArray | None:
    """Return the ranks of the lines of a run; None if one is no number."""
    columns = _columns(RUN, "rank")
    found: list[FloatArray] = []
    for piece in pieces:
        rows = LineRows.of(1 + int(np.count_nonzero(text[piece] == NEWLINE)))
        before = LinesRead(READ_ALL, piece.start, 1, 0, 0, 0)
        done = read_lines(text, piece.stop, LONGEST_LINE, columns, rows, before)
        if done.open:
            return None
        found.append(rows.value[: done.rows])
    return np.concatenate(found)


def _may_contradict(query: IntArray, rank: FloatArray, score: FloatArray) -> bool:
    """Whether any two adjacent rows contradict each other, which is fast to check."""
    same = query[1:] == query[:-1]
    return bool((same & (np.diff(rank) * np.diff(score) > 0)).any())


def _as_scores(path: str, query: IntArray, value: FloatArray, names: Sequence[bytes]) -> FloatArray:
    """Return the third column of a run as scores: minus the ranks if every list has ranks, from 0 or 1 to its length.

    Other whole numbers may be ranks of which some are missing, and are warned about, if those of every list are
    different and begin with its smallest one.
    """
    order = np.lexsort((value, query))
    ordered, starts = value[order], np.flatnonzero(np.diff(query[order], prepend=-1) != 0)
    length = np.diff(starts, append=len(order))
    begin = np.repeat(ordered[starts], length)
    wrong = (ordered - (np.arange(len(order)) - np.repeat(starts, length)) != begin) | ((begin != 0) & (begin != 1))
    if not wrong.any():
        return -value
    first_read = value[np.minimum.reduceat(order, starts)]
    repeated = (np.diff(ordered) == 0) & (np.diff(query[order]) == 0)
    if (value == np.rint(value)).all() and not repeated.any() and (first_read == ordered[starts]).all():
        called = names[query[order[np.argmax(wrong)]]].decode(errors="replace")
        warn(
            f"{path}: the third column is read as scores, where larger is nearer, because its numbers for query "
            f"'{called}' are not the ranks from 1, or from 0, to the length of the list. If they are ranks, number "
            "the documents of each query anew, without gaps."
        )
    return value


def _warn_of_comments(path: Path | Piped, layout: TrecLayout, text: Bytes, pieces: Sequence[slice]) -> None:
    """Warn of lines that are left out as comments, but may be rows whose query begins with #."""
    found: list[bytes] = []
    least, value = len(layout.columns), layout.columns.index(layout.value)
    for line in lines.comments(text, pieces):
        cells = line.split(b"\t") if line.count(b"\t") >= least - 1 else line.split()
        fits = len(cells) == least or (layout.more and len(cells) > least)
        if fits and len(cells[0]) > 1 and is_number(cells[value]):
            found.append(line)
    if found:
        name = found[0].split()[0].decode(errors="replace")
        warn(
            f"{path}: {len(found):,} of the lines that begin with # {'has' if len(found) == 1 else 'have'} all "
            f"columns, but {'is' if len(found) == 1 else 'are'} left out as comments; the first is "
            f"'{shown(found[0])}'. If '{name}' is a query, rename it in the qrels and in the run, or pass both as "
            "dictionaries."
        )


@native
def read_lines(
    text: Bytes, stop: int, longest: int, layout: LineLayout, rows: Output[LineRows], before: LinesRead
) -> LinesRead:
    """Read the lines that begin before `stop`, from where reading ended."""


def _read_numbers(path: Path | Piped, layout: TrecLayout, text: Bytes, room: LineRows, done: LinesRead) -> None:
    """Read the numbers that are left to Python: long ones, and cells that may not be numbers."""
    for row, at, length in zip(
        *(part[: done.open] for part in (room.open, room.open_at, room.open_length)), strict=True
    ):
        cell = text[at : at + length].tobytes()
        if not is_number(cell):
            raise InputError(
                f"{path} has '{shown(cell)}' as the {layout.value} on line {lines.line_at(text, at)}, where a number "
                f"is expected. {_expected(layout)}"
            )
        room.value[row] = float(cell)


def _refuse_line(path: Path | Piped, layout: TrecLayout, text: Bytes, split: Bytes, done: LinesRead) -> NoReturn:
    """Raise for a line that is too long or has, with its blanks hidden in `split`, the wrong number of columns."""
    line = text[done.at : done.at + LONGEST_LINE].tobytes().partition(b"\n")[0]
    if done.status == TOO_LONG:
        raise InputError(
            f"{path} has more than {LONGEST_LINE:,} bytes on line {done.line}: '{shown(line)}'. {_expected(layout)}"
        )
    if kind_of(text[:LONGEST_BEGINNING].tobytes()):
        raise _of_another_kind(path, layout, text)
    count = len(split[done.at : done.at + len(line)].tobytes().split())
    columns = f"{count} column{'s' if count > 1 else ''}"
    advice = ""
    if line.lstrip().startswith(b"{"):
        advice = " Predictions are a run, which is passed after the qrels." if b'"results"' in line else _FRAME[b"{"]
    elif b"," in line or b";" in line:
        advice = _FRAME[max(b",", b";", key=line.count)]
    strange = next((each for each in line.decode(errors="ignore") if each.isspace() and not each.isascii()), "")
    if strange and not advice:
        advice = f" The line has a space U+{ord(strange):04X}, which separates no columns; replace it by a blank."
    raise InputError(f"{path} has {columns} on line {done.line}: '{shown(line)}'. {_expected(layout)}{advice}")


_FRAME = {
    start: f" For {what}, pass the data frame of {read} to tp.evaluate_run."
    for start, what, read in (
        (b",", "a table with commas", "pandas.read_csv"),
        (b";", "a table with semicolons", "pandas.read_csv(…, sep=';')"),
        (b"{", "lines of JSON", "pandas.read_json(…, lines=True, dtype=False)"),
        (b"PAR1", "a Parquet file", "pandas.read_parquet"),
    )
}
"""What to do with tables in other formats, by how they begin."""


def _of_another_kind(path: Path | Piped, layout: TrecLayout, text: Bytes) -> InputError:
    """Return the error for a file whose first bytes may tell of which kind it is."""
    beginning = text[:LONGEST_BEGINNING].tobytes()
    advice = _FRAME[b"PAR1"] if beginning.startswith(b"PAR1") else ""
    why = (
        "it has NUL characters, as damaged, packed or UTF-16 files do; write it again, unpack it, or save it as UTF-8"
    )
    return InputError(broken(path, layout.kind, beginning, why) + advice)


def _runs_of_queries(text: Bytes, room: LineRows, done: LinesRead, queries: Numbers) -> tuple[IntArray, IntArray]:
    """Return the number of the query of each sequence of rows, and the length of the sequence."""
    starts, at, length = (part[: done.segments] for part in (room.segment, room.query_at, room.query_length))
    letters = text.data
    ids = (bytes(letters[first:end]) for first, end in zip(at.tolist(), (at + length).tolist(), strict=True))
    return np.fromiter(map(queries.__getitem__, ids), np.int64, done.segments), np.diff(starts, append=done.rows)


def _expected(layout: TrecLayout) -> str:
    columns = ", ".join(layout.columns)
    return f"A line of {layout.kind} has the {len(layout.columns)} columns {columns}.{layout.beside}"
