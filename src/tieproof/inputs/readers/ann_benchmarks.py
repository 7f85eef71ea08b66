"""Files of vectors, of neighbors and of true neighbors, in the formats of big-ann-benchmarks and ann-benchmarks.

The formats of big-ann-benchmarks are .fbin, .u8bin, .i8bin, .ibin and others. A file of vectors is two uint32, the
number of vectors n and of dimensions d, and then n · d numbers. A file of true neighbors is two uint32, the number of
queries n and of neighbors m, then n · m ids as int32, and then n · m distances as float32. A file that ends after the
ids is accepted, too: such files contain the ids that were found, or vectors of integers. All numbers are
little-endian. The files of ann-benchmarks are archives of named arrays.

Those of SIFT and GIST (http://corpus-texmex.irisa.fr) are .fvecs, .bvecs and .ivecs. Before each vector stands the
number of its dimensions as int32, which must be the same for all. Such a file does not say how many vectors it has,
so one that was cut after a whole vector is taken for a shorter one.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import first_true
from tieproof.inputs.readers import FILE_FORMATS, PathLike, entries_of
from tieproof.inputs.readers.columns import Entry, choose, holds, listed
from tieproof.inputs.readers.location import AGAIN, File, Location, broken, check, reading, split, state_of
from tieproof.inputs.readers.npy import raw_rows, stored_array, unchanged
from tieproof.ties import Array

HEADER = 8  # bytes of two numbers
WIDTH = 4  # bytes of the number before each vector of .fvecs, .bvecs and .ivecs

BIGANN = "a file of big-ann-benchmarks"


def _read_header(path: File, what: str) -> tuple[int, int, int]:
    """Read the two uint32 numbers that a file begins with, `what` in words; return them and the file's size."""
    with reading(path, BIGANN), path.open("rb") as file:
        header = file.read(HEADER)
        size, _ = state_of(path)
    if len(header) < HEADER:
        why = f"it has {len(header)} bytes, but its header, {what} as uint32, needs {HEADER}; write or copy it again"
        raise InputError(broken(path, BIGANN, header, why))
    first, second = np.frombuffer(header, dtype="<u4").tolist()
    if first == 0:
        raise InputError(
            f"{path} is empty: its header contains {first} and {second} as {what}; give a file with at least one."
        )
    return first, second, size


def _check_size(path: File, size: int, promised: int, contents: str) -> None:
    if size == promised:
        return
    state = "cut short" if size < promised else "too long"
    has = f"it has {size:,} bytes, but its header promises {promised:,}, {contents}"
    raise InputError(broken(path, BIGANN, why=f"it is {state}, or of another kind: {has}; {AGAIN}"))


def _entry(path: File, name: str, dtype: str, offset: int, shape: tuple[int, ...]) -> Entry:
    return stored_array(Location(path, name), BIGANN, np.dtype(dtype), offset, shape)


def vectors(dtype: str, path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the vectors as the only, unnamed entry."""
    count, width, size = _read_header(path, "the number of vectors and of their dimensions")
    kind = np.dtype(dtype)
    _check_size(path, size, HEADER + kind.itemsize * count * width, f"for {count:,} vectors of {width:,} {kind.name}")
    return [_entry(path, "", dtype, HEADER, (count, width))]


def truth(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return either unnamed vectors of int32, or the ids of true neighbors and their distances."""
    n_queries, width, size = _read_header(path, "the number of queries and of their neighbors")
    shape, part = (n_queries, width), 4 * n_queries * width
    if 2 * (size - HEADER) < 3 * part:  # nearer to the size without distances
        _check_size(path, size, HEADER + part, f"for {width:,} ids or numbers as int32 of each of {n_queries:,} rows")
        return [_entry(path, "", "<i4", HEADER, shape)]
    contents = f"for {width:,} ids as int32 and as many distances as float32 of each of {n_queries:,} queries"
    _check_size(path, size, HEADER + 2 * part, contents)
    return [_entry(path, IDS[0], "<i4", HEADER, shape), _entry(path, DISTANCES, "<f4", HEADER + part, shape)]


def ranges(path: File) -> list[Entry]:
    """Return the items of each query that are within the radius, and where the list of each query begins."""
    n_queries, total, size = _read_header(path, "the number of queries and of all items in their lists")
    start = HEADER + 4 * n_queries
    contents = f"for {n_queries:,} lists that hold {total:,} ids as int32 and as many distances as float32"
    _check_size(path, size, start + 8 * total, contents)
    lengths = _entry(path, LIMS, "<i4", HEADER, (n_queries,))

    def limits() -> Array:
        counts = lengths.load().astype(np.int64)
        if (counts < 0).any() or counts.sum() != total:
            add_up = f"add up to {counts.sum():,} items, the shortest is {counts.min():,}"
            why = f"the lengths of its lists {add_up}, but its header has {total:,} items; write or copy it again"
            raise InputError(broken(path, BIGANN, why=why))
        return np.append(0, np.cumsum(counts))

    return [lengths._replace(load=limits), _entry(path, IDS[0], "<i4", start, (total,))]


def vecs(dtype: str, path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the vectors as the only, unnamed entry."""
    kind = np.dtype(dtype)
    what = f"vectors of {kind.name}, each after its length ({path.suffix})"
    with reading(path, what), path.open("rb") as file:
        header = file.read(WIDTH)
        size = state_of(path)[0]
    width = int.from_bytes(header, "little", signed=True) if len(header) == WIDTH else 0
    row = WIDTH + kind.itemsize * width
    if width < 1 or size % row:
        begins = f"begins with a vector of {width:,} dimensions" if header else "is empty"
        why = f"it has {size:,} bytes and {begins}, which is no whole number of such vectors; {AGAIN}"
        raise InputError(broken(path, what, why=why))
    shape = size // row, width
    stored = raw_rows(Location(path), np.dtype([("width", "<i4"), ("vector", kind, (width,))]), 0, 1)

    def rows(start: int, stop: int) -> Array:
        """The vectors from one up to another, without the numbers before them."""
        read = stored(start, stop)[:, 0]
        if (other := first_true(read["width"] != width)) is not None:
            raise InputError(
                f"{path} has vectors of different lengths: row 0 has {width:,} dimensions, but row "
                f"{start + other:,} has {read['width'][other]:,}; {AGAIN}."
            )
        return np.ascontiguousarray(read["vector"])

    def load() -> Array:
        with unchanged(path, what):
            return rows(0, shape[0])

    return [Entry("", shape, holds(kind, shape), load, rows=rows)]


IDS, DISTANCES, LIMS = ("neighbors", "ids"), "distances", "lims"
"""The names of the arrays: `neighbors` in files of ann-benchmarks and big-ann-benchmarks, `ids` in others."""

ARCHIVES = (".npz", ".h5", ".hdf5", ".npy", ".ivecs")
"""Formats with named arrays, or with a single array; all other files are read as those of big-ann-benchmarks."""


class NeighborFile(NamedTuple):
    """Lists of neighbors, (q, n), and their distances, or None if the file has none."""

    ids: Array
    distances: Array | None


def read_neighbors(location: PathLike) -> NeighborFile:
    """Read lists of neighbors, and their distances if the file has them.

    A .npz or .hdf5 file has `neighbors` or `ids`, and possibly `distances`; a colon and a name choose a group, or an
    array of ids. A .npy or .ivecs file has ids, and any other file the format of big-ann-benchmarks.
    """
    where = split(location)
    entries = _entries_of(where, truth)
    chosen = _chosen(entries, where)
    distances = _beside(chosen, entries, DISTANCES)
    ids = chosen.load()
    if ids.dtype.kind not in "iu" or ids.ndim != 2:
        raise InputError(
            f"{Location(where.path, chosen.name)} contains {chosen.holds}; lists of neighbors are ids, integers of "
            "the shape (queries, neighbors): give a file that contains them."
        )
    if distances is None or distances.shape != chosen.shape:
        return NeighborFile(ids, None)
    return NeighborFile(ids, np.asarray(distances.load()))


def read_ranges(location: PathLike) -> tuple[Array, Array]:
    """Read `lims` and `ids` of the items within a radius, those of query q at ids[lims[q]:lims[q + 1]]."""
    where = split(location)
    entries = _entries_of(where, ranges)
    ids = _chosen(entries, where)
    lims = _beside(ids, entries, LIMS)
    if lims is None:
        raise InputError(
            f"{where} has ids but no '{LIMS}', which tell where the list of each query begins: it contains "
            f"{listed(entries)}. Give a file that contains both."
        )
    return np.asarray(lims.load()), np.asarray(ids.load())


def _entries_of(where: Location, binary: Callable[[File], list[Entry]]) -> list[Entry]:
    """Return the arrays of a file, which `binary` reads if it has the format of big-ann-benchmarks."""
    check(where.path)
    form = where.path.suffix.lower()
    return FILE_FORMATS[form].entries(where.path, ()) if form in ARCHIVES else binary(where.path)


def _chosen(entries: list[Entry], where: Location) -> Entry:
    """Return the ids: the named entry, or those in the named group, or the only entry with a known name."""
    if len(entries) == 1 and entries[0].name == "" and not where.entry:
        return entries[0]
    group = "" if where.entry is None else where.entry.strip("/")
    called = [entry for entry in entries if group and entry.name == group]
    for name in IDS:
        called = called or [entry for entry in entries if entry.name == f"{group}/{name}".lstrip("/")]
    for name in IDS:
        called = called or [entry for entry in entries if not group and entry.name.endswith(f"/{name}")]
    if len(called) == 1:
        return called[0]
    names = " or ".join(map(repr, [group] if group else IDS))
    what = "lists of neighbors in several groups" if called else f"no lists called {names}"
    example = called[0].name.rpartition("/")[0] if called else IDS[0]
    raise InputError(
        f"{where.path} has {what}: it contains {listed(entries)}. Choose one by a colon and its name, such as "
        f"'{where.path}:{example}'."
    )


def _beside(ids: Entry, entries: list[Entry], name: str) -> Entry | None:
    """Return the entry of that name in the group of the ids."""
    beside = f"{ids.name.rpartition('/')[0]}/{name}".lstrip("/")
    return next((entry for entry in entries if entry.name == beside), None)


def read_returned(location: PathLike, what: str) -> Array:
    """Read "ids", "distances", "scores" or "counts" as stored: the named entry, one called so, or the only one."""
    where = split(location)
    entries = entries_of(where)
    if where.entry is not None:
        return choose(entries, where, "embeddings").load()
    names = IDS if what == "ids" else (what,)
    possible = [entry for entry in entries if entry.name.rpartition("/")[2] in names] or entries
    if len(possible) != 1:
        raise InputError(
            f"{where.path} does not say which of its entries are the {what}: it contains {listed(entries)}. Choose "
            f"one by a colon and its name, or rename one to '{what}'."
        )
    return possible[0].load()
