"""The protocol between judge and system: a folder of items and two lists, and an answer as text or as an array.

docs/judge.md describes it for participants. Answers are read only here; whatever they contain, they become numbers or
refusals, and nothing in them is ever executed.
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
"""The content of a system's folder: its items, the same items as lines, the pairs it is asked about, its answer."""

FIELDS = {"items": ITEMS, "lines": LINES, "pairs": PAIRS, "answers": ANSWERS}
"""The fields of a command, and the file or folder that replaces each of them."""

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


def read_answers(content: bytes, batch: Batch, most: int) -> Answers:
    """The answers, from an array (.npy) in the order of the questions, or from lines of names and numbers.

    most : the most numbers of an answer; longer answers are dropped, because they could fill the judge's memory
    """
    read = array_answers if content.startswith(NPY) else text_answers
    return read(content, batch, most)


def array_answers(content: bytes, batch: Batch, most: int) -> Answers:
    """The answers from an array with a row for each question, in order."""
    stream = BytesIO(content)
    try:
        with warnings.catch_warnings(action="ignore"):
            read_header(stream, len(content), Location(Path(ANSWERS)))
            stream.seek(0)
            array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception:  # a header is parsed as Python, which may raise anything, and no answer may stop the judge
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
    """The answers from lines of one or two names and numbers, separated by commas."""
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
    """The numbers of a text, separated by commas, and the reason why they are refused, or "".

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
