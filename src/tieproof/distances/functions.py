"""The gauge of a distance function: the floats that it returns are compared exactly."""

from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances import DistanceFunction
from tieproof.distances.gauge import Gauge
from tieproof.errors import InputError
from tieproof.exact.reals import Real, rounded
from tieproof.inputs.arrays import Embeddings, as_numbers
from tieproof.ties import FloatArray, IntArray

FUNCTION_ROWS, FUNCTION_COLUMNS, FUNCTION_ENTRIES = 256, 4096, 2**24
"""The largest block of queries and of items for a distance function, and the most distances kept at a time."""


class FunctionGauge(Gauge):
    """Distances of a function, which is called with blocks whose shape depends only on the size of the data.

    A function may round differently for blocks of other shapes, so memory and threads must not affect them.
    """

    def __init__(self, function: DistanceFunction, queries: Embeddings, items: Embeddings) -> None:
        self.function, self.queries, self.items = function, queries, items
        self.identity = (np.arange(len(queries)), np.arange(len(items)))
        self.weight = (np.ones(len(queries), dtype=np.int64), np.ones(len(items), dtype=np.int64))
        self.symmetric = False
        self.stripe_rows = max(1, min(FUNCTION_ROWS, FUNCTION_ENTRIES // len(items)))

    def values(self, rows: slice, columns: slice) -> FloatArray:
        """Compute the distances of all columns, because a function may round fewer ones differently; return some."""
        distances = np.empty((rows.stop - rows.start, len(self.items)))
        for first in range(0, len(self.items), FUNCTION_COLUMNS):
            span = slice(first, min(first + FUNCTION_COLUMNS, len(self.items)))
            found = self.function(self.queries[rows], self.items[span])
            distances[:, span] = checked_distances(found, rows, span)
        return np.ascontiguousarray(distances[:, columns])

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of pairs: what the function returned, as fractions."""
        return [Fraction(value) for value in values.tolist()]

    def near(self, key: Real) -> float:
        """A key as the nearest float."""
        return rounded(key)


def checked_distances(values: Any, rows: slice, columns: slice) -> FloatArray:
    """Return the distances of a function after checking that they are a matrix of finite numbers of this shape."""
    distances = as_numbers(values, "distances")
    expected = (rows.stop - rows.start, columns.stop - columns.start)
    if distances.shape != expected:
        raise InputError(
            f"The distance function returned the shape {distances.shape} for {expected[0]} queries and "
            f"{expected[1]} gallery items. It must return the shape {expected}.",
            "distance",
        )
    if not np.isfinite(distances).all():
        query, item = np.argwhere(~np.isfinite(distances))[0]
        raise InputError(
            f"The distance function returned {distances[query, item]} for query {rows.start + query} and gallery "
            f"item {columns.start + item}. It must return finite numbers.",
            "distance",
        )
    if distances.dtype.kind in "iu" and (np.abs(distances.astype(np.float64)) >= 2.0**53).any():
        raise InputError(
            f"The distance function returned integers beyond 2^53 ({distances.dtype.name}), which float64 cannot "
            "represent exactly. It must return floats, or smaller integers.",
            "distance",
        )
    return distances.astype(np.float64)
