"""Arrays that lie in one piece of a file: read where they lie, whole or some of the rows.

They are read and not mapped: a file that is cut short meanwhile is refused, where a map would end the process.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.entries import Rows
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.remote import File, state_of
from tieproof.ties import Array


def raw_rows(where: Location, dtype: np.dtype[Any], offset: int, width: int) -> Rows:
    """The rows of an array that begins at a byte of its file."""

    def rows(start: int, stop: int) -> Array:
        found = np.empty((stop - start, width), dtype)
        done = fill(where.path, offset + start * width * dtype.itemsize, found.reshape(-1).view(np.uint8))
        if done < found.nbytes:
            row = start + done // max(1, width * dtype.itemsize)
            raise InputError(f"{where} is cut short: it ends in row {row}; write or copy it again.")
        return found

    return rows


def whole(where: Location, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...]) -> Array:
    """An array that begins at a byte of its file; refuse a file that changes while it is read."""
    values = np.empty(math.prod(shape), dtype)
    if values.size:
        before = state_of(where.path) if isinstance(where.path, Path) else None
        if fill(where.path, offset, values.view(np.uint8)) < values.nbytes:
            raise InputError(f"{where} is cut short; write or copy it again.")
        if before and before != state_of(where.path):
            raise InputError(f"{where} changed while it was read; read it again when nothing writes to it.")
    return values.reshape(shape)


def fill(file: File, start: int, room: Array) -> int:
    """Fill `room` with the bytes of a file from `start` on; how many there were."""
    if not isinstance(file, Path):
        found = np.frombuffer(file.read_range(start, start + room.size), np.uint8)
        room[: found.size] = found
        return int(found.size)
    done, space = 0, room.data
    with file.open("rb", buffering=0) as stream:
        stream.seek(start)
        while done < room.size:
            count = stream.readinto(space[done:])
            if not count:
                break
            done += count
    return done
