"""Reads lists of neighbours from files of ann-benchmarks and VIBE (.hdf5), of big-ann-benchmarks, .npy and .npz."""

import os
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.range_lists import RangeLists
from tieproof.inputs.readers import FILE_FORMATS, big_ann_truth
from tieproof.inputs.readers.big_ann_range import read_range
from tieproof.inputs.readers.entries import Entry, listed
from tieproof.inputs.readers.location import Location, check, split
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array

IDS, DISTANCES, LIMS = ("neighbors", "ids"), "distances", "lims"
"""The names of the arrays: `neighbors` in files of ann-benchmarks and big-ann-benchmarks, `ids` in others."""

ARCHIVES = (".npz", ".h5", ".hdf5", ".npy")
"""Formats with named arrays, or with a single array; all other files are read as those of big-ann-benchmarks."""


class NeighborFile(NamedTuple):
    """Lists of neighbours, (q, n), and their distances, or None if the file has none."""

    ids: Array
    distances: Array | None


def read_neighbors(location: str | os.PathLike[str]) -> NeighborFile:
    """Read lists of neighbours, and their distances if the file has them.

    location : a file; for an archive with a colon and the name of the group that contains `neighbors` and
        `distances`, or of an array of ids

    A .hdf5 or .npz file contains `neighbors` or `ids`, and possibly `distances`. A .npy file contains ids, and is
    memory-mapped. A file with any other extension, or none, is read in the format of big-ann-benchmarks, and is
    memory-mapped.

    Raises InputError if the file cannot be read, or does not contain what its header promises.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/found.npz", neighbors=[[3, 1]], distances=[[0.5, 0.75]])
    ...     read_neighbors(f"{folder}/found.npz")
    NeighborFile(ids=array([[3, 1]]), distances=array([[0.5 , 0.75]]))
    """
    where = split(location)
    check(where.path)
    if where.path.suffix.lower() not in ARCHIVES:
        return NeighborFile(*big_ann_truth.read_lists(where.path))
    entries = FILE_FORMATS[where.path.suffix.lower()].entries(where.path, ())
    ids = chosen(entries, where)
    beside = f"{ids.name.rpartition('/')[0]}/{DISTANCES}".lstrip("/")
    far = next((entry for entry in entries if entry.name == beside and entry.shape == ids.shape), None)
    return NeighborFile(loaded(ids, where.path), None if far is None else np.asarray(far.load()))


def read_ranges(location: str | os.PathLike[str]) -> RangeLists:
    """Read lists of the items within a radius: `lims` and `neighbors` of a .hdf5 or .npz file, or a binary file.

    location : a file; for an archive with a colon and the name of the group that contains both

    Raises InputError if the file cannot be read, or does not contain what its header promises.
    """
    where = split(location)
    check(where.path)
    if where.path.suffix.lower() not in ARCHIVES:
        return read_range(where.path)
    entries = FILE_FORMATS[where.path.suffix.lower()].entries(where.path, ())
    ids = chosen(entries, where)
    beside = f"{ids.name.rpartition('/')[0]}/{LIMS}".lstrip("/")
    lims = next((entry for entry in entries if entry.name == beside), None)
    if lims is None:
        raise InputError(
            f"{where} has ids but no '{LIMS}', which tell where the list of each query begins: it contains "
            f"{listed(entries)}. Give a file that contains both."
        )
    return RangeLists(np.asarray(lims.load()), np.asarray(ids.load()))


def chosen(entries: list[Entry], where: Location) -> Entry:
    """Return the ids: the named entry, or those in the named group, or the only entry with a known name."""
    if len(entries) == 1 and entries[0].name == "" and not where.entry:
        return entries[0]
    group = "" if where.entry is None else where.entry.strip("/")
    found = [entry for entry in entries if group and entry.name == group]
    for name in IDS:
        found = found or [entry for entry in entries if entry.name == f"{group}/{name}".lstrip("/")]
    for name in IDS:
        found = found or [entry for entry in entries if not group and entry.name.endswith(f"/{name}")]
    if len(found) == 1:
        return found[0]
    names = " or ".join(map(repr, [group] if group else IDS))
    what = "lists of neighbours in several groups" if found else f"no lists called {names}"
    example = found[0].name.rpartition("/")[0] if found else IDS[0]
    raise InputError(
        f"{where.path} has {what}: it contains {listed(entries)}. Choose one by a colon and its name, such as "
        f"'{where.path}:{example}'."
    )


def loaded(entry: Entry, path: File) -> Array:
    """The ids of an entry."""
    ids = entry.load()
    if ids.dtype.kind not in "iu" or ids.ndim != 2:
        raise InputError(
            f"{Location(path, entry.name)} contains {entry.holds}; lists of neighbours are ids, integers of the "
            "shape (queries, neighbours): give a file that contains them."
        )
    return ids
