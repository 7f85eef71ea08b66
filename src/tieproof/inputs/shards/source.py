"""Rows that are read when they are needed: what an evaluation knows of embeddings that are not in memory."""

from typing import Any, Protocol

import numpy as np

from tieproof.ties import Array, IntArray


def is_source(values: Any) -> bool:
    """Whether it is a `RowSource`.

    >>> is_source([[1.0, 0.0]])
    False
    """
    return all(hasattr(values, part) for part in ("read", "take", "bounds"))


class RowSource(Protocol):
    """Rows that are read when they are needed, from one place or many.

    A source can be pickled: it travels as the names of its places, without open files, and is read where it arrives.
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
        """(s + 1,): shard i holds the rows bounds[i] … bounds[i+1]-1, in the order of the whole."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Of the shards, as errors name them."""
        ...

    def read(self, start: int, stop: int) -> Array:
        """The rows start … stop-1, checked to be finite: contiguous, (stop-start, d)."""
        ...

    def take(self, rows: IntArray) -> Array:
        """These rows, in this order; ascending rows are quickest."""
        ...
