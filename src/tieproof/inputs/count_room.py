"""The memory in which kernels count the numbers of a list among thresholds."""

from typing import NamedTuple

import numpy as np

from tieproof.ties import IntArray, SmallIntArray


class CountRoom(NamedTuple):
    """A table of buckets and slots that is used for one list after the other; only kernels read it."""

    table: SmallIntArray
    slots: IntArray

    @classmethod
    def of(cls, most: int) -> "CountRoom":
        """Allocate room for lists of at most so many thresholds."""
        return cls(np.empty(8 * most + 256, dtype=np.int32), np.empty(4 * (most + 1), dtype=np.int64))
