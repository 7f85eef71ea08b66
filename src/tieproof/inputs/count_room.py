"""Where kernels count the numbers of a list among thresholds."""

from typing import NamedTuple

import numpy as np

from tieproof.ties import IntArray, SmallIntArray


class CountRoom(NamedTuple):
    """A table of buckets and slots, for one list after the other; kernels alone read it."""

    table: SmallIntArray
    slots: IntArray

    @classmethod
    def of(cls, most: int) -> "CountRoom":
        """Room for so many thresholds of a list."""
        return cls(np.empty(8 * most + 256, dtype=np.int32), np.empty(4 * (most + 1), dtype=np.int64))
