"""Rows of an array that lies in one piece of a file, row after row: read where they lie, and no others."""

from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.entries import Rows
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array


def raw_rows(where: Location, dtype: np.dtype[Any], offset: int, width: int) -> Rows:
    """The rows of an array that begins at a byte of its file.

    They are read and not mapped: a file that is cut short meanwhile is refused, where a map would end the process.
    """

    def rows(start: int, stop: int) -> Array:
        found = np.empty((stop - start, width), dtype)
        done = fill(where.path, offset + start * width * dtype.itemsize, found.reshape(-1).view(np.uint8))
        if done < found.nbytes:
            row = start + done // max(1, width * dtype.itemsize)
            raise InputError(f"{where} is cut short: it ends in row {row}; write or copy it again.")
        return found

    return rows


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
