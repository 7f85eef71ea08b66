"""Hamming distances, pair by pair."""

from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def count_levels(
    queries: Words, items: Words, start: IntArray, stop: IntArray, room: Any, lanes: Any, counts: IntArray
) -> None:
    """Add up relevant items, then others, at each distance."""
    for q, query in enumerate(queries):
        for i, item in enumerate(items):
            distance = sum(int(word).bit_count() for word in query ^ item)
            counts[q if start[q] <= i < stop[q] else len(queries) + q, distance] += 1


def ties_of_levels(counts: IntArray, ties: IntArray) -> None:
    """Write query, k, n, l, m of ties with a relevant item."""
    relevant, others = np.split(counts, 2)
    tie = 0
    for q in range(len(relevant)):
        for level in np.flatnonzero(relevant[q]):
            both = relevant[q] + others[q]
            ties[:, tie] = (q, both[:level].sum(), relevant[q, :level].sum(), both[level], relevant[q, level])
            tie += 1
