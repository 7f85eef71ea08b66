"""Vectors in the files of big-ann-benchmarks (.fbin, .u8bin, .i8bin, .ibin).

A file is two uint32, the number of vectors n and of dimensions d, and then n · d numbers, all little-endian.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.contents import holds
from tieproof.inputs.readers.damage import broken, looks_like, reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.npy import raw_rows, whole
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array

HEADER = 8
"""Bytes of two numbers."""


KIND = "a file of big-ann-benchmarks"


class Counts(NamedTuple):
    """The two numbers that a file begins with, and its bytes in all."""

    first: int
    second: int
    size: int


def read_counts(path: File, what: str) -> Counts:
    """Read the two uint32 numbers at the beginning of a file.

    what : the two numbers, in words
    """
    with reading(path, KIND), path.open("rb") as file:
        header = file.read(HEADER)
        size = path.stat().st_size
    if len(header) < HEADER:
        raise InputError(
            f"{path} cannot be read as {KIND}: it has {len(header)} bytes, but its header, {what} as uint32, needs "
            f"{HEADER}; write or copy it again."
        )
    first, second = np.frombuffer(header, dtype="<u4").tolist()
    if first == 0:
        raise InputError(
            f"{path} is empty: its header contains {first} and {second} as {what}; give a file with at least one."
        )
    return Counts(first, second, size)


def check_size(path: File, counts: Counts, promised: int, holds: str) -> None:
    """Refuse a file that is not as long as its header promises."""
    if counts.size == promised:
        return
    if looks_like(path):
        raise InputError(broken(path, KIND))
    state = "cut short" if counts.size < promised else "too long"
    raise InputError(
        f"{path} cannot be read as {KIND}: it is {state}, or of another kind: it has {counts.size:,} bytes, but its "
        f"header promises {promised:,}, {holds}; write or copy it again, or give the right file or extension."
    )


def read(path: File, dtype: str, offset: int, shape: tuple[int, ...]) -> Array:
    """Read an array of a file that begins at an offset."""
    with reading(path, KIND):
        return whole(Location(path), np.dtype(dtype), offset, shape)


def entries(dtype: str, path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the vectors as the only, unnamed entry."""
    counts = read_counts(path, "the number of vectors and of their dimensions")
    kind, shape = np.dtype(dtype), (counts.first, counts.second)
    size = HEADER + kind.itemsize * counts.first * counts.second
    check_size(path, counts, size, f"for {counts.first:,} vectors of {counts.second:,} {kind.name}")
    rows = raw_rows(Location(path), kind, HEADER, counts.second)
    return [Entry("", shape, holds(kind, shape), lambda: read(path, dtype, HEADER, shape), rows=rows)]
