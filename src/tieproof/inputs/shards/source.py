"""Sources of rows: embeddings that are read when they are needed, an array in place of them, and converted rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.native.threads import for_each
from tieproof.ties import Array, IntArray


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

    def read(self, start: int, stop: int) -> Array:
        """Return the rows start … stop-1, checked to be finite, as a contiguous array (stop-start, d)."""

    def take(self, rows: IntArray) -> Array:
        """Return these rows, in this order; ascending rows are fastest."""


@dataclass(frozen=True, eq=False)
class ArraySource:
    """The rows of an array (n, d) of finite numbers, cut into shards at `bounds`."""

    array: Embeddings
    bounds: IntArray

    @classmethod
    def of(cls, array: Embeddings, cuts: Any = ()) -> "ArraySource":
        """Make a source of an array, cut into shards at these rows."""
        return cls(array, np.array([0, *cuts, len(array)], dtype=np.int64))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.array.shape[0], self.array.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.array.dtype

    def read(self, start: int, stop: int) -> Array:
        """The rows start … stop-1."""
        return np.ascontiguousarray(self.array[start:stop])

    def take(self, rows: IntArray) -> Array:
        """These rows, in this order."""
        return np.ascontiguousarray(self.array[rows])


@dataclass(frozen=True, eq=False)
class RankedRows:
    """A source whose rows are converted when they are read; it has a length and slices, as an array has."""

    source: RowSource
    convert: Callable[[Array], Embeddings]  # to as many rows in the form that a distance ranks
    shape: tuple[int, int]  # of the converted rows
    dtype: np.dtype[Any]  # of the converted rows

    @classmethod
    def of(cls, source: RowSource, convert: Callable[[Array], Embeddings]) -> "RankedRows":
        """Make the converted rows of a source; the first row is converted, and may be refused, immediately."""
        first = convert(source.read(0, min(1, source.shape[0])))
        return cls(source, convert, (source.shape[0], first.shape[1]), first.dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, span: slice) -> Embeddings:
        start, stop, _ = span.indices(len(self))
        return self.read(start, max(start, stop))

    @property
    def bounds(self) -> IntArray:
        """(s + 1,): the ends of the shards."""
        return self.source.bounds

    @property
    def row_bytes(self) -> int:
        """Bytes of a converted row."""
        return self.shape[1] * self.dtype.itemsize

    def read(self, start: int, stop: int) -> Embeddings:
        """The rows start … stop-1."""
        return self.convert(self.source.read(start, stop))

    def take(self, rows: IntArray) -> Embeddings:
        """These rows, in this order."""
        if not len(rows):
            return np.empty((0, self.shape[1]), dtype=self.dtype)
        return self.convert(self.source.take(rows))

    def fill(self, start: int, stop: int, out: Embeddings, most: int = BLOCK_BYTES) -> None:
        """Write the rows start … stop-1, `most` bytes at a time, by two threads: one waits, one converts."""
        size = max(1, most // max(1, self.source.shape[1] * self.source.dtype.itemsize))

        def write(first: int) -> None:
            last = min(first + size, stop)
            out[first - start : last - start] = self.read(first, last)

        for_each(write, range(start, stop, size), 2)
