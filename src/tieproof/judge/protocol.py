"""What passes between the judge and a system: a folder of items and two lists, and an answer as text or as an array.

docs/judge.md describes it for participants. An answer is read here and nowhere else; whatever stands in it, it
becomes numbers or refusals, and nothing of it is ever run.
"""

import os
import warnings
from collections.abc import Mapping
from io import BytesIO
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.npy import read_header
from tieproof.judge.dealing import Batch
from tieproof.judge.items import Sequestered
from tieproof.ties import FloatArray

ITEMS, LINES, PAIRS, ANSWERS = "items", "lines.txt", "pairs.txt", "answers.npy"
"""What lies in the folder of a system: its items, the same as lines, the pairs that it is asked about, its answer."""

FIELDS = {"items": ITEMS, "lines": LINES, "pairs": PAIRS, "answers": ANSWERS}
"""What a command may have in braces, and the file or folder that stands for it."""

NPY = b"\x93NUMPY"

MISSING, DUPLICATE, NOT_FINITE, NOT_NUMBERS, WRONG_SHAPE = (
    "missing",
    "duplicate",
    "not finite",
    "no numbers",
    "wrong shape",
)
LATE, CRASHED, TOO_MUCH, NO_BITS = "late", "crashed", "too much output", "no bits"
REFUSALS = {
    MISSING: "There was no answer under its name.",
    DUPLICATE: "There were several answers under its name; none of them counts.",
    NOT_FINITE: "The answer holds NaN or infinity.",
    NOT_NUMBERS: "The answer holds something else than numbers.",
    WRONG_SHAPE: "The answer has another number of numbers than most others, or not the one that was asked for.",
    NO_BITS: "The answer is compared bit by bit, and holds another number than 0 and 1.",
    LATE: "The time of its batch, or of the run, was over.",
    CRASHED: "The system ended with an error on its batch, or gave an array without a row for each question.",
    TOO_MUCH: "The system printed or wrote more than it may on its batch.",
}
"""Why an answer is refused."""


class Answers(NamedTuple):
    """What came back for the questions of a batch.

    vectors : of each question, its numbers; none where it was refused
    refused : why; "" where it was not
    unknown : answers under names that nobody asked about
    """

    vectors: list[FloatArray]
    refused: list[str]
    unknown: int = 0


NOTHING: FloatArray = np.zeros(0)


def all_refused(batch: Batch, reason: str) -> Answers:
    """No answer to any question, for one reason."""
    return Answers([NOTHING] * len(batch.questions), [reason] * len(batch.questions))


def write_batch(folder: Path, batch: Batch, test_set: Sequestered) -> None:
    """Write what a system is given; names, order and times of the files say nothing."""
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


def read_answers(content: bytes, batch: Batch, most: int) -> Answers:
    """The answers in an array (.npy), in the order of the questions, or in lines of names and numbers.

    most : numbers that an answer may have; more are not even kept, for they could fill the judge's memory
    """
    read = array_answers if content.startswith(NPY) else text_answers
    return read(content, batch, most)


def array_answers(content: bytes, batch: Batch, most: int) -> Answers:
    """A row for each question, in their order."""
    stream = BytesIO(content)
    try:
        with warnings.catch_warnings(action="ignore"):
            read_header(stream, len(content), Location(Path(ANSWERS)))
            stream.seek(0)
            array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception:  # a header is parsed as Python, whose parser raises of everything; no answer may stop the judge
        return all_refused(batch, CRASHED)
    if array.dtype.kind not in "fiub" or array.ndim == 0 or len(array) != len(batch.questions):
        return all_refused(batch, CRASHED)
    numbers_of_each = prod(array.shape[1:])
    if not 0 < numbers_of_each <= most:
        return all_refused(batch, WRONG_SHAPE)
    with np.errstate(over="ignore"):
        numbers = array.reshape(len(array), numbers_of_each).astype(np.float64)
    return Answers(list(numbers), [reason_against(row) for row in numbers])


def text_answers(content: bytes, batch: Batch, most: int) -> Answers:
    """Lines of one name, or two, and numbers, with commas between them."""
    width = len(batch.questions[0])
    found: dict[tuple[str, ...], tuple[FloatArray, str]] = dict.fromkeys(batch.questions, (NOTHING, MISSING))
    unknown = 0
    for line in content.decode("utf-8", "replace").split("\n"):
        if not line.strip():
            continue
        parts = [part.strip() for part in line.split(",", width)]
        names, rest = tuple(parts[:width]), "".join(parts[width:])
        if names not in found:
            unknown += 1
        elif found[names][1] != MISSING:
            found[names] = NOTHING, DUPLICATE
        else:
            found[names] = as_numbers(rest, most)
    vectors, refused = (list(column) for column in zip(*found.values(), strict=True))
    return Answers(vectors, refused, unknown)


def as_numbers(text: str, most: int) -> tuple[FloatArray, str]:
    """Numbers as written, with commas between them, and why they are no answer.

    >>> as_numbers("0.5, 1", 2), as_numbers("0.5, one", 2)[1], as_numbers("1, 2, 3", 2)[1]
    ((array([0.5, 1. ]), ''), 'no numbers', 'wrong shape')
    """
    if not text or text.count(",") >= most:
        return NOTHING, WRONG_SHAPE
    try:
        vector = np.array([float(part) for part in text.split(",")])
    except ValueError:
        return NOTHING, NOT_NUMBERS
    return vector, reason_against(vector)


def reason_against(vector: FloatArray) -> str:
    """Why numbers are no answer, as far as they alone say it."""
    return "" if np.isfinite(vector).all() else NOT_FINITE


def only_bits(answers: Answers) -> Answers:
    """The answers, of which those are refused that hold other numbers than 0 and 1.

    >>> only_bits(Answers([np.array([0.0, 1.0]), np.array([0.5, 1.0])], ["", ""])).refused
    ['', 'no bits']
    """
    refused = [
        NO_BITS if not reason and not np.isin(vector, (0, 1)).all() else reason
        for vector, reason in zip(answers.vectors, answers.refused, strict=True)
    ]
    return answers._replace(refused=refused)


def unlike_most(vectors: Mapping[tuple[int, ...], FloatArray]) -> list[tuple[int, ...]]:
    """Which answers have another length than most; of two lengths as frequent as each other the smaller one counts.

    >>> unlike_most({(0,): np.zeros(2), (4,): np.zeros(3), (7,): np.zeros(2)})
    [(4,)]
    """
    if not vectors:
        return []
    usual = np.argmax(np.bincount([len(vector) for vector in vectors.values()]))
    return [asked for asked, vector in vectors.items() if len(vector) != usual]
