"""Memory-mapped arrays in memory, so that a file that is cut short meanwhile cannot end the process."""

import mmap
import os
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array

PIPED = 2**16
"""The bytes that a pipe holds."""


class Copies:
    """Copies mapped arrays while there is room for them.

    room : the bytes that all copies may still take
    """

    def __init__(self, room: int) -> None:
        self.room = room

    def of(self, value: Any) -> Any:
        """An array, or a list of arrays, in memory, if it maps a file and has room; anything else as it is."""
        if isinstance(value, list | tuple) and any(isinstance(each, np.ndarray) for each in value):
            return [self.of(each) for each in value]
        root: Any = value
        while isinstance(root, np.ndarray) and not isinstance(root.base, mmap.mmap):
            root = root.base
        if os.name != "posix" or not isinstance(root, np.ndarray):
            return value
        first, last = np.lib.array_utils.byte_bounds(value)
        if last - first > self.room:
            return value
        self.room -= last - first
        mapping: Any = root.base
        letters = np.frombuffer(mapping, np.uint8)
        start = first - letters.ctypes.data
        content = _through_a_pipe(letters[start : start + last - first], root)
        return np.ndarray(value.shape, value.dtype, content, value.ctypes.data - first, value.strides)


def _through_a_pipe(letters: Array, mapped: Array) -> Array:
    """Copy mapped bytes by the operating system, to which a missing part is an error, and no reason to end us."""
    content = np.empty(letters.size, np.uint8)
    out, into = os.pipe()
    os.set_blocking(into, False)  # so that a write ends when the pipe is full
    try:
        done = 0
        while done < letters.size:
            count = os.write(into, letters[done : done + PIPED].data)
            while count:
                read = os.readv(out, [content[done : done + count].data])
                done, count = done + read, count - read
    except OSError as error:
        raise InputError(
            f"The file {getattr(mapped, 'filename', None) or 'of a mapped array'} was cut short while it was read "
            f"({error.strerror}). Write or copy the file again, and map it again."
        ) from None
    finally:
        os.close(out)
        os.close(into)
    return content
