"""The test set: items as a system is given them, byte by byte, and their labels."""

import hashlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers import entries_of, named_lines, read_labels
from tieproof.inputs.readers.location import split
from tieproof.judge.competition import Competition
from tieproof.ties import Array

TEXTS, ROWS = ".txt", ".npy"
"""Files that hold all items: one a line, or one a row. Else a folder has a file for each."""


class Items(NamedTuple):
    """Items in the organiser's order.

    suffixes : what the names of their files end in
    content : the bytes of the item at a place
    labels : (n,)
    """

    suffixes: tuple[str, ...]
    content: Callable[[int], bytes]
    labels: Array


class Sequestered(NamedTuple):
    """All items that a system is asked about, the queries first.

    suffixes, content : of all of them, as in `Items`
    labels : of the queries
    gallery_labels : of the items behind them; None: all query each other
    """

    suffixes: tuple[str, ...]
    content: Callable[[int], bytes]
    labels: Array
    gallery_labels: Array | None

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.suffixes)

    @property
    def digest(self) -> str:
        """What the items are known by, in their order; labels are no part of it."""
        found = hashlib.sha256()
        for at, suffix in enumerate(self.suffixes):
            found.update(hashlib.sha256(self.content(at)).digest() + suffix.encode() + b"\0")
        return found.hexdigest()


def read_sequestered(competition: Competition) -> Sequestered:
    """The items and labels of a competition; InputError where they do not belong together."""
    queries = read_items(competition.items, competition.labels)
    if competition.gallery is None or competition.gallery_labels is None:
        return Sequestered(*queries, None)
    gallery, count = read_items(competition.gallery, competition.gallery_labels), len(queries.suffixes)

    def content(at: int) -> bytes:
        return queries.content(at) if at < count else gallery.content(at - count)

    return Sequestered(queries.suffixes + gallery.suffixes, content, queries.labels, gallery.labels)


def read_items(place: Path, labels: Path) -> Items:
    """The items of a folder, of the lines of a text, or of the rows of an array."""
    if place.is_dir():
        return items_of_folder(place, labels)
    reader = READERS.get(place.suffix.lower())
    if reader is None or not place.is_file():
        raise InputError(f"The items {place} must be a folder, or a file of lines (.txt) or of rows (.npy).")
    suffix, contents, count = reader(place)
    found = read_labels(labels)
    if found.shape != (count,):
        raise InputError(f"{labels} holds labels of shape {found.shape} for {count:,} items in {place}.")
    return Items((suffix,) * count, contents, found)


def items_of_folder(place: Path, labels: Path) -> Items:
    """Every file of a folder, sorted by name; the labels are lines of name and label."""
    files = sorted(file for file in place.iterdir() if not file.name.startswith("."))
    known = named_lines.read(labels, "file", "label")
    for file in files:
        if not file.is_file() or file.name not in known:
            what = "is no file" if not file.is_file() else f"has no label in {labels}"
            raise InputError(f"{file} {what}; each item is a file of its own, with a line of its name and its label.")
    absent = known.keys() - {file.name for file in files}
    if absent:
        raise InputError(f"{labels} has a label for '{min(absent)}', which is no file in {place}.")
    return Items(
        tuple(file.suffix.lower() for file in files),
        lambda at: files[at].read_bytes(),
        np.array([known[file.name] for file in files]),
    )


def read_lines(place: Path) -> tuple[str, Callable[[int], bytes], int]:
    """One item a line."""
    try:
        lines = place.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is no UTF-8 text ({error.reason}); write it again.") from None
    return TEXTS, lambda at: lines[at].encode(), len(lines)


def read_rows(place: Path) -> tuple[str, Callable[[int], bytes], int]:
    """One item a row; each becomes an array of its own."""
    (entry,) = entries_of(split(place))
    array = np.asarray(entry.load())
    if array.ndim < 2 or array.dtype.kind not in "fiub":
        raise InputError(f"{place} must hold numbers, one row for each item, and holds {entry.holds}.")

    def content(at: int) -> bytes:
        packed = BytesIO()
        np.save(packed, np.ascontiguousarray(array[at]), allow_pickle=False)
        return packed.getvalue()

    return ROWS, content, len(array)


READERS = {TEXTS: read_lines, ROWS: read_rows}
