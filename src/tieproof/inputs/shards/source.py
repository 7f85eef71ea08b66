"""Sources of rows: embeddings that are read when they are needed, an array in place of them, and converted rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.inputs.multi_vectors import joined
from tieproof.inputs.sparse_rows import SparseRows
from tieproof.native.threads import for_each, in_order
from tieproof.ties import IntArray


class RowSource(Protocol):
    """Rows that are read when they are needed, from one file or several.

    A source can be pickled: only the names of its files are sent, without open files, and the receiver reads them.
    Several threads may read at once.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""

    @property
    def bounds(self) -> IntArray:
        """(s + 1,): shard i contains the rows bounds[i] … bounds[i+1]-1 of all rows."""

    @property
    def usual(self) -> int:
        """About how many entries a sparse row has; 0 if rows are dense, which the methods return as arrays."""

    @property
    def longest(self) -> int:
        """At least the number of entries of each sparse row."""

    def read(self, start: int, stop: int) -> Any:
        """Return the rows start … stop-1, checked to be finite, as a contiguous array (stop-start, d)."""

    def take(self, rows: IntArray) -> Any:
        """Return these rows, in this order; ascending rows are fastest."""


@dataclass(frozen=True, eq=False)
class ArraySource:
    """The rows of an array (n, d) of finite numbers, or sparse rows, cut into shards at `bounds`."""

    array: Embeddings | SparseRows
    bounds: IntArray  # bounds and what follows: as in `RowSource`
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    usual: int
    longest: int

    @classmethod
    def of(cls, array: Embeddings | SparseRows, cuts: Any = ()) -> "ArraySource":
        """Make a source of an array, cut into shards at these rows."""
        bounds = np.array([0, *cuts, len(array)], dtype=np.int64)
        usual, longest = (array.usual, array.longest) if isinstance(array, SparseRows) else (0, 0)
        return cls(array, bounds, (array.shape[0], array.shape[1]), array.dtype, usual, longest)

    def read(self, start: int, stop: int) -> Any:
        """The rows start … stop-1."""
        return self._some(slice(start, stop))

    def take(self, rows: IntArray) -> Any:
        """These rows, in this order."""
        return self._some(rows)

    def _some(self, rows: slice | IntArray) -> Any:
        return self.array[rows] if isinstance(self.array, SparseRows) else np.ascontiguousarray(self.array[rows])


def bytes_of_row(rows: "RowSource | RankedRows") -> int:
    """The bytes of a row, of sparse ones of a usual one: numbers, terms of 32 bits, and where it begins."""
    return rows.usual * (rows.dtype.itemsize + 4) + 8 if rows.usual else rows.shape[1] * rows.dtype.itemsize


def as_read(rows: Any) -> Any:
    """Return rows as they are."""
    return rows


@dataclass(frozen=True, eq=False)
class RankedRows:
    """A source whose rows are converted when they are read; it has a length and slices, as an array has."""

    source: RowSource
    convert: Callable[[Any], Any]  # to as many rows in the form that a distance ranks
    shape: tuple[int, int]  # of the converted rows
    dtype: np.dtype[Any]  # of the converted rows
    bounds: IntArray  # bounds, usual, longest: as in `RowSource`
    usual: int
    longest: int
    vocabulary = None  # converted rows have the dimensions of both sides

    @classmethod
    def of(cls, source: RowSource, convert: Callable[[Any], Any] = as_read) -> "RankedRows":
        """Make the converted rows of a source; the first row is converted, and may be refused, immediately."""
        first = convert(source.read(0, min(1, source.shape[0])))
        told = source.bounds, source.usual, source.longest
        return cls(source, convert, (source.shape[0], first.shape[1]), first.dtype, *told)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, span: slice) -> Any:
        start, stop, _ = span.indices(len(self))
        return self.read(start, max(start, stop))

    @property
    def row_bytes(self) -> int:
        """Bytes of a converted row."""
        return bytes_of_row(self)

    def read(self, start: int, stop: int) -> Any:
        """The rows start … stop-1."""
        return self.convert(self.source.read(start, stop))

    def take(self, rows: IntArray) -> Any:
        """These rows, in this order."""
        if not len(rows) and not self.usual:
            return np.empty((0, self.shape[1]), dtype=self.dtype)
        return self.convert(self.source.take(rows))

    def held(self, start: int, stop: int, more: Any = None, most: int = BLOCK_BYTES) -> Any:
        """The rows start … stop-1 and `more`, read `most` bytes at a time by two threads: one waits, one converts."""
        size, behind = max(1, most // max(1, bytes_of_row(self.source))), [] if more is None else [more]
        spans = range(start, stop, size)
        if self.usual:
            read = in_order(lambda first: self.read(first, min(first + size, stop)), spans, 2)
            return joined([*read, *behind])
        out = np.empty((stop - start + sum(map(len, behind)), self.shape[1]), dtype=self.dtype)

        def write(first: int) -> None:
            last = min(first + size, stop)
            out[first - start : last - start] = self.read(first, last)

        for_each(write, spans, 2)
        for rows in behind:
            out[stop - start :] = rows
        return out
