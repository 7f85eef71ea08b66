"""NumPy arrays (.npy)."""

import math
from collections.abc import Collection
from io import BytesIO
from threading import Lock
from typing import IO, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.contents import holds
from tieproof.inputs.readers.damage import reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.raw_rows import raw_rows, whole
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array

KIND = "a NumPy array (.npy)"

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


LONGEST_HEADER = 10_000
"""The most bytes of a header, as NumPy allows; NumPy would read a longer one into memory before refusing it."""

PARSER = Lock()
"""Held while Python parses a header, because Python 3.11 may raise SystemError if two threads parse at a time."""


class Header(NamedTuple):
    """The header of a stored array."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    by_columns: bool = False


def read_header(stream: IO[bytes], size: int, where: Location) -> Header:
    """Read the header of an array stored in `size` bytes; refuse Python objects and missing data."""
    version = np.lib.format.read_magic(stream)
    if version not in HEADERS:  # version 3 exists for the field names of structured arrays
        raise InputError(f"{where} contains a structured array; save one array of numbers or strings instead.")
    length = stream.read(2 if version == (1, 0) else 4)
    header = BytesIO(length + stream.read(min(int.from_bytes(length, "little"), LONGEST_HEADER)))
    try:
        with PARSER:
            shape, by_columns, dtype = HEADERS[version](header)
    except (MemoryError, RecursionError) as error:  # of Python's parser, for deeply nested expressions
        raise ValueError("the header is nested too deeply") from error
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
    with reading(path, KIND), path.open("rb") as file:
        header = read_header(file, path.stat().st_size, Location(path))
        offset = file.tell()

    def load() -> Array:
        with reading(path, KIND):
            if header.by_columns:
                return whole(Location(path), header.dtype, offset, header.shape[::-1]).T
            return whole(Location(path), header.dtype, offset, header.shape)

    by_rows = len(header.shape) == 2 and not header.by_columns
    rows = raw_rows(Location(path), header.dtype, offset, header.shape[1]) if by_rows else None
    return [Entry("", header.shape, holds(header.dtype, header.shape), load, rows=rows)]
