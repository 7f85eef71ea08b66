"""Levels of codes, pair by pair."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
ShortArray = npt.NDArray[np.uint16]
Chars = npt.NDArray[np.int8]


def levels_of(
    queries: Chars, items: Chars, offset: SmallIntArray, square: SmallIntArray, table: ShortArray
) -> list[list[int]]:
    """The level of each item for each query."""
    found = []
    for query, of_query in zip(queries, square, strict=True):
        differing = [sum((int(byte) & 255).bit_count() for byte in query ^ item) for item in items]
        sums = [bits + int(of_item) for bits, of_item in zip(differing, offset, strict=True)]
        found.append([int(table[(total - of_query) // 2]) for total in sums] if len(table) else sums)
    return found


def ties_of_levels(levels: list[list[int]], start: IntArray, stop: IntArray, own: IntArray) -> list[tuple[int, ...]]:
    """The query, k, n, l, m of ties with a relevant item, without one relevant item at level `own`, if any."""
    ties: list[tuple[int, ...]] = []
    for q, of_items in enumerate(levels):
        everything, relevant = list(of_items), of_items[start[q] : stop[q]]
        for counted in (everything, relevant):
            if len(own):
                counted.remove(own[q])
        for level in sorted(set(relevant)):
            k, n = (sum(other < level for other in counted) for counted in (everything, relevant))
            ties.append((q, k, n, everything.count(level), relevant.count(level)))
    return ties
