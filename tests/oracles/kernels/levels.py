"""Levels of codes, pair by pair."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
Chars = npt.NDArray[np.int8]


def count_levels(
    queries: Chars, items: Chars, offset: SmallIntArray, start: IntArray, stop: IntArray, counts: IntArray
) -> None:
    """Add up relevant items, then others, at each number of differing bits plus offset."""
    for q, query in enumerate(queries):
        for i, item in enumerate(items):
            level = sum((int(byte) & 255).bit_count() for byte in query ^ item) + offset[i]
            counts[q if start[q] <= i < stop[q] else len(queries) + q, level] += 1


def ties_of_levels(counts: IntArray, ties: IntArray) -> None:
    """Write query, k, n, l, m of ties with a relevant item."""
    relevant, others = np.split(counts, 2)
    tie = 0
    for q in range(len(relevant)):
        for level in np.flatnonzero(relevant[q]):
            both = relevant[q] + others[q]
            ties[:, tie] = (q, both[:level].sum(), relevant[q, :level].sum(), both[level], relevant[q, level])
            tie += 1
