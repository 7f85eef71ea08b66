"""Files of neighbors and of true neighbors, in the formats of big-ann-benchmarks and ann-benchmarks."""

import os
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError, about
from tieproof.inputs.arrays import as_array, type_name
from tieproof.inputs.identities import as_int64
from tieproof.inputs.readers import FILE_FORMATS, Place, big_ann_truth, entries_of
from tieproof.inputs.readers.big_ann import HEADER, KIND, check_size, read, read_counts
from tieproof.inputs.readers.entries import EMBEDDINGS, Entry, choose, listed
from tieproof.inputs.readers.location import Location, check, split
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array, IntArray


class RangeLists(NamedTuple):
    """Lists of items; the items of query q are ids[lims[q]:lims[q + 1]].

    lims : (q + 1,) from 0 to the number of all ids
    ids : the items of all queries, query after query
    """

    lims: Array
    ids: Array

    def pairs(self) -> tuple[IntArray, IntArray]:
        """The query of each item, and the item."""
        lengths = np.diff(self.lims)
        return np.repeat(np.arange(len(lengths)), lengths), self.ids


def as_range_lists(values: Any, name: str) -> RangeLists:
    """The items of each query, (lims, ids).

    >>> as_range_lists(([0, 2, 2], [4, 7]), "found").pairs()[0].tolist()
    [0, 0]
    """
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InputError(
            f"The {name} lists must be a pair (lims, ids), not {type(values).__name__}. faiss returns (lims, "
            "distances, ids): pass the first and the last.",
            name,
        )
    with about(name):
        lims, ids = as_positions(values[0], name, "lims"), as_positions(values[1], name, "ids")
    if len(lims) < 2 or lims[0] != 0 or (np.diff(lims) < 0).any() or lims[-1] != len(ids):
        ends = f" from {lims[0]} to {lims[-1]}" if len(lims) else ""
        raise InputError(
            f"The {name} lims must increase from 0 to the number of ids, which is {len(ids)}, but are {len(lims)} "
            f"numbers{ends}. Pass one more number than there are queries.",
            name,
        )
    if (ids < 0).any():
        raise InputError(
            f"The {name} ids contain {ids.min()}, but must be at least 0. Leave out padding: a list contains only "
            "the items within the radius.",
            name,
        )
    return RangeLists(lims, ids)


def as_positions(values: Any, name: str, what: str) -> IntArray:
    """Integers of one dimension; an empty list has any type."""
    array = as_array(values, f"{name} {what}")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InputError(
            f"The {name} {what} must be integers in one dimension, but are {type_name(array.dtype)} of the shape "
            f"{array.shape}.",
            name,
        )
    return as_int64(array if array.size else array.astype(np.int64), f"{name} {what}")


def read_range(path: File) -> RangeLists:
    """Read the items of each query that are within the radius."""
    counts = read_counts(path, "the number of queries and of all items in their lists")
    n_queries, total = counts.first, counts.second
    start = HEADER + 4 * n_queries
    what = f"for {n_queries:,} lists that hold {total:,} ids as int32 and as many distances as float32"
    check_size(path, counts, start + 8 * total, what)
    lengths = np.asarray(read(path, "<i4", HEADER, (n_queries,)), dtype=np.int64)
    if (lengths < 0).any() or lengths.sum() != total:
        raise InputError(
            f"{path} cannot be read as {KIND}: the lengths of its lists add up to {lengths.sum():,} items, the "
            f"shortest is {lengths.min():,}, but its header has {total:,} items; write or copy it again."
        )
    return RangeLists(np.append(0, np.cumsum(lengths)), read(path, "<i4", start, (total,)))


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


def read_returned(location: Place, what: str) -> Array:
    """Read an array as it is stored.

    location : a file, or a file and one of its entries, as for `read_embeddings`; without an entry, the one called
        `what` (of ids also `neighbors`, as in files of ann-benchmarks), or the only one
    what : "ids", "distances", "scores" or "counts"

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/found.npz", ids=[[4, 2]], distances=[[0.5, 0.75]])
    ...     read_returned(f"{folder}/found.npz", "distances")
    array([[0.5 , 0.75]])
    """
    where = split(location)
    names = IDS if what == "ids" else (what,)
    entries = entries_of(where)
    if where.entry is not None:
        return choose(entries, where, EMBEDDINGS).load()
    named = [entry for entry in entries if entry.name.rpartition("/")[2] in names]
    possible = named or entries
    if len(possible) != 1:
        raise InputError(
            f"{where.path} does not say which of its entries are the {what}: it contains {listed(entries)}. Choose "
            f"one by a colon and its name, or rename one to '{what}'."
        )
    return possible[0].load()
