"""Readers of submissions, which they do not trust: nothing is unpickled or unpacked to disk, no link is followed."""

import csv
import os
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.labels import check_code_points
from tieproof.kit import Array, npy, reading

TABLE = "a table in UTF-8 text (.csv)"
IDS, EMBEDDINGS = "ids", "embeddings"
MOST_NAMED = 3
PACKED = b"\x1f\x8b"  # the first bytes of a file packed by gzip, which may be a thousand times as large when unpacked


class SubmissionError(InputError):
    """An invalid submission. Participants may read the message, so it tells nothing about the truth."""


class SubmissionLimits(NamedTuple):
    """The limits of a submission: bytes of its file, and dimensions of a vector."""

    size: int
    dimensions: int


def file_in(submission: Path, name: str, extensions: Sequence[str]) -> Path:
    """The file of a submission: the submission itself, or the only file with that name in its folder."""
    if not submission.is_dir():
        if submission.suffix.lower() not in extensions:
            either = " or ".join(", ".join(extensions).rsplit(", ", 1))
            raise SubmissionError(
                f"{submission.name} has the extension '{submission.suffix}'. Hand in a file in {either}."
            )
        return submission
    wanted = [name + extension for extension in extensions]
    present = [submission / each for each in wanted if os.path.lexists(submission / each)]
    if len(present) != 1:
        there = ", ".join(path.name for path in present) or "no file that can be scored"
        raise SubmissionError(
            f"The submission has {there} at its top level. Hand in one of {', '.join(wanted)}, not inside a folder."
        )
    return present[0]


def check_file(path: Path, limits: SubmissionLimits) -> None:
    """Raise SubmissionError unless a path is a regular file (not a link) that is neither too large nor packed."""
    try:
        status = path.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise SubmissionError(f"{path.name} is not a regular file. Hand in the file itself, not a link to it.")
        with path.open("rb") as file:
            beginning = file.read(len(PACKED))
    except OSError as error:
        raise SubmissionError(f"{path.name} cannot be read ({error.strerror}). Hand it in again.") from error
    if status.st_size > limits.size:
        raise SubmissionError(
            f"{path.name} has {status.st_size:,} bytes, but only {limits.size:,} are allowed. "
            "Make it smaller, with fewer dimensions, or float32 or float16."
        )
    if beginning == PACKED:
        raise SubmissionError(f"{path.name} is packed by gzip. Unpack it before you hand it in.")


def read_vectors(path: Path, ids: Sequence[str], limits: SubmissionLimits) -> Array:
    """The vectors of a submission, one for each of `ids` and in their order.

    An .npz has the arrays `ids` and `embeddings`; a .csv has the column `id`, then columns of numbers. The rows of an
    .npy are in the order of the list of ids that participants were given, which is sorted, as `ids` are.
    """
    check_file(path, limits)
    try:
        given, vectors = READERS[path.suffix.lower()](path, limits)
    except SubmissionError:
        raise
    except InputError as error:
        raise SubmissionError(str(error).replace(f"{path.parent}/", "")) from error
    except MemoryError:
        raise SubmissionError(f"{path.name} does not fit into memory. Hand in fewer numbers.") from None
    if given is None:
        if len(vectors) != len(ids):
            raise SubmissionError(
                f"{path.name} has {len(vectors):,} rows for {len(ids):,} items. Give one row for each id, in the "
                "order of the list of ids."
            )
        given = list(ids)
    if len(given) != len(vectors):
        raise SubmissionError(
            f"{path.name} has {len(given):,} ids for {len(vectors):,} vectors. Give one id for each vector."
        )
    return in_order(vectors, given, ids, path.name, limits)


def _from_npz(path: Path, limits: SubmissionLimits) -> tuple[list[str], Array]:
    """The arrays `ids` and `embeddings` of an archive, which has no others and is within the limits when unpacked."""
    with reading(path, npy.ARCHIVE), ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > limits.size:
        raise SubmissionError(
            f"{path.name} unpacks to {unpacked:,} bytes, but only {limits.size:,} are allowed. Make it smaller."
        )
    entries = {entry.name: entry for entry in npy.archive(path)}
    if set(entries) != {EMBEDDINGS, IDS}:
        raise SubmissionError(
            f"{path.name} contains {named_few(sorted(entries)) or 'nothing'}. It must contain the arrays ids and "
            "embeddings, and no others."
        )
    ids = entries[IDS].load()
    if ids.ndim != 1 or ids.dtype.kind not in "Uiu":
        raise SubmissionError(f"{path.name} has ids that are {entries[IDS].holds}. Save ids as a list of strings.")
    if ids.dtype.kind == "U":
        check_code_points(ids, f"The ids of {path.name}")
    return [str(each) for each in ids.tolist()], entries[EMBEDDINGS].load()


def _from_csv(path: Path, limits: SubmissionLimits) -> tuple[list[str], Array]:
    """The column `id`, and the columns of numbers after it."""
    with reading(path, TABLE), path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        if header[:1] != ["id"] or len(header) < 2:
            raise SubmissionError(
                f"{path.name} must begin with the line id,0,1,2,… with one column for each dimension."
            )
        if len(header) - 1 > limits.dimensions:
            raise SubmissionError(_too_wide(path.name, len(header) - 1, limits))
        ids, vectors = [], []
        for row in rows:
            if len(row) != len(header):
                raise SubmissionError(
                    f"{path.name} has {len(row)} cells on line {rows.line_num}, but its header has {len(header)}. "
                    "Give every row as many cells."
                )
            ids.append(row[0])
            try:
                vectors.append(np.array([float(cell) for cell in row[1:]]))
            except ValueError:
                raise SubmissionError(
                    f"{path.name} has a cell on line {rows.line_num} that is not a number. Write only numbers after "
                    "the id."
                ) from None
    return ids, np.array(vectors, dtype=np.float64).reshape(len(ids), len(header) - 1)


READERS: dict[str, Callable[[Path, SubmissionLimits], tuple[list[str] | None, Array]]] = {
    ".npz": _from_npz,
    ".npy": lambda path, limits: (None, np.asarray(npy.entries(path)[0].load())),
    ".csv": _from_csv,
}


def in_order(vectors: Array, given: Sequence[str], ids: Sequence[str], name: str, limits: SubmissionLimits) -> Array:
    """The vectors of `ids`, of those with the given ids; SubmissionError unless each has one of finite numbers."""
    if vectors.dtype.kind not in "fiub" or vectors.dtype.itemsize > 8:
        raise SubmissionError(f"{name} has the data type {vectors.dtype}. Embeddings must be numbers: save float32.")
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise SubmissionError(
            f"{name} has the shape {vectors.shape}. Embeddings must have one vector in each row: (n, d)."
        )
    if vectors.shape[1] > limits.dimensions:
        raise SubmissionError(_too_wide(name, vectors.shape[1], limits))
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        what = "NaN" if np.isnan(vectors[bad[0]]).any() else "infinity"
        raise SubmissionError(
            f"{name} contains {what} in the vectors of {bad.size:,} items, the first of them '{given[bad[0]]}'. "
            "Hand in finite numbers."
        )
    return vectors[rows_of(given, ids, name)]


def _too_wide(name: str, dimensions: int, limits: SubmissionLimits) -> str:
    return f"{name} has vectors of {dimensions:,} dimensions, but only {limits.dimensions:,} are allowed. Use fewer."


def rows_of(given: Sequence[str], ids: Sequence[str], name: str) -> list[int]:
    """The row index of each of `ids`; SubmissionError if an id is missing, repeated or unknown."""
    if twice := repeated(given):
        raise SubmissionError(f"{name} has ids more than once: {named_few(twice)}. Give each id one vector.")
    row = {each: at for at, each in enumerate(given)}
    if missing := [each for each in ids if each not in row]:
        raise SubmissionError(
            f"{name} lacks {len(missing):,} of {len(ids):,} ids: {named_few(missing)}. Give each id one vector."
        )
    if len(given) > len(ids):
        strangers = sorted(set(given).difference(ids))
        raise SubmissionError(f"{name} has ids that are not in the test set: {named_few(strangers)}. Leave them out.")
    return [row[each] for each in ids]


def repeated(names: Collection[str]) -> list[str]:
    """The names that occur more than once."""
    return [] if len(set(names)) == len(names) else [name for name, count in Counter(names).items() if count > 1]


def named_few(names: Iterable[object]) -> str:
    """The first few names, and how many more there are."""
    every = [f"'{name}'" for name in names]
    more = f" and {len(every) - MOST_NAMED:,} more" if len(every) > MOST_NAMED else ""
    return ", ".join(every[:MOST_NAMED]) + more
