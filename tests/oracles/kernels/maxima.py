"""Sums of the largest entries of blocks of rows, in plain Python."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def add_largest(entries: Array, ends: Array, query: Array, out: Array) -> None:
    """Add for each column the largest entry of each block of rows, column after column."""
    start = 0
    for item, end in enumerate(ends.tolist()):
        for column, of_query in enumerate(query.tolist()):
            out[of_query, item] += float(max(entries[start:end, column]))
        start = end


def largest_of_codes(
    rows: Array, row_scale: Array, items: Array, item_scale: Array, ends: Array, query: Array, out: Array
) -> None:
    """Exact products of integers in the type of the scales, times those of rows, and the largest times its item's."""
    scaled = (rows.astype(np.int64) @ items.astype(np.int64).T).astype(row_scale.dtype) * row_scale[:, None]
    start = 0
    for item, end in enumerate(ends.tolist()):
        for column, of_query in enumerate(query.tolist()):
            out[of_query, item] += float(max(scaled[start:end, column])) * float(item_scale[column])
        start = end
