"""TREC files: the relevance judgments of queries (qrels) and the ranked documents of a system (a run).

Qrels with the header of BEIR's have its three columns. Columns are separated by blanks or tabs, lines may be empty,
and a file may be packed by gzip, whatever its name.
"""

import gzip
import os
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, NoReturn, cast

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.damage import broken
from tieproof.inputs.readers.location import check
from tieproof.ties import FloatArray, IntArray

BLOCK_BYTES = 2**18
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


class TrecColumns(NamedTuple):
    """A query, a document and a value for each line that is not empty; ids as their numbers."""

    query: IntArray
    document: IntArray
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


def read(location: str | os.PathLike[str], layout: TrecLayout, queries: Numbers, documents: Numbers) -> TrecColumns:
    """Read a file of this layout; ids get their numbers from `queries` and `documents`.

    Values become the nearest float64. Raises InputError, with the line, where a line has other columns or a value
    is no number.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "qrels").write_text("q1 0 d1 1")
    ...     read(f"{folder}/qrels", QRELS, numbering(), numbering()).value
    array([1.])
    """
    path = Path(location)
    check(path)
    parts = []
    with opened(path) as file:
        for first, block in blocks(file, path, layout):
            if first == 1:
                layout, block = without_header(block, layout)
                width, value = len(layout.columns), layout.columns.index(layout.value)
            cells, counts = block.split(), columns_of_lines(block)
            if not ((counts == 0) | (counts == width)).all() or b"_" in b"".join(cells[value::width]):
                refuse(path, layout, block, first)
            try:
                values = np.fromiter(map(float, cells[value::width]), np.float64)
            except ValueError:
                refuse(path, layout, block, first)
            query, document = (
                np.fromiter(map(numbers.__getitem__, cells[layout.columns.index(name) :: width]), np.int64)
                for name, numbers in (("query", queries), ("document", documents))
            )
            parts.append(TrecColumns(query, document, values))
    if not any(len(part.value) for part in parts):
        raise InputError(f"{path} has empty lines only. {expected(layout)}")
    return TrecColumns(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def without_header(block: bytes, layout: TrecLayout) -> tuple[TrecLayout, bytes]:
    r"""The layout that the first line announces, and the lines, with an empty one for a header.

    >>> without_header(b"query-id\tcorpus-id\tscore\nq1\td1\t1", QRELS)[1]
    b'\nq1\td1\t1'
    """
    head, newline, rest = block.partition(b"\n")
    return (BEIR, newline + rest) if layout is QRELS and head.split() == BEIR_HEADER else (layout, block)


def columns_of_lines(block: bytes) -> IntArray:
    r"""How many columns each line has, found without taking the lines apart.

    >>> columns_of_lines(b"q1 0 d1 1\n\nq1 0").tolist()
    [4, 0, 2]
    """
    letters = np.frombuffer(block, np.uint8)
    blank = (letters == 32) | (letters - 9 < 5)  # what bytes.split takes for blanks; unsigned, 8 - 9 is large
    starts = np.flatnonzero(~blank & np.append(True, blank[:-1]))
    ends = np.append(np.flatnonzero(letters == 10), len(letters))
    return np.diff(np.searchsorted(starts, ends), prepend=0)


def line_of(location: str | os.PathLike[str], layout: TrecLayout, row: int) -> int:
    """The number of the line that holds a row, both in their usual counting: lines from 1, rows from 0."""
    path = Path(location)
    with opened(path) as file:
        for first, block in blocks(file, path, layout):
            if first == 1:
                _, block = without_header(block, layout)
            filled = np.flatnonzero(columns_of_lines(block))
            if row < len(filled):
                return first + int(filled[row])
            row -= len(filled)
    raise InputError(f"{path} changed while it was read; start again when it is complete.")


def opened(path: Path) -> IO[bytes]:
    """The file, unpacked where it is packed."""
    with path.open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def blocks(file: IO[bytes], path: Path, layout: TrecLayout) -> Iterator[tuple[int, bytes]]:
    """Whole lines, some at a time, each time with the number of the first."""
    line, begun = 1, [b""]  # the parts of a line whose end is not read yet
    block = next_block(file, path, layout).removeprefix(BYTE_ORDER_MARK)
    while block:
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            whole = b"".join([*begun, head])
            yield line, whole
            line, begun = line + whole.count(b"\n") + 1, []
        begun.append(tail)
        if sum(map(len, begun)) > LONGEST_LINE:
            raise InputError(
                f"{path} has more than {LONGEST_LINE:,} bytes on line {line}: '{shown(b''.join(begun))}'. "
                f"{expected(layout)}"
            )
        block = next_block(file, path, layout)
    yield line, b"".join(begun)


def next_block(file: IO[bytes], path: Path, layout: TrecLayout) -> bytes:
    """The next bytes, if they can be text; none at the end."""
    try:
        block = file.read(BLOCK_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"{path} cannot be unpacked: the gzip file is damaged or cut short; write or copy it again."
        ) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); check the disk it is on.") from error
    if b"\0" in block:
        raise InputError(broken(path, layout.kind))
    return block


def refuse(path: Path, layout: TrecLayout, block: bytes, first: int) -> NoReturn:
    """Raise for the first line that is wrong."""
    at = layout.columns.index(layout.value)
    for number, line in enumerate(block.split(b"\n"), first):
        row = line.split()
        if row and len(row) != len(layout.columns):
            columns = f"{len(row)} column{'s' if len(row) > 1 else ''}"
            raise InputError(f"{path} has {columns} on line {number}: '{shown(line)}'. {expected(layout)}")
        if row and not is_number(row[at]):
            raise InputError(
                f"{path} has '{shown(row[at])}' as the {layout.value} on line {number}, where a number is expected. "
                f"{expected(layout)}"
            )
    raise AssertionError("every line is right")


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
