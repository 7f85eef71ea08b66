"""`Shard`: one file of a data set, with its state when it was opened."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers import entries_of
from tieproof.inputs.readers.contents import stored_embeddings
from tieproof.inputs.readers.entries import EMBEDDINGS, Entry, Rows, choose
from tieproof.inputs.readers.location import Location, check
from tieproof.inputs.readers.remote import File, state_of
from tieproof.inputs.shards.places import IN_BLOCKS
from tieproof.ties import Array, IntArray


class Shard(NamedTuple):
    """One file, with its state when it was opened.

    file, entry : the location of its vectors
    rows : the number of vectors
    width, dtype : the length and the type of its vectors; unknown without rows
    size, changed : the bytes of the file, and a mark that differs if the file has changed
    """

    file: File
    entry: str
    rows: int
    width: int
    dtype: np.dtype[Any]
    size: int
    changed: str

    @property
    def name(self) -> str:
        """The name of the shard in messages."""
        return str(Location(self.file, self.entry or None))


def check_state(shard: Shard) -> None:
    """Refuse a file that is gone or has changed."""
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
    size, changed = state_before(where)
    entry = choose(vectors_of(where), where, EMBEDDINGS)
    rows, place = rows_of(entry, where.path), Location(where.path, entry.name or None)
    count = entry.shape[0] or 0
    if not count:
        return Shard(where.path, entry.name, 0, 0, np.dtype(np.float64), size, changed)
    first = stored_embeddings(rows(0, 1), place)
    return Shard(where.path, entry.name, count, first.shape[1], first.dtype, size, changed)


def state_before(where: Location) -> tuple[int, str]:
    """Return the state of a file; a file that does not exist or may not be read is refused."""
    check(where.path)
    return state_of(where.path)


def vectors_of(where: Location) -> list[Entry]:
    """Return the entries of a file; a file whose rows cannot be read in blocks is refused."""
    if where.path.suffix.lower() not in IN_BLOCKS:
        raise InputError(
            f"{where.path} cannot be a shard, because rows can be read in blocks only from {', '.join(IN_BLOCKS)}; "
            "save it in one of these formats, or evaluate the file alone."
        )
    entries = entries_of(where)
    if (
        where.path.suffix.lower() == ".parquet"
        and where.entry is None
        and all(len(each.shape) == 1 for each in entries)
    ):
        raise InputError(
            f"{where.path} has no column of lists, which contains the vectors of a shard; write one list of numbers "
            "in each row, or evaluate the file alone."
        )
    return entries


def rows_again(shard: Shard) -> Rows:
    """Return the function that reads the rows of a shard; a file that has changed is refused."""
    check_state(shard)
    entries = entries_of(Location(shard.file))
    return rows_of(next(entry for entry in entries if entry.name == shard.entry), shard.file)


def rows_of(entry: Entry, file: File) -> Rows:
    """Return the function that reads the rows of an entry; it is refused if it has no rows in one piece."""
    where = Location(file, entry.name or None)
    if len(entry.shape) != 2:
        raise InputError(
            f"{where} has the shape {entry.shape}; embeddings have the shape (n, d), one vector a row: reshape them."
        )
    if entry.rows is None:
        raise InputError(
            f"{where} contains {entry.holds}, which cannot be read row by row; save it again as numbers, with each "
            "row in one piece, for example with np.ascontiguousarray."
        )
    return entry.rows


KEPT_OPEN = 16
"""The number of files whose readers are kept, those used most recently."""

GAP = 2**16
"""When single rows are taken, gaps of at most so many bytes between two rows are read, too."""


class StoredRows:
    """The rows of several files, one after the other: a `RowSource` that is pickled as the names of its files.

    shards : the shards in their order, each with at least one row

    Files must not change: a file whose size, time of change or mark of the storage has changed since it was opened is
    refused at the next read.

    A read needs memory for up to twice the bytes that it returns, plus about 64 kB; for Parquet up to three times the
    bytes, plus about 4 MB.
    """

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = tuple(shards)
        self.bounds: IntArray = np.cumsum([0, *(shard.rows for shard in self.shards)], dtype=np.int64)
        self.names = tuple(shard.name for shard in self.shards)
        self.shape = int(self.bounds[-1]), self.shards[0].width
        self.dtype: np.dtype[Any] = self.shards[0].dtype
        self.forget()

    def forget(self) -> None:
        """Drop all readers."""
        self.readers: OrderedDict[int, Rows] = OrderedDict()
        self.lock = Lock()

    def __getstate__(self) -> tuple[Shard, ...]:
        """Return the shards, which are all that is pickled."""
        return self.shards

    def __setstate__(self, shards: tuple[Shard, ...]) -> None:
        StoredRows.__init__(self, shards)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes that all rows would take in memory."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def read(self, start: int, stop: int) -> Array:
        """Return the rows start … stop-1, (stop-start, d), of one or several shards."""
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"rows {start} to {stop} of {len(self)}")
        if start == stop:
            return np.empty((0, self.shape[1]), self.dtype)
        first, last = np.searchsorted(self.bounds, (start, stop - 1), side="right") - 1
        if first == last:
            return self.part(int(first), start, stop)
        found = np.empty((stop - start, self.shape[1]), self.dtype)
        for at in range(first, last + 1):
            low, high = max(start, int(self.bounds[at])), min(stop, int(self.bounds[at + 1]))
            found[low - start : high - start] = self.part(at, low, high)
        return found

    def take(self, rows: IntArray) -> Array:
        """Return these rows, in this order; each row is read once, and adjacent rows are read together."""
        wanted, place = np.unique(np.asarray(rows, np.int64), return_inverse=True)
        found = np.empty((len(wanted), self.shape[1]), self.dtype)
        if len(wanted) and not 0 <= wanted[0] <= wanted[-1] < len(self):
            raise IndexError(f"rows {wanted[0]} to {wanted[-1]} of {len(self)}")
        for at, run in self.runs(wanted):
            first = int(wanted[run.start])
            found[run] = self.part(at, first, int(wanted[run.stop - 1]) + 1)[wanted[run] - first]
        return found if len(wanted) == len(place) and (place[1:] > place[:-1]).all() else found[place]

    def runs(self, rows: IntArray) -> Iterator[tuple[int, slice]]:
        """Yield ascending rows in pieces that are read at once, each from one shard, and of limited length."""
        width = max(1, self.shape[1] * self.dtype.itemsize)
        shard = np.searchsorted(self.bounds, rows, side="right") - 1
        stretch = (rows - self.bounds[shard]) // max(1, len(rows), GAP // width)
        cuts = (np.diff(rows) > 1 + GAP // width) | (np.diff(shard) > 0) | (np.diff(stretch) != 0)
        ends = [*(np.flatnonzero(cuts) + 1).tolist(), len(rows)]
        for start, stop in zip([0, *ends[:-1]], ends, strict=True):
            if stop > start:
                yield int(shard[start]), slice(start, stop)

    def part(self, at: int, start: int, stop: int) -> Array:
        """Return rows of one shard, given by their numbers among all rows."""
        shard, first = self.shards[at], int(self.bounds[at])
        try:
            found = self.reader(at)(start - first, stop - first)
        except (InputError, OSError):
            check_state(shard)  # a change of the file explains the error
            raise
        check_state(shard)
        found = found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            row = int(np.argmin(np.isfinite(found).all(axis=1)))
            value = found[row][~np.isfinite(found[row])][0]
            raise InputError(
                f"{shard.name} contains {value} in row {start - first + row} (row {start + row} of all shards), but "
                "must contain finite numbers; find out why the model returned it, and leave the row out or repair it."
            )
        return np.ascontiguousarray(found)

    def reader(self, at: int) -> Rows:
        """Return the function that reads the rows of a shard; recently used ones are kept."""
        with self.lock:
            if at in self.readers:
                self.readers.move_to_end(at)
                return self.readers[at]
        rows = rows_again(self.shards[at])
        with self.lock:
            rows = self.readers.setdefault(at, rows)
            while len(self.readers) > KEPT_OPEN:
                self.readers.popitem(last=False)
        return rows
