"""`RowSource`: rows that are read when they are needed, for embeddings that are not in memory."""

from typing import Any, Protocol

import numpy as np

from tieproof.ties import Array, IntArray


def is_source(values: Any) -> bool:
    """Whether a value is a `RowSource`.

    >>> is_source([[1.0, 0.0]])
    False
    """
    return all(hasattr(values, part) for part in ("read", "take", "bounds"))


class RowSource(Protocol):
    """Rows that are read when they are needed, from one file or several.

    A source can be pickled: only the names of its files are sent, without open files, and the receiver reads them.
    Several threads may read at once.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        ...

    @property
    def bounds(self) -> IntArray:
        """(s + 1,): shard i contains the rows bounds[i] … bounds[i+1]-1 of all rows."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shards in messages."""
        ...

    def read(self, start: int, stop: int) -> Array:
        """Return the rows start … stop-1, checked to be finite, as a contiguous array (stop-start, d)."""
        ...

    def take(self, rows: IntArray) -> Array:
        """Return these rows, in this order; ascending rows are fastest."""
        ...
