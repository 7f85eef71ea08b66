"""The process that reads HDF5 files for `hdf5.py`, and is ended with it."""

import io
import os
import pickle
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import h5py
import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.columns import holds
from tieproof.inputs.readers.hdf5 import HDF5
from tieproof.inputs.readers.hdf5_storage import PREFIX, check_stored
from tieproof.inputs.readers.location import File, Location, reading
from tieproof.inputs.readers.text import from_bytes
from tieproof.ties import Array


def listed(file: h5py.File, path: File) -> list[tuple[str, str, tuple[int, ...], str]]:
    """The data sets in all groups: the name in hexadecimal digits and as text, the shape, and what they hold."""
    found = []

    def visit(name: str | bytes, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            # Anything in the name that is not UTF-8 (bytes or lone surrogates) is escaped.
            raw = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
            is_text = h5py.check_string_dtype(item.dtype) is not None
            kind = holds("strings" if is_text else item.dtype, item.shape)
            found.append((raw.hex(), raw.decode("utf-8", "backslashreplace"), item.shape, kind))

    file.visititems(visit)
    return found


def attributes(file: h5py.File, path: File) -> dict[str, str]:
    """The attributes of the file itself, as texts."""
    return {str(name): str(value) for name, value in file.attrs.items()}


def read(
    file: h5py.File, path: File, name: str, shown: str, start: int | None, stop: int | None, check: bool
) -> Array:
    """The rows start … stop-1 of a data set, or all of it."""
    dataset, where = file[bytes.fromhex(name)], Location(path, shown)
    if check:
        check_stored(dataset, where)
    is_text = h5py.check_string_dtype(dataset.dtype) is not None
    of_text = OF_TEXT * file.id.get_filesize() if is_text else 0
    _limit_memory(COPIES * dataset.size * dataset.dtype.itemsize + of_text)
    values = np.asarray(dataset[...] if start is None else dataset[start:stop])
    if values.dtype.hasobject and not is_text:
        raise InputError(f"{where} contains Python objects; save an array of numbers or strings.")
    if not is_text or values.dtype.kind == "S":
        return values
    return from_bytes(values.reshape(-1).tolist(), where).reshape(values.shape)


SPARE = 2**30  # the bytes of memory that anything may take, whatever a file says
COPIES, OF_TEXT = 3, 8  # times the size of its data, and of a file of strings, that reading may take in addition


def _limit_memory(needed: int) -> None:
    """Let this process take so many more bytes: a damaged length of a string may be four billion."""
    with suppress(ImportError, OSError, ValueError):  # where the system has no such limit
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = pages * resource.getpagesize() + SPARE + needed
        resource.setrlimit(resource.RLIMIT_AS, (limit if most < 0 else min(limit, most), most))


CALLS = {each.__name__: each for each in (listed, attributes, read)}


class _Remote(io.RawIOBase):
    """A remote file, whose bytes the process that asks sends."""

    def __init__(self, length: int, given: IO[bytes], told: IO[bytes]) -> None:
        self.length, self.given, self.told, self.at = length, given, told, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.length}[whence]
        return self.at

    def readinto(self, room: Any) -> int:
        _tell(self.told, range(self.at, self.at + len(room)))
        content: bytes = pickle.load(self.given)
        room[: len(content)] = content
        self.at += len(content)
        return len(content)


def _tell(told: IO[bytes], answer: Any) -> None:
    pickle.dump(answer, told)
    told.flush()


def serve() -> None:
    """Answer questions until the process that asks has ended."""
    given, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer

    def answer(path: File, length: int | None, call: str, arguments: Any, folder: str, prefix: str | None) -> Any:
        os.chdir(folder)
        os.environ.pop(PREFIX, None)
        if prefix is not None:
            os.environ[PREFIX] = prefix
        file = path if length is None else _Remote(length, given, told)
        try:
            with reading(path, HDF5), h5py.File(file, "r") as opened:
                return CALLS[call](opened, path, *arguments)
        except (InputError, MemoryError) as error:
            return error

    with suppress(EOFError):
        while True:
            _tell(told, answer(*pickle.load(given)))
