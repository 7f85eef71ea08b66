"""The protocol between judge and system: a folder of items and two lists, and an answer as text or as an array.

docs/judge.md describes it for participants. Answers are read only here; whatever they contain, they become numbers or
refusals, and nothing in them is ever executed. They are read as a stream, so that neither the time nor the memory
that this takes grows with what a system was not asked for.
"""

import os
import warnings
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import IO, Literal, NamedTuple

import numpy as np

from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.npy import read_header
from tieproof.judge.dealing import Batch
from tieproof.judge.items import Sequestered
from tieproof.ties import FloatArray

ITEMS, LINES, PAIRS, ANSWERS = "items", "lines.txt", "pairs.txt", "answers.npy"
"""The content of a system's folder: its items, the same items as lines, the pairs it is asked about, its answer."""

FIELDS = {"items": ITEMS, "lines": LINES, "pairs": PAIRS, "answers": ANSWERS}
"""The fields of a command, and the file or folder that replaces each of them."""

NPY = b"\x93NUMPY"

MOST_OTHER_LINES = 100_000
"""The number of lines that a text may have in addition to one for each question."""

BYTES_OF_NUMBER = 400
"""The number of bytes of a line for each number that it may have; the largest float has 316 without an exponent."""

BYTES_OF_NAMES = 1000
"""The number of bytes of a line for its names and for spaces."""

MISSING, DUPLICATE, NOT_FINITE, NOT_NUMBERS, WRONG_SHAPE = (
    "missing",
    "duplicate",
    "not finite",
    "no numbers",
    "wrong shape",
)
LATE, CRASHED, TOO_MUCH, NO_BITS = "late", "crashed", "too much output", "no bits"
REFUSALS = {
    MISSING: "There was no answer under the name.",
    DUPLICATE: "There were several answers under the same name; none of them counts.",
    NOT_FINITE: "The answer contains NaN or infinity.",
    NOT_NUMBERS: "The answer contains something other than numbers.",
    WRONG_SHAPE: "The answer does not have as many numbers as most other answers, or has more than allowed.",
    NO_BITS: "The answer must be bits, but contains numbers other than 0 and 1.",
    LATE: "The time limit of the batch or of the run was exceeded.",
    CRASHED: "The system ended with an error on the batch, or returned an array without a row for each question.",
    TOO_MUCH: "The system printed or wrote more than allowed on the batch.",
}
"""The reasons why an answer is refused."""


class Answers(NamedTuple):
    """The answers to the questions of a batch.

    vectors : the numbers of each answer; empty if it was refused
    refused : the reason for each refusal; "" if the answer was not refused
    unknown : the number of answers under names that were not asked about
    """

    vectors: list[FloatArray]
    refused: list[str]
    unknown: int = 0


NOTHING: FloatArray = np.zeros(0)


def all_refused(batch: Batch, reason: str) -> Answers:
    """Refusals of all questions of a batch, for one reason."""
    return Answers([NOTHING] * len(batch.questions), [reason] * len(batch.questions))


def write_batch(folder: Path, batch: Batch, test_set: Sequestered) -> None:
    """Write the files for a system; their names, order and dates reveal nothing."""
    items = folder / ITEMS
    items.mkdir()
    lines = []
    for name, item in batch.items.items():
        content = test_set.content(item)
        (items / f"{name}{test_set.suffixes[item]}").write_bytes(content)
        lines.append(name.encode() + b"\t" + content + b"\n")
    if len(lines) == b"".join(lines).count(b"\n"):
        (folder / LINES).write_bytes(b"".join(lines))
    (folder / PAIRS).write_text("".join(f"{','.join(names)}\n" for names in batch.questions), encoding="ascii")
    for place in (*items.iterdir(), *folder.iterdir()):
        os.utime(place, (0, 0))


def read_answers(stream: IO[bytes], batch: Batch, most: int) -> Answers:
    """The answers, from an array (.npy) in the order of the questions, or from lines of names and numbers.

    stream : a file that can be read from its start
    most : the most numbers of an answer; longer answers are dropped, because they could fill the judge's memory
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    is_array = stream.read(len(NPY)) == NPY
    stream.seek(0)
    return array_answers(stream, size, batch, most) if is_array else text_answers(stream, size, batch, most)


def array_answers(stream: IO[bytes], size: int, batch: Batch, most: int) -> Answers:
    """The answers from an array with a row for each question, in order; its numbers are read if they can count."""
    count = len(batch.questions)
    try:
        with warnings.catch_warnings(action="ignore"):
            header = read_header(stream, size, Location(Path(ANSWERS)))
            if header.dtype.kind not in "fiub" or header.shape[:1] != (count,):
                return all_refused(batch, CRASHED)
            numbers_of_each = prod(header.shape[1:])
            if not 0 < numbers_of_each <= most:
                return all_refused(batch, WRONG_SHAPE)
            content = stream.read(count * numbers_of_each * header.dtype.itemsize)
            order: Literal["F", "C"] = "F" if header.by_columns else "C"
            array = np.frombuffer(content, header.dtype).reshape(header.shape, order=order)
    except Exception:  # a header is parsed as Python, which may raise anything, and no answer may stop the judge
        return all_refused(batch, CRASHED)
    with np.errstate(over="ignore"):
        numbers = array.reshape(count, numbers_of_each).astype(np.float64)
    return Answers(list(numbers), [reason_against(row) for row in numbers])


def text_answers(stream: IO[bytes], size: int, batch: Batch, most: int) -> Answers:
    """The answers from lines of one or two names and numbers, separated by commas.

    If there are too many lines, all answers are refused; a line that is too long is refused, and never kept whole.
    """
    width = len(batch.questions[0])
    found: dict[tuple[str, ...], tuple[FloatArray, str]] = dict.fromkeys(batch.questions, (NOTHING, MISSING))
    unknown = 0
    longest = BYTES_OF_NAMES + most * BYTES_OF_NUMBER
    for number, line in enumerate(lines_of(stream, size, longest + 1)):
        if number == len(batch.questions) + MOST_OTHER_LINES:
            return all_refused(batch, TOO_MUCH)
        parts = line.split(b",", width)
        names = tuple(
            part.decode("utf-8", "replace").strip() for part in parts[:width] if len(part) <= BYTES_OF_NAMES
        )
        if names not in found:
            unknown += bool(line.strip())
        elif found[names][1] != MISSING:
            found[names] = NOTHING, DUPLICATE
        elif len(line) > longest:
            found[names] = NOTHING, WRONG_SHAPE
        else:
            found[names] = as_numbers(b"".join(parts[width:]), most)
    vectors, refused = (list(column) for column in zip(*found.values(), strict=True))
    return Answers(vectors, refused, unknown)


def lines_of(stream: IO[bytes], size: int, most: int) -> Iterator[bytes]:
    """The lines in the first `size` bytes of a stream, of which a longer line is cut to `most` bytes."""
    left, is_rest = size, False
    while left > 0 and (part := stream.readline(min(most, left))):
        if not is_rest:
            yield part
        left -= len(part)
        is_rest = not part.endswith(b"\n")


def as_numbers(line: bytes, most: int) -> tuple[FloatArray, str]:
    """The numbers of a text in UTF-8, separated by commas, and the reason why they are refused, or "".

    >>> as_numbers(b"0.5, 1", 2), as_numbers(b"0.5, one", 2)[1], as_numbers(b"1, 2, 3", 2)[1]
    ((array([0.5, 1. ]), ''), 'no numbers', 'wrong shape')
    """
    if not line.strip() or line.count(b",") >= most:
        return NOTHING, WRONG_SHAPE
    try:
        vector = np.array([float(part) for part in line.decode("utf-8").split(",")])
    except ValueError:  # of a number, or of bytes that are not UTF-8
        return NOTHING, NOT_NUMBERS
    return vector, reason_against(vector)


def reason_against(vector: FloatArray) -> str:
    """The reason why the numbers of one answer, taken alone, are refused, or ""."""
    return "" if np.isfinite(vector).all() else NOT_FINITE


def only_bits(answers: Answers) -> Answers:
    """The answers, where those with numbers other than 0 and 1 are refused.

    >>> only_bits(Answers([np.array([0.0, 1.0]), np.array([0.5, 1.0])], ["", ""])).refused
    ['', 'no bits']
    """
    refused = [
        NO_BITS if not reason and not np.isin(vector, (0, 1)).all() else reason
        for vector, reason in zip(answers.vectors, answers.refused, strict=True)
    ]
    return answers._replace(refused=refused)


def unlike_most(vectors: Mapping[tuple[int, ...], FloatArray]) -> list[tuple[int, ...]]:
    """The answers that do not have the most frequent length (the smaller one of equally frequent lengths).

    >>> unlike_most({(0,): np.zeros(2), (4,): np.zeros(3), (7,): np.zeros(2)})
    [(4,)]
    """
    if not vectors:
        return []
    usual = np.argmax(np.bincount([len(vector) for vector in vectors.values()]))
    return [asked for asked, vector in vectors.items() if len(vector) != usual]
