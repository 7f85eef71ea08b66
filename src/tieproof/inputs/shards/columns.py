"""Labels, groups and the like of the items in shards: a column of each file, a file beside each, or other files.

They are held in memory, one array for all shards.
"""

import os
from collections.abc import Sequence
from pathlib import PurePosixPath

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import type_name
from tieproof.inputs.readers import FILE_FORMATS, entries_of, labels_in
from tieproof.inputs.readers.entries import LABELS, choose, meant
from tieproof.inputs.readers.location import Location
from tieproof.inputs.shards.places import PATTERN, Neighbours, Paths, located, parted
from tieproof.inputs.shards.shard import Shard
from tieproof.inputs.strings import check_widths
from tieproof.native.threads import in_order
from tieproof.ties import Array

READING = 8
"""Files that are read at a time."""

USUAL = ("labels", "label")
"""Words of the files that lie beside shards, where none is named."""


def column(shards: Sequence[Shard], wanted: Paths, what: str) -> Array:
    """One value for each row of the shards.

    wanted : the name of a column of every file, or of the files beside; or the files themselves
    what : what it is, in words

    What belongs to a file without rows is not read.
    """
    filled = [shard for shard in shards if shard.rows]
    if is_name(wanted):
        return joined(in_files(filled, str(wanted), what), what)
    places = located(wanted, what=what)
    if len(places) not in (1, len(shards)):
        raise InputError(
            f"There are {len(places)} files of {what} for {len(shards)} shards; give one for each, in the same "
            "order, or one for all.",
            what,
        )
    if len(places) == len(shards):
        kept = [place for shard, place in zip(shards, places, strict=True) if shard.rows]
        return joined(read_beside(filled, kept, what), what)
    values = labels_in(places[0])
    check_length(f"{len(shards)} shards", sum(shard.rows for shard in shards), str(places[0]), values, what)
    return joined([(str(places[0]), values)], what)


def usual_labels(shards: Sequence[Shard]) -> Array | None:
    """The labels that every shard has under a usual name; None where none has any."""
    beside = Neighbours()
    places = [usual_place(shard, beside) for shard in shards]
    without = [shard for shard, place in zip(shards, places, strict=True) if place is None]
    if len(without) == len(shards):
        return None
    if without:
        labelled = next(shard for shard, place in zip(shards, places, strict=True) if place)
        raise InputError(
            f"{labelled.file} has labels and {without[0].file} has none; give both some, or name the labels.",
            "labels",
        )
    return joined(read_beside(shards, [place for place in places if place], "labels"), "labels")


def usual_place(shard: Shard, beside: Neighbours) -> Location | None:
    """Where the labels of a shard are by their name, or by being all that there is beside the vectors."""
    if not shard.entry:
        found = [file for file in (beside.of(shard.file, word) for word in USUAL) if file is not None]
        return Location(found[0]) if found else None
    others = [entry for entry in entries_of(Location(shard.file)) if entry.name != shard.entry]
    entry = meant(others, LABELS) if others else None
    return None if entry is None else Location(shard.file, entry.name)


def is_name(wanted: Paths) -> bool:
    """Whether it names a column, and no files.

    >>> is_name("label"), is_name("train/label"), is_name("labels.npy"), is_name("labels/*")
    (True, True, False, False)
    """
    if not isinstance(wanted, str) or not wanted:
        return False
    path, _ = parted(wanted)
    known = PurePosixPath(path).suffix.lower() in FILE_FORMATS
    return not (known or PATTERN.search(path) or "://" in path or path.endswith("/") or os.path.isdir(path))


def in_files(shards: Sequence[Shard], name: str, what: str) -> list[tuple[str, Array]]:
    """The column of that name of every shard, or the file with that word beside it."""
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
                f"{shard.file} holds vectors alone, and no file {stem}.{name}.npy, .txt or the like lies beside it; "
                f"write one, or give the files of the {what}.",
                what,
            )
        return Location(file)

    return read_beside(shards, [place(shard) for shard in shards], what)


def read_beside(shards: Sequence[Shard], places: Sequence[Location], what: str) -> list[tuple[str, Array]]:
    """What lies at these places, one for each shard, as long as that is."""
    found = list(in_order(labels_in, places, READING))
    for shard, place, values in zip(shards, places, found, strict=True):
        check_length(shard.name, shard.rows, str(place), values, what)
    return list(zip(map(str, places), found, strict=True))


def check_length(shard: str, rows: int, name: str, values: Array, what: str) -> None:
    """Refuse values that are not one for each row."""
    if len(values) != rows:
        have = "has" if shard.count(" ") == 0 else "have"
        raise InputError(
            f"{shard} {have} {rows:,} rows and {name} {len(values):,} {what}; give one for each row, in the same "
            "order.",
            what,
        )


def joined(found: Sequence[tuple[str, Array]], what: str) -> Array:
    """The values of all shards in one array; refused where some are integers and some strings."""
    kinds = ["U" if values.dtype.kind == "U" else "iu" for _, values in found]
    if len(set(kinds)) > 1:
        other = kinds.index(next(kind for kind in kinds if kind != kinds[0]))
        (name, values), (other_name, others) = found[0], found[other]
        raise InputError(
            f"The {what} of {name} are {type_name(values.dtype)} and those of {other_name} "
            f"{type_name(others.dtype)}, which are never equal; write all as integers or all as strings.",
            what,
        )
    shapes = [values.shape[1:] for _, values in found]
    if len(set(shapes)) > 1:
        other = shapes.index(next(shape for shape in shapes if shape != shapes[0]))
        raise InputError(
            f"The {what} of {found[0][0]} have the shape {found[0][1].shape} and those of {found[other][0]} "
            f"{found[other][1].shape}; give all one column, or all the same columns.",
            what,
        )
    arrays = [values for _, values in found]
    if kinds[0] == "U":
        check_widths([max(values.ravel().tolist(), key=len) for values in arrays], f"The {what}")
        return np.concatenate(arrays)
    return np.concatenate([values.astype(integers_of(arrays, what)) for values in arrays])


def integers_of(arrays: Sequence[Array], what: str) -> type:
    """The type of 64 bits that holds all of some integers."""
    least, most = (
        min(int(values.min()) for values in arrays),
        max(int(values.max()) for values in arrays),
    )
    if most < 2**63:
        return np.int64
    if least < 0:
        raise InputError(
            f"The {what} hold integers from {least} to {most}, which no type of at most 64 bits holds together; "
            "number them from 0, or write strings.",
            what,
        )
    return np.uint64
