"""`StoredRows`: the rows of many files as one source, read from the files when they are needed."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.entries import Rows
from tieproof.inputs.shards.shard import Shard, check_state, rows_again
from tieproof.ties import Array, IntArray

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
