"""The process that reads HDF5 files for `hdf5.py`, and is ended with it.

The library reads missing data as zeros, so that data sets whose data is not present are refused. A virtual data set
may name any file: sources outside the folder of its file are refused, because whoever wrote the file might thus learn
what other files contain.
"""

import io
import math
import os
import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

import h5py
import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.columns import holds
from tieproof.inputs.readers.hdf5 import HDF5, PREFIX
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


def check_stored(dataset: Any, where: Location) -> None:
    """Refuse a data set that is not stored completely in its file, or in the data sets that it refers to.

    Space that was reserved when the data set was created, and never filled, cannot be told from written zeros.
    """
    if 0 in dataset.shape:
        return
    if dataset.is_virtual:
        _check_virtual(dataset, where)
    elif dataset.external:
        _refuse_missing(where, f"its data is in the separate file '{dataset.external[0][0]}': save it in one file")
    elif dataset.chunks:
        chunks = math.prod(-(-length // part) for length, part in zip(dataset.shape, dataset.chunks, strict=True))
        written = dataset.id.get_num_chunks()
        if written < chunks:
            _refuse_missing(
                where, f"only {written} of its {chunks} chunks were written: write the missing chunks, or all again"
            )
    elif dataset.id.get_storage_size() == 0:
        _refuse_missing(where, "it was created and never filled: write it again")


def _refuse_missing(where: Location, reason: str) -> NoReturn:
    raise InputError(f"{where} is not stored completely, and missing data would be read as zeros; {reason}.")


def _check_virtual(dataset: Any, where: Location) -> None:
    """Refuse a virtual data set that lacks one of its sources, or is not covered by them."""
    if not isinstance(where.path, Path):
        _refuse_missing(where, "its sources are only searched on this machine: save a copy that is not virtual")
    sources = dataset.virtual_sources()
    for source in sources:
        name = f"'{source.dset_name}' of '{source.file_name}'"
        if "%" in source.file_name + source.dset_name or not _is_limited(source.vspace):
            _refuse_missing(where, f"its source {name} has no fixed length: save a copy that is not virtual")
        own = source.file_name == "."
        folders = [*_prefix(where.path), where.path.parent, Path()]  # in which the library searches, in this order
        files = [where.path] if own else [folder / source.file_name for folder in folders]
        path = next((file for file in files if file.is_file()), None)
        if path is None or not h5py.is_hdf5(path):
            _refuse_missing(where, f"its source {name} is absent: give the file, or save a copy that is not virtual")
        if not own:
            _check_beside(path, where)
        with h5py.File(path, "r") as file:
            part = file.get(source.dset_name)
            if not isinstance(part, h5py.Dataset) or not _holds(part, source):
                _refuse_missing(
                    where, f"its source {name} is absent or smaller: give it, or save a copy that is not virtual"
                )
            _check_beside(Path(part.file.filename), where)  # it may be a link to another file
            check_stored(part, Location(path, source.dset_name))
    if not _is_covered(dataset.shape, [source.vspace for source in sources]):
        _refuse_missing(
            where, "a part of this virtual data set has no source: save a copy that is whole and not virtual"
        )


def _check_beside(source: Path, where: Location) -> None:
    """Refuse a source outside the folder of its virtual data set, and outside the one in the library's setting."""
    virtual = Path(where.path)
    if not any(source.resolve().is_relative_to(folder.resolve()) for folder in [virtual.parent, *_prefix(virtual)]):
        raise InputError(
            f"{where} takes data from {source.resolve()}, which is outside the folder of its file; move that file "
            "into the folder, or save a copy that is not virtual."
        )


def _prefix(virtual: Path) -> list[Path]:
    prefix = os.environ.get(PREFIX)
    return [Path(prefix.replace("${ORIGIN}", str(virtual.parent)))] if prefix else []


def _is_covered(shape: tuple[int, ...], spaces: Sequence[Any]) -> bool:
    """Whether the sources cover every entry; too few sources are detected without allocating memory."""
    if sum(space.get_select_npoints() for space in spaces) < math.prod(shape):
        return False
    covered = np.zeros(shape, np.bool_)
    for space in spaces:
        for first, last in space.get_select_hyper_blocklist():
            covered[tuple(slice(start, end + 1) for start, end in zip(first, last, strict=True))] = True
    return bool(covered.all())


def _is_limited(space: Any) -> bool:
    try:
        return bool(space.get_select_npoints() > 0)
    except RuntimeError:  # of a selection without an end
        return False


def _holds(part: Any, source: Any) -> bool:
    """Whether a source is as large as the selection taken from it."""
    if source.src_space.get_select_type() == h5py.h5s.SEL_ALL:
        return bool(part.size == source.vspace.get_select_npoints())
    _, last = source.src_space.get_select_bounds()
    return len(last) == part.ndim and all(at < length for at, length in zip(last, part.shape, strict=True))


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
