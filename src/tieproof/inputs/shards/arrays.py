"""An array in memory as a source of rows, for functions that need a source."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.inputs.shards.source import RowSource
from tieproof.ties import Array, IntArray


@dataclass(frozen=True, eq=False)
class ArraySource:
    """The rows of an array (n, d) of finite numbers, cut into shards at `bounds`.

    >>> source = ArraySource.of(np.arange(6.0).reshape(3, 2), [1])
    >>> source.bounds.tolist(), source.read(1, 2).tolist(), source.take(np.array([2, 0])).tolist()
    ([0, 1, 3], [[2.0, 3.0]], [[4.0, 5.0], [0.0, 1.0]])
    """

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

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shards."""
        return tuple(f"part {number}" for number in range(len(self.bounds) - 1))

    def read(self, start: int, stop: int) -> Array:
        """The rows start … stop-1."""
        return np.ascontiguousarray(self.array[start:stop])

    def take(self, rows: IntArray) -> Array:
        """These rows, in this order."""
        return np.ascontiguousarray(self.array[rows])


def piece_rows(source: RowSource) -> int:
    """Return how many rows are read at a time when they are copied: a few megabytes."""
    return max(1, BLOCK_BYTES // max(1, source.shape[1] * source.dtype.itemsize))
