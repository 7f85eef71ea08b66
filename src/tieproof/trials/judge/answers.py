"""The answers of a system, as text or as an array, which become embeddings or distances, or are refused.

docs/judge.md describes the protocol for participants. Answers are read only here; whatever they contain, they become
numbers or refusals, and nothing in them is ever executed. They are read as a stream, so that neither the time nor the
memory that this takes grows with what a system was not asked for.
"""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.npy import read_header
from tieproof.kit import Array, FloatArray
from tieproof.trials.judge.batches import ANSWERS, Batch
from tieproof.trials.sandbox.limits import LATE, TOO_MUCH

_NPY = b"\x93NUMPY"
MOST_OTHER_LINES = 100_000  # the number of lines that a text may have in addition to one for each question
BYTES_OF_NUMBER = 400  # of a line for each number that it may have; the largest float has 316 without an exponent
BYTES_OF_NAMES = 1000  # the number of bytes of a line for its names and for spaces
MISSING, DUPLICATE, NOT_FINITE, NOT_NUMBERS = "missing", "duplicate", "not finite", "no numbers"
WRONG_SHAPE, CRASHED, NO_BITS, OUT_OF_RANGE = "wrong shape", "crashed", "no bits", "out of range"
# The reasons why an answer is refused, which docs/judge.md explains.
REFUSALS = (MISSING, DUPLICATE, NOT_FINITE, NOT_NUMBERS, WRONG_SHAPE, OUT_OF_RANGE, NO_BITS, LATE, CRASHED, TOO_MUCH)
NOTHING: FloatArray = np.zeros(0)


class Answers(NamedTuple):
    """The answers to the questions of a batch; a journal keeps them as arrays."""

    vectors: list[FloatArray]  # the numbers of each answer; empty if it was refused
    refused: list[str]  # the reason for each refusal; "" if the answer was not refused
    unknown: int = 0  # the number of answers under names that were not asked about
    said: str = ""  # the end of the system's error output, or the status of its address, if it failed
    seconds: float = 0.0  # the time that the batch took

    def arrays(self) -> dict[str, Any]:
        """The answers as arrays."""
        return {
            "lengths": np.array([len(vector) for vector in self.vectors], dtype=np.int64),
            "numbers": np.concatenate([NOTHING, *self.vectors]),
            "refused": np.array(self.refused),
            "unknown": np.int64(self.unknown),
            "seconds": np.float64(self.seconds),
            "said": np.array(self.said),
        }

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "Answers":
        """The answers of such arrays."""
        vectors = np.split(kept["numbers"], np.cumsum(kept["lengths"])[:-1])
        refused = [str(reason) for reason in kept["refused"]]
        return cls(vectors, refused, int(kept["unknown"]), str(kept["said"]), float(kept["seconds"]))


def all_refused(batch: Batch, reason: str, said: str = "") -> Answers:
    """Refusals of all questions of a batch, for one reason."""
    return Answers([NOTHING] * len(batch.questions), [reason] * len(batch.questions), said=said)


def read_answers(stream: IO[bytes], batch: Batch, most: int) -> Answers:
    """The answers, from an array (.npy) in the order of the questions, or from lines of names and numbers.

    stream : a file that can be read from its start
    most : the most numbers of an answer; longer answers are dropped, because they could fill the judge's memory
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    is_array = stream.read(len(_NPY)) == _NPY
    stream.seek(0)
    return _from_array(stream, size, batch, most) if is_array else _from_lines(stream, size, batch, most)


def _from_array(stream: IO[bytes], size: int, batch: Batch, most: int) -> Answers:
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
            flat = np.frombuffer(content, header.dtype)
            array = flat.reshape(header.shape, order="F" if header.by_columns else "C")
    except Exception:  # a header is parsed as Python, which may raise anything, and no answer may stop the judge
        return all_refused(batch, CRASHED)
    with np.errstate(over="ignore"):
        numbers = array.reshape(count, numbers_of_each).astype(np.float64)
    return Answers(list(numbers), [*map(_unless_finite, numbers)])


def _from_lines(stream: IO[bytes], size: int, batch: Batch, most: int) -> Answers:
    """The answers from lines of one or two names and numbers, separated by commas; no long line is kept whole."""
    width = len(batch.questions[0])
    answers: dict[tuple[str, ...], tuple[FloatArray, str]] = dict.fromkeys(batch.questions, (NOTHING, MISSING))
    unknown = 0
    longest = BYTES_OF_NAMES + most * BYTES_OF_NUMBER
    for number, line in enumerate(_lines_of(stream, size, longest + 1)):
        if number == len(batch.questions) + MOST_OTHER_LINES:
            return all_refused(batch, TOO_MUCH)
        parts = line.split(b",", width)
        short = [part for part in parts[:width] if len(part) <= BYTES_OF_NAMES]
        names = tuple(part.decode("utf-8", "replace").strip() for part in short)
        if names not in answers:
            unknown += bool(line.strip())
        elif answers[names][1] != MISSING:
            answers[names] = NOTHING, DUPLICATE
        elif len(line) > longest:
            answers[names] = NOTHING, WRONG_SHAPE
        else:
            answers[names] = _as_numbers(b"".join(parts[width:]), most)
    vectors, refused = (list(column) for column in zip(*answers.values(), strict=True))
    return Answers(vectors, refused, unknown)


def _lines_of(stream: IO[bytes], size: int, most: int) -> Iterator[bytes]:
    """The lines in the first `size` bytes of a stream, of which a longer line is cut to `most` bytes."""
    left, is_rest = size, False
    while left > 0 and (part := stream.readline(min(most, left))):
        if not is_rest:
            yield part
        left -= len(part)
        is_rest = not part.endswith(b"\n")


def _as_numbers(line: bytes, most: int) -> tuple[FloatArray, str]:
    """The numbers of a text in UTF-8, separated by commas, and the reason why they are refused, or ""."""
    if not line.strip() or line.count(b",") >= most:
        return NOTHING, WRONG_SHAPE
    try:
        vector = np.array([float(part) for part in line.decode("utf-8").split(",")])
    except ValueError:  # of a number, or of bytes that are not UTF-8
        return NOTHING, NOT_NUMBERS
    return vector, _unless_finite(vector)


def _unless_finite(vector: FloatArray) -> str:
    return "" if np.isfinite(vector).all() else NOT_FINITE


# The range of float32: embeddings with much smaller or larger numbers would take hours to order exactly.
SMALLEST, LARGEST = 2.0**-149, 2.0**128


def as_embeddings(answers: Answers, in_bits: bool) -> Answers:
    """The answers, where those with numbers other than bits are refused, or with too large ones or too near to 0."""

    def refused(vector: FloatArray) -> str:
        if in_bits:
            return "" if np.isin(vector, (0, 1)).all() else NO_BITS
        sizes = np.abs(vector)
        return OUT_OF_RANGE if ((sizes >= LARGEST) | ((sizes > 0) & (sizes < SMALLEST))).any() else ""

    pairs = zip(answers.vectors, answers.refused, strict=True)
    return answers._replace(refused=[reason or refused(vector) for vector, reason in pairs])


FARTHEST = float(np.finfo(np.float64).max)  # the distance of a pair whose answer was refused, or its negative
Asked = tuple[int, ...]  # the items of a question: one or two


@dataclass(frozen=True)
class Repeats:
    """The items, or pairs, that the system was asked about twice, under other names and in another batch.

    asked : how many items or pairs were asked about twice and have two valid answers
    differ : how many of them got another answer the second time
    largest : the largest difference divided by the length of the first answer; 0 if none differs
    """

    asked: int
    differ: int
    largest: float


class Assembled(NamedTuple):
    """All answers of a run."""

    answers: dict[Asked, FloatArray]  # the numbers of each answer that counts
    refused: dict[str, list[Asked]]  # the refused questions, by reason
    repeats: Repeats  # a summary of the questions that were asked twice
    unknown: int  # the number of answers under names that were not asked about


def assembled(batches: Iterable[tuple[Batch, Answers]], symmetric: bool) -> Assembled:
    """All answers; the first of two counts to a question, which a `symmetric` pair is in either order."""
    first: dict[Asked, tuple[FloatArray, str]] = {}
    again: list[tuple[Asked, FloatArray, str]] = []
    unknown = 0
    for batch, of_batch in batches:
        unknown += of_batch.unknown
        for asked, vector, reason in zip(batch.asked, of_batch.vectors, of_batch.refused, strict=True):
            asked = tuple(sorted(asked)) if symmetric else asked
            if asked in first:
                again.append((asked, vector, reason))
            else:
                first[asked] = (vector, reason)
    answers = {asked: vector for asked, (vector, reason) in first.items() if not reason}
    refused: dict[str, list[Asked]] = {reason: [] for reason in REFUSALS}
    for asked, (_, reason) in first.items():
        if reason:
            refused[reason].append(asked)
    if answers:
        # Of equally frequent lengths, the smaller one is the usual one.
        usual = np.argmax(np.bincount([len(vector) for vector in answers.values()]))
        for asked in [asked for asked, vector in answers.items() if len(vector) != usual]:
            del answers[asked]
            refused[WRONG_SHAPE].append(asked)
    both = [(answers[asked], vector) for asked, vector, reason in again if asked in answers and not reason]
    reasons = {reason: sorted(items) for reason, items in refused.items() if items}
    return Assembled(dict(sorted(answers.items())), reasons, repeats_of(both), unknown)


def repeats_of(pairs: list[tuple[FloatArray, FloatArray]]) -> Repeats:
    """A summary of how far second answers are from first answers."""
    differing = [(one, other) for one, other in pairs if not np.array_equal(one, other)]
    return Repeats(len(pairs), len(differing), max((_apart(one, other) for one, other in differing), default=0.0))


def _apart(one: FloatArray, other: FloatArray) -> float:
    """The length of the difference of two answers by that of the first; 1 if sizes differ, or the first is 0."""
    if len(one) != len(other) or not one.any():
        return 1.0
    own, scale = float(np.abs(one).max()), max(float(np.abs(one).max()), float(np.abs(other).max()))
    difference = float(np.linalg.norm(one / scale - other / scale)) / float(np.linalg.norm(one / own))
    with np.errstate(over="ignore"):
        return min(float(np.float64(difference) * (np.float64(scale) / own)), FARTHEST)


def embeddings_of(answers: dict[Asked, FloatArray], count: int) -> FloatArray:
    """An embedding for each item; NaN if it has no answer."""
    width = len(next(iter(answers.values()))) if answers else 1
    rows = np.full((count, width), np.nan)
    for (item,), vector in answers.items():
        rows[item] = vector
    return rows


def distances_of(
    answers: dict[Asked, FloatArray], labels: Array, gallery_labels: Array | None, symmetric: bool, worst: bool
) -> FloatArray:
    """A distance for each query (row) and item (column).

    worst : whether an item is nearer than all others to a query for which it has no answer and is not relevant;
        otherwise every item without an answer is farther than all others
    """
    relevant = labels[:, None] == (labels if gallery_labels is None else gallery_labels)
    matrix = np.where(relevant | (not worst), FARTHEST, -FARTHEST)
    if gallery_labels is None:
        np.fill_diagonal(matrix, 0.0)
    for (query, item), vector in answers.items():
        matrix[query, item if gallery_labels is None else item - len(labels)] = vector[0]
        if symmetric:
            matrix[item, query] = vector[0]
    return matrix
