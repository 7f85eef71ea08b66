"""The lines of a TREC file: where the ids of each stand, and its number; threads read pieces of the file at a time.

A file is read whole, not mapped: a mapped one that is cut short meanwhile ends the process, and reading takes a tenth
of the time. One that changes meanwhile is refused.
"""

import gzip
import os
from collections.abc import Generator, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.inputs.documents import Bytes
from tieproof.inputs.mapped import unchanged
from tieproof.inputs.options import parse_threads
from tieproof.inputs.readers.pipes import Piped
from tieproof.native.calls import Output, native
from tieproof.native.threads import for_each, in_order
from tieproof.ties import FloatArray, IntArray, SmallIntArray

PIECE_BYTES = 2**22
"""The lines that a thread reads between checks for an interruption: some milliseconds."""

LONGEST_LINE = 2**20
GZIP = b"\x1f\x8b"
NEWLINE = ord("\n")


class LineLayout(NamedTuple):
    """The number of columns of a line, and which are the query, the document and the value."""

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


def text_of(path: Path | Piped) -> Bytes:
    """Return the content of the file, unpacked if compressed; exceptions of opening, reading and unpacking pass."""
    if isinstance(path, Piped):
        packed = path.content.startswith(GZIP)
        return np.frombuffer(gzip.decompress(path.content) if packed else path.content, np.uint8)
    with unchanged([os.fspath(path)]):
        with path.open("rb") as file:
            packed, size = file.read(len(GZIP)) == GZIP, os.fstat(file.fileno()).st_size
        if packed:
            with gzip.open(path) as unpacked:
                return np.frombuffer(unpacked.read(), np.uint8)
        text = np.empty(size, np.uint8)

        def fill(piece: slice) -> None:
            with path.open("rb") as file:
                file.seek(piece.start)
                file.readinto(text[piece].data)

        for_each(fill, slices([*range(0, size, PIECE_BYTES), size]), parse_threads(None))
        return text


class Piece(NamedTuple):
    """A piece of a text, and the rows of the room that its lines may take."""

    letters: slice
    rows: slice


def pieces_of(text: Bytes, start: int) -> list[Piece]:
    """Split a text from a position on into pieces of whole lines, at least one."""
    letters = [*slices(line_starts(text, start))]
    lines = in_order(lambda piece: int(np.count_nonzero(text[piece] == NEWLINE)), letters, parse_threads(None))
    ends = [0, *accumulate(lines)]
    ends[-1] += 1  # the last line may have no end
    return [*map(Piece, letters, slices(ends))]


def read_pieces(
    text: Bytes, pieces: list[Piece], layout: LineLayout, room: LineRows
) -> Generator[tuple[LineRows, LinesRead], None, None]:
    """For each piece, in their order, its part of the room and what is read, up to what is wrong."""

    def read(piece: Piece) -> tuple[LineRows, LinesRead]:
        rows = LineRows._make(array[piece.rows] for array in room)
        before = LinesRead(READ_ALL, piece.letters.start, 1 + piece.rows.start, 0, 0, 0)
        return rows, read_lines(text, piece.letters.stop, LONGEST_LINE, layout, rows, before)

    return in_order(read, pieces, parse_threads(None))


def line_starts(text: Bytes, start: int) -> list[int]:
    """Return where pieces of about the same length begin, each at a line, and where the last one ends."""
    starts = [start]
    for near in range(start + PIECE_BYTES, len(text), PIECE_BYTES):
        if near > starts[-1]:
            behind = text[near - 1 : near + LONGEST_LINE].tobytes().find(b"\n")
            starts.append(near + max(behind, 0))  # or within a line that is refused for its length
    return [*starts, len(text)]


def slices(bounds: Sequence[int]) -> Iterator[slice]:
    """What is between each two bounds that follow each other."""
    return (slice(*pair) for pair in pairwise(bounds))


@native
def read_lines(
    text: Bytes, stop: int, longest: int, layout: LineLayout, rows: Output[LineRows], before: LinesRead
) -> LinesRead:
    """Read the lines that begin before `stop`, from where reading ended."""
