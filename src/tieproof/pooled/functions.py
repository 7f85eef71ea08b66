"""A function's distances as a gauge: the floats that it returns are the numbers."""

from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.distances import DistanceFunction
from tieproof.distances.gauge import Gauge
from tieproof.engine.dense import FUNCTION_COLUMNS, FUNCTION_ENTRIES, FUNCTION_ROWS, checked_distances
from tieproof.exact.reals import Real, rounded
from tieproof.inputs.arrays import Embeddings
from tieproof.ties import FloatArray, IntArray


class FunctionGauge(Gauge):
    """Distances by a function, asked for in blocks whose size depends on that of the data only."""

    def __init__(self, function: DistanceFunction, queries: Embeddings, items: Embeddings) -> None:
        self.function, self.queries, self.items = function, queries, items
        self.identity = (np.arange(len(queries)), np.arange(len(items)))
        self.weight = (np.ones(len(queries), dtype=np.int64), np.ones(len(items), dtype=np.int64))
        self.symmetric = False
        self.stripe_rows = max(1, min(FUNCTION_ROWS, FUNCTION_ENTRIES // len(items)))

    def values(self, rows: slice, columns: slice) -> FloatArray:
        """The distances of all columns, whichever are asked for: a function may round otherwise for fewer."""
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
