"""NumPy's files: one array (.npy), or an archive of arrays (.npz).

Arrays that lie in one piece of a file, also of another format, are read where they lie, whole or some of the rows.
They are read and not mapped: a file that is cut short meanwhile is refused, where a map would end the process.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import IO, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers import sparse
from tieproof.inputs.readers.columns import Entry, RowReader, holds
from tieproof.inputs.readers.location import File, Location, reading, state_of
from tieproof.ties import Array

NPY = "a NumPy array (.npy)"
ARCHIVE = "an archive of NumPy arrays (.npz)"

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

LONGEST_HEADER = 10_000  # bytes, as NumPy allows, which would read a longer one before refusing it
PARSER = Lock()  # of headers: in Python 3.11, two threads that parse at a time may raise SystemError
MOST_UNPACKED = {ZIP_STORED: 1, ZIP_DEFLATED: 1032}  # bytes of each byte of an archive, whatever it claims


def stored_array(where: Location, kind: str, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...]) -> Entry:
    """An array that begins at a byte of a file; a matrix can be read row by row, too."""
    rows = raw_rows(where, dtype, offset, math.prod(shape[1:]))

    def load() -> Array:
        with unchanged(where.path, kind):
            return rows(0, shape[0] if shape else 1).reshape(shape)

    return Entry(where.entry or "", shape, holds(dtype, shape), load, rows=rows if len(shape) == 2 else None)


@contextmanager
def unchanged(path: File, kind: str) -> Iterator[None]:
    """Refuse a file of some kind that cannot be read in the block, or that changes meanwhile."""
    with reading(path, kind):
        before = state_of(path)
        yield
        if before != state_of(path):
            raise InputError(f"{path} changed while it was read; read it again when nothing writes to it.")


def raw_rows(where: Location, dtype: np.dtype[Any], offset: int, width: int) -> RowReader:
    """The rows of an array that begins at a byte of its file."""

    def rows(start: int, stop: int) -> Array:
        values = np.empty((stop - start, width), dtype)
        done = fill(where.path, offset + start * width * dtype.itemsize, values.reshape(-1).view(np.uint8))
        if done < values.nbytes:
            row = start + done // max(1, width * dtype.itemsize)
            raise InputError(f"{where} is cut short: it ends in row {row}; write or copy it again.")
        return values

    return rows


def fill(file: File, start: int, room: Array) -> int:
    """Fill `room` with the bytes of a file from `start` on; how many there were."""
    if not isinstance(file, Path):
        letters = np.frombuffer(file.read_range(start, start + room.size), np.uint8)
        room[: letters.size] = letters
        return int(letters.size)
    done, space = 0, room.data
    with file.open("rb", buffering=0) as stream:
        stream.seek(start)
        while done < room.size:
            count = stream.readinto(space[done:])
            if not count:
                break
            done += count
    return done


class Header(NamedTuple):
    """The header of a stored array."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    by_columns: bool = False


def read_header(stream: IO[bytes], size: int, where: Location) -> Header:
    """Read the header of an array stored in `size` bytes; refuse Python objects and missing data."""
    version = np.lib.format.read_magic(stream)
    if version == (3, 0):  # which exists for the field names of structured arrays
        raise InputError(f"{where} contains a structured array; save one array of numbers or strings instead.")
    length = stream.read(2 if version == (1, 0) else 4)
    header = BytesIO(length + stream.read(min(int.from_bytes(length, "little"), LONGEST_HEADER)))
    try:
        with PARSER:
            shape, by_columns, dtype = HEADERS[version](header)
    except (MemoryError, RecursionError) as error:  # of Python's parser, for deeply nested expressions
        raise ValueError("the header is nested too deeply") from error
    if min(shape, default=0) < 0:
        raise ValueError("a dimension is negative")
    if dtype.hasobject:
        raise InputError(
            f"{where} contains Python objects, which are never unpickled; "
            "save an array of numbers or strings, such as np.array(values, dtype=np.float32)."
        )
    if dtype.itemsize == 0 and math.prod(shape) > 0:
        raise InputError(f"{where} contains {math.prod(shape):,} strings of length 0; save the strings again.")
    promised, present = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if present < promised:
        raise InputError(
            f"{where} is cut short: {holds(dtype, shape)} needs {promised} bytes of data, but {present} are present; "
            "write or copy it again."
        )
    return Header(shape, dtype, by_columns)


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the array as the only, unnamed entry."""
    with reading(path, NPY), path.open("rb") as file:
        header = read_header(file, state_of(path)[0], Location(path))
        offset = file.tell()
    if not header.by_columns:
        return [stored_array(Location(path), NPY, header.dtype, offset, header.shape)]
    turned = stored_array(Location(path), NPY, header.dtype, offset, header.shape[::-1])
    held = holds(header.dtype, header.shape)
    return [Entry("", header.shape, held, lambda: turned.load().T)]


def archive(path: Path, named: Collection[str] = ()) -> list[Entry]:
    """Return the arrays of the archive, of which vectors and offsets are one; only their headers are read."""
    with reading(path, ARCHIVE), ZipFile(path) as file:
        members = [name for name in file.namelist() if name.endswith(".npy")]
        if twice := [name for name, count in Counter(members).items() if count > 1]:
            raise InputError(
                f"{path} contains the array '{twice[0].removesuffix('.npy')}' more than once, and programs differ in "
                "which one they read; write the archive again with each array once."
            )
        entries = {name: _member(path, file, name) for name in members}
    arrays = {name.removesuffix(".npy"): entry for name, entry in entries.items()}
    if {"data", "shape", "format"} <= arrays.keys() and arrays.keys() & {"indices", "row", "offsets"}:  # of SciPy
        return [sparse.of_archive(path, arrays)]
    vectors, offsets = (entries.get(f"{name}.npy") for name in ("vectors", "offsets"))
    if vectors is None or offsets is None:
        return list(entries.values())
    del entries["offsets.npy"]
    entries["vectors.npy"] = _of_several_vectors(path, vectors, offsets)
    return list(entries.values())


def _of_several_vectors(path: Path, vectors: Entry, offsets: Entry) -> Entry:
    """Items of several vectors each, of the vectors of all of them and where those of each begin."""
    from tieproof.inputs.multi_vectors import MultiVectors

    def load() -> Any:
        try:
            return MultiVectors(vectors.load(), offsets.load())
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    return vectors._replace(load=load)


def _member(path: Path, file: ZipFile, member: str) -> Entry:
    name = member.removesuffix(".npy")
    info = file.getinfo(member)
    packed = min(info.compress_size, path.stat().st_size)
    with file.open(member) as stream:
        size = min(info.file_size, packed * MOST_UNPACKED.get(info.compress_type, 2**20))
        header = read_header(stream, size, Location(path, name))

    def load() -> Array:
        with reading(path, ARCHIVE), ZipFile(path) as file, file.open(member) as stream:
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
            return array

    return Entry(name, header.shape, holds(header.dtype, header.shape), load)
