"""Sparse rows for tests of kernels."""

from typing import Any

import numpy as np

from tieproof.inputs.sparse_rows import Terms

WIDTH = 9


def rows_of(random: np.random.Generator, count: int, dtype: Any) -> Terms:
    """Rows of any number of entries, some of none; the numbers are whole, so that no fused product differs."""
    held = random.random((count, WIDTH)) < random.random((count, 1))
    starts = np.append(0, np.cumsum(held.sum(axis=1)))
    values = random.choice([-7, -3, -1, 1, 2, 5], size=starts[-1]).astype(dtype)  # none is 0, as in sparse rows
    return Terms(starts, np.nonzero(held)[1].astype(np.int32), values)
