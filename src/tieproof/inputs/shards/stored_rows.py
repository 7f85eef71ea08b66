"""The rows of the files of a data set, all of them together, of which a part is read at a time."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import lru_cache
from threading import Lock, RLock
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import BLOCK_BYTES, as_embeddings
from tieproof.inputs.multi_vectors import joined
from tieproof.inputs.readers import entries_of
from tieproof.inputs.readers.columns import SPARSE_ROWS, Entry, RowReader, choose
from tieproof.inputs.readers.location import File, Location, check, state_of
from tieproof.inputs.shards.files import IN_BLOCKS, WHOLE
from tieproof.inputs.shards.source import bytes_of_row
from tieproof.inputs.sparse_forms import among_terms, as_sparse
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.ties import IntArray

KEPT_OPEN = 16  # the number of files whose readers are kept, those used most recently
ONE_WHOLE = RLock()  # files of sparse rows are opened one at a time, as most of them are read whole
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
    # Of sparse rows: the most entries of one and about how many one has (0: rows are dense), and the terms.
    longest: int = 0
    usual: int = 0
    vocabulary: list[Any] | None = None  # of all shards, which have one

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
    form = where.path.suffix.lower()
    with ONE_WHOLE if form in WHOLE else nullcontext():
        return _shard_of(where, form)


def _shard_of(where: Location, form: str) -> Shard:
    check(where.path)
    size, changed = state_of(where.path)
    entries = entries_of(where) if form in (*IN_BLOCKS, *WHOLE) else []
    if form not in IN_BLOCKS and all(entry.holds != SPARSE_ROWS for entry in entries):
        raise InputError(
            f"{where.path} cannot be a shard, because rows can be read in blocks only from {', '.join(IN_BLOCKS)}; "
            "save it in one of these formats, or evaluate the file alone."
        )
    is_table = form == ".parquet" and all(len(entry.shape) == 1 for entry in entries)
    if is_table and where.entry is None:
        raise InputError(
            f"{where.path} has no column of lists, which contains the vectors of a shard; write one list of numbers "
            "in each row, or evaluate the file alone."
        )
    entry = choose(entries, where, "embeddings")
    rows, place = _rows_of(entry, where.path), Location(where.path, entry.name or None)
    if entry.holds == SPARSE_ROWS and entry.shape[0] != 0:
        with ONE_WHOLE:  # also of Parquet, whose columns tell
            return _sparse_shard(entry, rows, where.path)
    count = entry.shape[0] or 0
    if not count:
        return Shard(where.path, entry.name, 0, 0, np.dtype(np.float64), size, changed)
    first = as_embeddings(rows(0, 1), f"embeddings of {place}")
    return Shard(where.path, entry.name, count, first.shape[1], first.dtype, size, changed)


def _sparse_shard(entry: Entry, rows: RowReader, file: File) -> Shard:
    """Open a shard of sparse rows, reading it once, of .csr a block at a time."""
    size, changed = state_of(file)
    count = len(rows.held) if isinstance(rows, _Whole) else entry.shape[0] or 0
    step, longest, entries = max(1, count // (1 + size // BLOCK_BYTES)), 0, 0
    block: Any = None
    for start in range(0, count, step):
        block = rows(start, min(start + step, count))
        longest, entries = max(longest, block.longest), entries + block.size
    usual = max(1, -(-entries // count))
    return Shard(
        file, entry.name, count, block.shape[1], block.dtype, size, changed, longest, usual, block.vocabulary
    )


def _rows_of(entry: Entry, file: File, vocabulary: list[Any] | None = None) -> RowReader:
    """Return the function that reads the rows of an entry; it is refused if it has no rows in one piece.

    vocabulary : the terms of all files, among which those of this one are numbered
    """
    where = Location(file, entry.name or None)
    if len(entry.shape) != 2:
        raise InputError(
            f"{where} has the shape {entry.shape}; embeddings have the shape (n, d), one vector a row: reshape them."
        )
    if entry.holds == SPARSE_ROWS:
        return entry.rows or _Whole(entry, vocabulary)
    if entry.rows is None:
        raise InputError(
            f"{where} contains {entry.holds}, which cannot be read row by row; save it again as numbers, with each "
            "row in one piece, for example with np.ascontiguousarray."
        )
    return entry.rows


class _Whole:
    """Reads sparse rows of a file that is read whole, when the first of them are wanted."""

    def __init__(self, entry: Entry, vocabulary: list[Any] | None) -> None:
        self.entry, self.vocabulary = entry, vocabulary
        self.lock, self.rows = Lock(), list[SparseRows]()

    @property
    def held(self) -> SparseRows:
        """All rows."""
        with self.lock:
            if not self.rows:
                self.rows = [among_terms(as_sparse(self.entry.load(), "embeddings"), self.vocabulary)]
        return self.rows[0]

    def __call__(self, start: int, stop: int) -> Any:
        """The rows start … stop-1."""
        return self.held[start:stop]


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
        self.longest, self.usual = (max(getattr(each, name) for each in shards) for name in ("longest", "usual"))
        self.vocabulary = self.shards[0].vocabulary
        in_blocks = not self.usual or all(shard.file.suffix.lower() == ".csr" for shard in self.shards)
        self.reader = lru_cache(KEPT_OPEN if in_blocks else 1)(self._reader)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the names of the files alone, which the receiver reads."""
        return StoredRows, (self.shards,)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """The bytes that all vectors would take in memory."""
        return self.shape[0] * bytes_of_row(self)

    def read(self, start: int, stop: int) -> Any:
        """Return the rows start … stop-1, (stop-start, d); a row with NaN or infinity is refused."""
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"rows {start} to {stop} of {len(self)}")
        if start == stop:
            return self._none()
        first, last = np.searchsorted(self.bounds, (start, stop - 1), side="right") - 1
        if first == last:
            return self._part(int(first), start, stop)
        ends = [
            (max(start, int(self.bounds[at])), min(stop, int(self.bounds[at + 1]))) for at in range(first, last + 1)
        ]
        if self.usual:
            return joined([self._part(at, low, high) for at, (low, high) in enumerate(ends, first)])
        values = np.empty((stop - start, self.shape[1]), self.dtype)
        for at, (low, high) in enumerate(ends, first):
            values[low - start : high - start] = self._part(at, low, high)
        return values

    def _none(self) -> Any:
        """No rows."""
        if not self.usual:
            return np.empty((0, self.shape[1]), self.dtype)
        nothing = np.zeros(0, np.int32), np.zeros(0, self.dtype)
        return SparseRows(np.zeros(1, np.int64), *nothing, self.shape[1], vocabulary=self.vocabulary)

    def take(self, rows: IntArray) -> Any:
        """Return these rows, in this order; ascending rows are fastest."""
        wanted, place = np.unique(np.asarray(rows, np.int64), return_inverse=True)
        if len(wanted) and not 0 <= wanted[0] <= wanted[-1] < len(self):
            raise IndexError(f"rows {wanted[0]} to {wanted[-1]} of {len(self)}")
        parts = [self._none()]
        for at, run in self._runs(wanted):
            first = int(wanted[run.start])
            parts.append(self._part(at, first, int(wanted[run.stop - 1]) + 1)[wanted[run] - first])
        values = joined(parts)
        return values if len(wanted) == len(place) and (place[1:] > place[:-1]).all() else values[place]

    def _runs(self, rows: IntArray) -> Iterator[tuple[int, slice]]:
        """Yield ascending rows in pieces that are read at once, each from one shard, and of limited length."""
        width = max(1, bytes_of_row(self))
        shard = np.searchsorted(self.bounds, rows, side="right") - 1
        stretch = (rows - self.bounds[shard]) // max(1, len(rows), GAP // width)
        cuts = (np.diff(rows) > 1 + GAP // width) | (np.diff(shard) > 0) | (np.diff(stretch) != 0)
        ends = [*(np.flatnonzero(cuts) + 1).tolist(), len(rows)]
        for start, stop in zip([0, *ends[:-1]], ends, strict=True):
            if stop > start:
                yield int(shard[start]), slice(start, stop)

    def _part(self, at: int, start: int, stop: int) -> Any:
        """Return rows of one shard, given by their numbers among all rows."""
        shard, first = self.shards[at], int(self.bounds[at])
        try:
            values = self.reader(at)(start - first, stop - first)
        except (InputError, OSError):
            _check_state(shard)  # a change of the file explains the error
            raise
        _check_state(shard)
        if isinstance(values, SparseRows):
            return values
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
        return _rows_of(next(entry for entry in entries if entry.name == shard.entry), shard.file, self.vocabulary)
