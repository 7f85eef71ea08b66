"""One pass over the embeddings that collects, for each row, the numbers that bounds, units and identities need."""

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.inputs.arrays import Embeddings, blocks, not_finite, rows_of_block
from tieproof.native.calls import Output, native
from tieproof.native.threads import for_each
from tieproof.ties import FloatArray

Checksums = npt.NDArray[np.uint64]


class Statistics(NamedTuple):
    """Statistics of each row, arrays of shape (n,)."""

    largest: FloatArray  # largest absolute value
    smallest: FloatArray  # smallest absolute value that is not zero; inf for a row of zeros
    square: FloatArray  # squared norm of the row scaled so that its largest absolute value is in [1, 2)
    negative: npt.NDArray[np.bool_]  # whether an entry is negative
    checksum: Checksums  # equal for identical rows, or for rows equal up to a positive factor


@native
def scan_block(
    block: FloatArray, multipliers: Checksums, up_to_factor: bool, start: int, statistics: Output[Statistics]
) -> int:
    """Fill `statistics` from row `start` on; return the first row of `block` that is not finite, or -1."""


def scan(embeddings: Embeddings, name: str, up_to_factor: bool, threads: int = 1) -> Statistics:
    """Read every row once; NaN and infinity are refused with the first row that has one."""
    count, dimensions = embeddings.shape
    # Random odd multipliers, so that nobody can prepare rows whose checksums collide. They never affect a result.
    multipliers = np.frombuffer(os.urandom(8 * dimensions), dtype=np.uint64) | np.uint64(1)
    statistics = Statistics(
        np.empty(count),
        np.empty(count),
        np.empty(count),
        np.empty(count, dtype=np.bool_),
        np.empty(count, dtype=np.uint64),
    )

    def look(start: int) -> None:
        block = np.ascontiguousarray(embeddings[start : start + size], dtype=np.float64)
        bad = scan_block(block, multipliers, up_to_factor, start, statistics)
        if bad >= 0:
            raise not_finite(name, start + bad, block[bad])

    size = rows_of_block(embeddings)
    for_each(look, range(0, count, size), threads)
    return statistics


@native
def row_units(rows: FloatArray, unit: Output[FloatArray]) -> None:
    """Write the largest number that each row is a multiple of: gcd of odd parts times 2^e; 1 for a row of zeros."""


def units(embeddings: Embeddings, largest: FloatArray, limit: float, per_row: bool) -> FloatArray | None:
    """The unit of each row (or the common unit, repeated) if all rows are integers up to `limit` units, else None.

    For real-valued embeddings the first few rows are enough to return None.
    """
    if embeddings.dtype.kind in "iub":
        return np.ones(len(embeddings)) if largest.max(initial=0.0) <= limit else None
    unit = np.ones(len(embeddings))
    for start, block in growing_blocks(embeddings):
        span = slice(start, start + len(block))
        row_units(block, unit[span])
        if beyond(largest[span], unit[span], limit):
            return None
    if per_row or not largest.any():
        return unit
    common = common_unit(np.unique(unit[largest > 0]))
    return np.full(len(embeddings), common) if not beyond(largest.max(), common, limit) else None


def beyond(largest: FloatArray | float, unit: FloatArray | float, limit: float) -> bool:
    """Whether any of `largest` is more than `limit` units, as a quotient that overflows is."""
    with np.errstate(over="ignore"):
        return bool((np.divide(largest, unit) > limit).any())


def common_unit(of_rows: FloatArray) -> float:
    """The largest number that all units `of_rows` are multiples of."""
    common = np.empty(1)
    row_units(np.ascontiguousarray(of_rows)[None], common)
    return float(common[0])


def growing_blocks(embeddings: Embeddings) -> Iterator[tuple[int, FloatArray]]:
    """Blocks of rows in float64; the first has sixteen rows, which usually show that there is no unit."""
    yield from blocks(embeddings[:16])
    for start, block in blocks(embeddings[16:]):
        yield start + 16, block
