"""Labels, groups and other values of the items in shards: columns of the files, files next to them, or other files.

They are kept in memory as one array for all shards.
"""

import os
from collections.abc import Sequence
from pathlib import PurePosixPath

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import check_widths, type_name
from tieproof.inputs.readers import FILE_FORMATS, entries_of, labels_in
from tieproof.inputs.readers.entries import LABELS, choose, meant
from tieproof.inputs.readers.location import Location
from tieproof.inputs.shards.places import PATTERN, Neighbours, Paths, located, parted
from tieproof.inputs.shards.shard import Shard
from tieproof.native.threads import in_order
from tieproof.ties import Array

READING = 8
"""The number of files that are read at a time."""

USUAL = ("labels", "label")
"""The usual words in the names of files next to shards, if no word is given."""


def column(shards: Sequence[Shard], wanted: Paths, what: str) -> Array:
    """Read one value for each row of the shards.

    wanted : the name of a column in every file, or the word in the names of files next to them; or the files
    what : the values in words, such as "labels"

    Values for a shard without rows are not read.
    """
    filled = [shard for shard in shards if shard.rows]
    if is_name(wanted):
        return joined(in_files(filled, str(wanted), what), what)
    places = located(wanted, what=what)
    if len(places) not in (1, len(shards)):
        raise InputError(
            f"There are {len(places)} files of {what} for {len(shards)} shards; give one file for each shard, in the "
            "same order, or one for all.",
            what,
        )
    if len(places) == len(shards):
        kept = [place for shard, place in zip(shards, places, strict=True) if shard.rows]
        return joined(read_beside(filled, kept, what), what)
    values = labels_in(places[0])
    check_length(f"{len(shards)} shards", sum(shard.rows for shard in shards), str(places[0]), values, what)
    return joined([(str(places[0]), values)], what)


def usual_labels(shards: Sequence[Shard]) -> Array | None:
    """Return the labels that every shard has under a usual name; None if no shard has any."""
    beside = Neighbours()
    places = [usual_place(shard, beside) for shard in shards]
    without = [shard for shard, place in zip(shards, places, strict=True) if place is None]
    if len(without) == len(shards):
        return None
    if without:
        labelled = next(shard for shard, place in zip(shards, places, strict=True) if place)
        raise InputError(
            f"{labelled.file} has labels, but {without[0].file} has none; give labels for all shards, or name them.",
            "labels",
        )
    return joined(read_beside(shards, [place for place in places if place], "labels"), "labels")


def usual_place(shard: Shard, beside: Neighbours) -> Location | None:
    """Return the location of a shard's labels: by a usual name, or the only entry besides the vectors."""
    if not shard.entry:
        found = [file for file in (beside.of(shard.file, word) for word in USUAL) if file is not None]
        return Location(found[0]) if found else None
    others = [entry for entry in entries_of(Location(shard.file)) if entry.name != shard.entry]
    entry = meant(others, LABELS) if others else None
    return None if entry is None else Location(shard.file, entry.name)


def is_name(wanted: Paths) -> bool:
    """Whether the argument is the name of a column, not of files.

    >>> is_name("label"), is_name("train/label"), is_name("labels.npy"), is_name("labels/*")
    (True, True, False, False)
    """
    if not isinstance(wanted, str) or not wanted:
        return False
    path, _ = parted(wanted)
    known = PurePosixPath(path).suffix.lower() in FILE_FORMATS
    return not (known or PATTERN.search(path) or "://" in path or path.endswith("/") or os.path.isdir(path))


def in_files(shards: Sequence[Shard], name: str, what: str) -> list[tuple[str, Array]]:
    """Return the column of that name of every shard, or the content of the file with that word next to it."""
    beside = Neighbours()

    def place(shard: Shard) -> Location:
        if shard.entry:
            where = Location(shard.file, name)
            choose(entries_of(where), where, LABELS)
            return where
        file = beside.of(shard.file, name)
        if file is None:
            stem = PurePosixPath(shard.file.name).stem
            raise InputError(
                f"{shard.file} contains only vectors, and its folder has no file {stem}.{name}.npy, .txt or another "
                f"format; write one, or give the files of the {what}.",
                what,
            )
        return Location(file)

    return read_beside(shards, [place(shard) for shard in shards], what)


def read_beside(shards: Sequence[Shard], places: Sequence[Location], what: str) -> list[tuple[str, Array]]:
    """Read the values at these locations, one for each shard, and check their lengths."""
    found = list(in_order(labels_in, places, READING))
    for shard, place, values in zip(shards, places, found, strict=True):
        check_length(shard.name, shard.rows, str(place), values, what)
    return list(zip(map(str, places), found, strict=True))


def check_length(shard: str, rows: int, name: str, values: Array, what: str) -> None:
    """Refuse values that are not one for each row."""
    if len(values) != rows:
        have = "has" if shard.count(" ") == 0 else "have"
        raise InputError(
            f"{shard} {have} {rows:,} rows, but {name} has {len(values):,} {what}; give one for each row, in the "
            "same order.",
            what,
        )


def joined(found: Sequence[tuple[str, Array]], what: str) -> Array:
    """Join the values of all shards to one array; a mixture of integers and strings is refused."""
    kinds = ["U" if values.dtype.kind == "U" else "iu" for _, values in found]
    if len(set(kinds)) > 1:
        other = kinds.index(next(kind for kind in kinds if kind != kinds[0]))
        (name, values), (other_name, others) = found[0], found[other]
        raise InputError(
            f"The {what} of {name} are {type_name(values.dtype)}, but those of {other_name} are "
            f"{type_name(others.dtype)}, which are never equal; write all as integers or all as strings.",
            what,
        )
    shapes = [values.shape[1:] for _, values in found]
    if len(set(shapes)) > 1:
        other = shapes.index(next(shape for shape in shapes if shape != shapes[0]))
        raise InputError(
            f"The {what} of {found[0][0]} have the shape {found[0][1].shape}, but those of {found[other][0]} have "
            f"{found[other][1].shape}; give all shards the same number of columns.",
            what,
        )
    arrays = [values for _, values in found]
    if kinds[0] == "U":
        check_widths([max(values.ravel().tolist(), key=len) for values in arrays], f"The {what}")
        return np.concatenate(arrays)
    return np.concatenate([values.astype(integers_of(arrays, what)) for values in arrays])


def integers_of(arrays: Sequence[Array], what: str) -> type:
    """Return the type of 64 bits that can represent all integers of the arrays."""
    least, most = (
        min(int(values.min()) for values in arrays),
        max(int(values.max()) for values in arrays),
    )
    if most < 2**63:
        return np.int64
    if least < 0:
        raise InputError(
            f"The {what} contain integers from {least} to {most}, which do not fit into one type of at most 64 bits; "
            "number them from 0, or write strings.",
            what,
        )
    return np.uint64
