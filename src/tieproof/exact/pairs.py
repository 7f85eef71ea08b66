"""Float64 inner products and city-block distances of single pairs of rows: step 2 of the ladder."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.exact.rows import Rows
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

SMALLEST_CHUNK, LARGEST_CHUNK = 2**13, 2**22
"""The limits of the number of pairs in a chunk."""

FEW = 16
"""From this many rows per value on, sorting the values is faster than marking the rows (measured)."""

PairKernel = Callable[[Any, Any, IntArray, IntArray, FloatArray], None]


@native
def products(
    x: npt.NDArray[Any], y: npt.NDArray[Any], rows: IntArray, columns: IntArray, out: Output[FloatArray]
) -> None:
    """out[i] = x[rows[i]] . y[columns[i]], in float64."""


@native
def city_blocks(
    x: npt.NDArray[Any], y: npt.NDArray[Any], rows: IntArray, columns: IntArray, out: Output[FloatArray]
) -> None:
    """out[i] = sum over d of |x[rows[i], d] - y[columns[i], d]|, in float64."""


def inner_products(queries: Rows, items: Rows, rows: IntArray, columns: IntArray) -> FloatArray:
    """Inner products of pairs of divided rows; many pairs of few rows are computed by a matrix product."""
    return _of_pairs(queries, items, rows, columns, products)


def city_block_distances(queries: Rows, items: Rows, rows: IntArray, columns: IntArray) -> FloatArray:
    """City-block distances of pairs of divided rows."""
    return _of_pairs(queries, items, rows, columns, city_blocks)


def _of_pairs(queries: Rows, items: Rows, rows: IntArray, columns: IntArray, kernel: PairKernel) -> FloatArray:
    """Compute the pairs in chunks, which are about square if neighboring queries share their items."""
    out = np.empty(len(rows))
    size = SMALLEST_CHUNK
    if len(rows) > size:
        per_row = len(rows) / (1 + np.count_nonzero(rows[1:] != rows[:-1]))
        size = min(max(int(per_row**2), size), LARGEST_CHUNK)
    for start in range(0, len(rows), size):
        span = slice(start, start + size)
        _chunk(queries, items, rows[span], columns[span], kernel, out[span])
    return out


def _chunk(
    queries: Rows, items: Rows, rows: IntArray, columns: IntArray, kernel: PairKernel, out: FloatArray
) -> None:
    """Compute one chunk by a matrix product, from the original array, or from converted rows."""
    x_rows, x_place = distinct(rows, len(queries))
    y_rows, y_place = distinct(columns, len(items))
    if kernel is products and len(x_rows) * len(y_rows) <= 4 * len(rows):
        out[:] = (queries.values(x_rows) @ items.values(y_rows).T)[x_place, y_place]
    elif queries.direct and items.direct and queries.embeddings.dtype == items.embeddings.dtype:
        kernel(queries.embeddings, items.embeddings, queries.first[rows], items.first[columns], out)
        # The divisors are powers of two within 2^±400: their product is exact, and so is a quotient unless subnormal.
        divisor = queries.divisor[rows]
        out /= divisor * items.divisor[columns] if kernel is products else divisor
    else:
        size = max(1, 2**21 // queries.dimensions)  # the rows of a few thousand pairs are converted at a time
        for start in range(0, len(out), size):
            span = slice(start, start + size)
            x, x_at = distinct(x_place[span], len(x_rows))
            y, y_at = distinct(y_place[span], len(y_rows))
            kernel(queries.values(x_rows[x]), items.values(y_rows[y]), x_at, y_at, out[span])


def distinct(values: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """The distinct values in ascending order, all below `size`, and the index of each value among them.

    numpy.unique sorts the values, which takes longer than the products unless there are few values.
    """
    if size > FEW * len(values):
        return np.unique(values, return_inverse=True)
    place, ascending = np.empty(len(values), dtype=np.int64), np.empty(len(values) + 1, dtype=np.int64)
    count = distinct_values(values, np.zeros(size, dtype=np.int64), place, ascending)
    return ascending[:count], place


@native
def distinct_values(
    values: IntArray, number: Output[IntArray], place: Output[IntArray], found: Output[IntArray]
) -> int:
    """Write the distinct values to `found` in ascending order, and return their number.

    `found` has room for one more than `values`; `number` has a zero for each possible value.
    """
