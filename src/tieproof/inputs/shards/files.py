"""The files of a data set: which they are, in order, what belongs to them, and the rows of all of them together."""

import glob
import os
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import as_embeddings
from tieproof.inputs.readers import FILE_FORMATS, entries_of
from tieproof.inputs.readers.columns import NAMES, SPARSE_ROWS, Entry, RowReader, choose, listing
from tieproof.inputs.readers.location import (
    File,
    Location,
    as_os_errors,
    check,
    file_at,
    is_url,
    said,
    state_of,
    storage_of,
)
from tieproof.ties import Array, IntArray

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

IN_BLOCKS = (".npy", ".fbin", ".u8bin", ".i8bin", ".fvecs", ".bvecs", ".parquet", ".h5", ".hdf5", ".safetensors")
"""The formats whose rows can be read in blocks."""

PATTERN = re.compile(r"[*?\[]")

DIGITS = re.compile(r"(\d+)")

BESIDE = {*NAMES["labels"], *NAMES["ids"], *NAMES["confidences"], "groups", "group"} - {"x", "y"}
"""The words before the extension in the names of files that belong to a shard, as in part-0.labels.npy."""


def located(paths: Paths, beside: Iterable[str] = (), what: str = "shards") -> list[Location]:
    """Return the files of a folder or a pattern in natural order, part-2 before part-10, or of a list of these.

    beside : more words before the extension of files that are not shards but belong to one
    """
    given: list[Any] = list(paths) if isinstance(paths, list | tuple) else [paths]
    if not given or not all(isinstance(each, str | os.PathLike) and os.fspath(each) for each in given):
        raise InputError(
            f"The files of {what} must be a folder, a pattern such as 'gallery/*.parquet', or a list of paths, not "
            f"{' '.join(reprlib.repr(paths).split())}; pass one of these."
        )
    files = [where for each in given for where in _expanded(os.fspath(each), {*BESIDE, *beside})]
    twice = [str(where.path) for where, count in Counter(files).items() if count > 1]
    if twice:
        raise InputError(f"{listing(twice)} would be read twice; give each file only once.")
    return files


def are_shards(location: str) -> bool:
    """Whether a location is a folder, a pattern or a URL, rather than a local file."""
    path, _ = parted(location)
    own = str(file_at(path))
    return is_url(path) or os.path.isdir(own) or (bool(PATTERN.search(own)) and not os.path.exists(own))


def _expanded(location: str, beside: set[str]) -> list[Location]:
    path, entry = parted(location)
    names, is_folder = _files_of(path)
    if is_folder:
        names = [
            name for name in names if name.lower().endswith(IN_BLOCKS) and PurePosixPath(name).name[0] not in "._"
        ]
    stems = {PurePosixPath(name).stem for name in names}

    def belongs_to_another(name: str) -> bool:
        """Whether a name only adds a word such as `labels` to that of another file."""
        stem, _, word = PurePosixPath(name).stem.rpartition(".")
        return word.lower() in beside and stem in stems

    kept = names if len(names) == 1 else [name for name in names if not belongs_to_another(name)]
    if not kept:
        what = f"is a folder without files of vectors ({', '.join(IN_BLOCKS)})" if is_folder else "matches no file"
        raise InputError(f"{path} {what}; check the path and its spelling.")
    extensions = sorted({PurePosixPath(name).suffix.lower() for name in kept})
    if is_folder and len(extensions) > 1:
        raise InputError(
            f"{path} is a folder with files of several formats ({', '.join(extensions)}); choose the shards by a "
            f"pattern, such as '{path.rstrip('/')}/*{extensions[0]}'."
        )
    return [Location(file_at(name), entry) for name in sorted(kept, key=in_natural_order)]


def parted(location: str) -> tuple[str, str | None]:
    """Split a location into its path or pattern and the entry after the last colon that follows a known extension."""
    if is_url(location) or not os.path.exists(location):
        for at in (at for at in range(len(location) - 1, 0, -1) if location[at] == ":"):
            if PurePosixPath(location[:at]).suffix.lower() in FILE_FORMATS:
                return location[:at], location[at + 1 :]
    return location, None


def _files_of(path: str) -> tuple[list[str], bool]:
    """Return the files of a path, pattern or URL, and whether it is a folder; a path of a file need not exist."""
    if is_url(path):
        storage, inside = storage_of(path)
        try:
            with as_os_errors():
                if PATTERN.search(inside):
                    names = [name for name in storage.glob(inside) if not storage.isdir(name)]
                    return [storage.unstrip_protocol(name) for name in names], False
                if storage.isdir(inside):
                    listed = [each["name"] for each in storage.ls(inside, detail=True) if each["type"] == "file"]
                    return [storage.unstrip_protocol(name) for name in listed], True
        except OSError as error:
            raise InputError(
                f"{path} cannot be listed ({said(error)}); check the URL and your access rights."
            ) from error
        return [path], False
    own = str(file_at(path))
    if os.path.isdir(own):
        return [entry.path for entry in os.scandir(own) if entry.is_file()], True
    if os.path.exists(own) or not PATTERN.search(own):
        return [own], False
    return [name for name in glob.glob(own, recursive=True) if os.path.isfile(name)], False


def in_natural_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return the key that sorts files in natural order: numbers in their names by size."""
    parts = DIGITS.split(name)
    numbers = [int(number) for number in parts[1::2]]
    return list(zip(parts[::2], [*numbers, -1], strict=True)), name


def file_beside(file: File, word: str, folders: dict[str, set[str]]) -> File | None:
    """Return the file whose name adds a word, as part-0.labels.npy does, or None; folders listed are in `folders`."""
    whole = str(file)
    folder, stem = whole[: len(whole) - len(file.name)], PurePosixPath(file.name).stem
    if folder not in folders:
        folders[folder] = {PurePosixPath(name).name for name in _files_of(folder or ".")[0]}
    names = [f"{stem}.{word}{form}" for form in FILE_FORMATS if f"{stem}.{word}{form}" in folders[folder]]
    if len(names) > 1:
        raise InputError(f"Both {' and '.join(names)} belong to {file}; keep one of them.")
    return file_at(folder + names[0]) if names else None


KEPT_OPEN = 16  # the number of files whose readers are kept, those used most recently
GAP = 2**16  # when single rows are taken, gaps of at most so many bytes between two rows are read, too


class Shard(NamedTuple):
    """One file, with its state when it was opened."""

    file: File
    entry: str  # the array of its vectors
    rows: int  # the number of vectors
    width: int  # their length, unknown without rows, as their type
    dtype: np.dtype[Any]
    size: int  # in bytes
    changed: str  # a mark that differs if the file has changed

    @property
    def name(self) -> str:
        """The name of the shard in messages."""
        return str(Location(self.file, self.entry or None))


def _check_state(shard: Shard) -> None:
    try:
        size, changed = state_of(shard.file)
    except FileNotFoundError:
        raise InputError(
            f"{shard.file} was removed after it was opened; put it back, or open the remaining files."
        ) from None
    if (size, changed) != (shard.size, shard.changed):
        how = f"it had {shard.size:,} bytes and has {size:,}" if size != shard.size else "it was written again"
        raise InputError(f"{shard.file} changed after it was opened: {how}; open it again when nothing writes to it.")


def shard_at(where: Location) -> Shard:
    """Open the shard in a file, reading its header and its first row."""
    check(where.path)
    size, changed = state_of(where.path)
    if where.path.suffix.lower() not in IN_BLOCKS:
        raise InputError(
            f"{where.path} cannot be a shard, because rows can be read in blocks only from {', '.join(IN_BLOCKS)}; "
            "save it in one of these formats, or evaluate the file alone."
        )
    entries = entries_of(where)
    is_table = where.path.suffix.lower() == ".parquet" and all(len(entry.shape) == 1 for entry in entries)
    if is_table and where.entry is None:
        raise InputError(
            f"{where.path} has no column of lists, which contains the vectors of a shard; write one list of numbers "
            "in each row, or evaluate the file alone."
        )
    entry = choose(entries, where, "embeddings")
    rows, place = _rows_of(entry, where.path), Location(where.path, entry.name or None)
    count = entry.shape[0] or 0
    if not count:
        return Shard(where.path, entry.name, 0, 0, np.dtype(np.float64), size, changed)
    first = as_embeddings(rows(0, 1), f"embeddings of {place}")
    return Shard(where.path, entry.name, count, first.shape[1], first.dtype, size, changed)


def _rows_of(entry: Entry, file: File) -> RowReader:
    """Return the function that reads the rows of an entry; it is refused if it has no rows in one piece."""
    where = Location(file, entry.name or None)
    if len(entry.shape) != 2:
        raise InputError(
            f"{where} has the shape {entry.shape}; embeddings have the shape (n, d), one vector a row: reshape them."
        )
    if entry.holds == SPARSE_ROWS:
        raise InputError(f"{where} contains sparse rows, which are no shards. Evaluate the file alone.")
    if entry.rows is None:
        raise InputError(
            f"{where} contains {entry.holds}, which cannot be read row by row; save it again as numbers, with each "
            "row in one piece, for example with np.ascontiguousarray."
        )
    return entry.rows


class StoredRows:
    """The rows of several files, one after the other: a `RowSource` that is pickled as the names of its files.

    A file whose size, time of change or mark of the storage has changed since it was opened is refused at the next
    read. A read needs memory for up to twice the bytes that it returns, plus about 64 kB; for Parquet up to three
    times the bytes, plus about 4 MB.
    """

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = tuple(shards)
        self.bounds: IntArray = np.cumsum([0, *(shard.rows for shard in self.shards)], dtype=np.int64)
        self.names = tuple(shard.name for shard in self.shards)
        self.shape = int(self.bounds[-1]), self.shards[0].width
        self.dtype: np.dtype[Any] = self.shards[0].dtype
        self.reader = lru_cache(KEPT_OPEN)(self._reader)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the names of the files alone, which the receiver reads."""
        return StoredRows, (self.shards,)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """The bytes that all vectors would take in memory."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def read(self, start: int, stop: int) -> Array:
        """Return the rows start … stop-1, (stop-start, d); a row with NaN or infinity is refused."""
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"rows {start} to {stop} of {len(self)}")
        if start == stop:
            return np.empty((0, self.shape[1]), self.dtype)
        first, last = np.searchsorted(self.bounds, (start, stop - 1), side="right") - 1
        if first == last:
            return self._part(int(first), start, stop)
        values = np.empty((stop - start, self.shape[1]), self.dtype)
        for at in range(first, last + 1):
            low, high = max(start, int(self.bounds[at])), min(stop, int(self.bounds[at + 1]))
            values[low - start : high - start] = self._part(at, low, high)
        return values

    def take(self, rows: IntArray) -> Array:
        """Return these rows, in this order; ascending rows are fastest."""
        wanted, place = np.unique(np.asarray(rows, np.int64), return_inverse=True)
        values = np.empty((len(wanted), self.shape[1]), self.dtype)
        if len(wanted) and not 0 <= wanted[0] <= wanted[-1] < len(self):
            raise IndexError(f"rows {wanted[0]} to {wanted[-1]} of {len(self)}")
        for at, run in self._runs(wanted):
            first = int(wanted[run.start])
            values[run] = self._part(at, first, int(wanted[run.stop - 1]) + 1)[wanted[run] - first]
        return values if len(wanted) == len(place) and (place[1:] > place[:-1]).all() else values[place]

    def _runs(self, rows: IntArray) -> Iterator[tuple[int, slice]]:
        """Yield ascending rows in pieces that are read at once, each from one shard, and of limited length."""
        width = max(1, self.shape[1] * self.dtype.itemsize)
        shard = np.searchsorted(self.bounds, rows, side="right") - 1
        stretch = (rows - self.bounds[shard]) // max(1, len(rows), GAP // width)
        cuts = (np.diff(rows) > 1 + GAP // width) | (np.diff(shard) > 0) | (np.diff(stretch) != 0)
        ends = [*(np.flatnonzero(cuts) + 1).tolist(), len(rows)]
        for start, stop in zip([0, *ends[:-1]], ends, strict=True):
            if stop > start:
                yield int(shard[start]), slice(start, stop)

    def _part(self, at: int, start: int, stop: int) -> Array:
        """Return rows of one shard, given by their numbers among all rows."""
        shard, first = self.shards[at], int(self.bounds[at])
        try:
            values = self.reader(at)(start - first, stop - first)
        except (InputError, OSError):
            _check_state(shard)  # a change of the file explains the error
            raise
        _check_state(shard)
        values = values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values).all(axis=1)))
            wrong = values[row][~np.isfinite(values[row])][0]
            raise InputError(
                f"{shard.name} contains {wrong} in row {start - first + row} (row {start + row} of all shards), but "
                "must contain finite numbers; find out why the model returned it, and leave the row out or repair it."
            )
        return np.ascontiguousarray(values)

    def _reader(self, at: int) -> RowReader:
        """Return the function that reads the rows of a shard."""
        shard = self.shards[at]
        _check_state(shard)
        entries = entries_of(Location(shard.file))
        return _rows_of(next(entry for entry in entries if entry.name == shard.entry), shard.file)
