"""Near-duplicates minus one of them: differences that are exact, and so have the same distances from each other.

The difference of two floats of the same sign, of which neither is more than twice the other, is exact in their type
(Sterbenz 1974). Euclidean distances stay the same real numbers, and the error bounds, which grow with the norms of
rows, become as small as the differences. Dot products and cosines follow from them (`distances/near_duplicates.py`).
"""

import numpy as np

from tieproof.distances.exact.rows import Rows, describe, scan, spans
from tieproof.ties import Array, BoolArray

FIRST_ROWS = 16
"""The number of rows that usually show that rows are no near-duplicates."""


def centered(sides: tuple[Rows, ...], keep_bytes: int, threads: int) -> tuple[tuple[Rows, ...], Array] | None:
    """Return the rows of all sides minus the first row, and this row; None if a difference might not be exact.

    keep_bytes : the memory for a side, of which the differences may take half; otherwise the result is None, too
    """
    arrays = [side.embeddings for side in sides]
    kind = arrays[0].dtype
    if kind.kind != "f" or any(array.dtype != kind or 2 * array.nbytes > keep_bytes for array in arrays):
        return None
    center = np.array(arrays[0][0])
    if ((arrays[-1][-1] > 0) != (center > 0)).any():  # which shows it at once for most data
        return None
    half = center / 2
    if not (np.abs(half) < np.finfo(kind).max / 4).all() or (2 * half != center).any():
        return None
    low, high = np.minimum(half, 4 * half), np.maximum(half, 4 * half)

    def are_near(rows: Array) -> bool:
        near: BoolArray = (low <= rows) & (rows <= high)
        return bool(near.all())

    if not all(are_near(array[:FIRST_ROWS]) for array in arrays):
        return None
    if not all(are_near(array[span]) for array in arrays for span in spans(*array.shape)):
        return None
    return tuple(_minus(side, center, threads) for side in sides), center


def _minus(side: Rows, center: Array, threads: int) -> Rows:
    """The rows minus the center, with new statistics."""
    embeddings = np.subtract(side.embeddings, center)
    return describe(embeddings, side.identity, side.first, scan(embeddings, "embeddings", False, threads))
