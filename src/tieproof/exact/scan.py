"""One pass over the embeddings: what the bounds, the units and the identities need to know of each row."""

import math
import secrets
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.arrays import Embeddings, blocks, not_finite, rows_of_block
from tieproof.compiled import kernel
from tieproof.threads import in_order

FloatArray = npt.NDArray[np.float64]
Checksums = npt.NDArray[np.uint64]


class Statistics(NamedTuple):
    """Facts of each row, arrays of shape (n,)."""

    largest: FloatArray  # largest magnitude
    smallest: FloatArray  # smallest magnitude that is not zero; inf for a row of zeros
    square: FloatArray  # squared norm, of the row scaled so that its largest magnitude lies in [1, 2)
    negative: npt.NDArray[np.bool_]  # whether an entry is below zero
    checksum: Checksums  # equal for identical rows; up to a positive factor if asked so


@kernel
def scan_block(
    block: FloatArray, multipliers: Checksums, up_to_factor: bool, start: int, statistics: Statistics
) -> int:
    """Fill `statistics` from row `start` on; return the first row of `block` that is not finite, or -1."""
    for i in range(block.shape[0]):
        row = block[i]
        largest = 0.0
        smallest = np.inf
        negative = False
        finite = True
        for value in row:
            magnitude = abs(value)
            finite &= magnitude < np.inf
            largest = magnitude if magnitude > largest else largest
            if 0.0 < magnitude < smallest:
                smallest = magnitude
            negative |= value < 0.0
        if not finite:
            return i
        scale = 1.0
        if largest > 0.0:
            # The power of two at or below the largest magnitude: division by it is exact.
            scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
        divisor = largest if up_to_factor and largest > 0.0 else 1.0
        square = 0.0
        checksum = np.uint64(0)
        for d in range(row.shape[0]):
            scaled = row[d] / scale
            square += scaled * scaled
            # Equal numbers, zeros of either sign among them, have equal bits after adding 0.0.
            bits = np.float64(row[d] / divisor + 0.0).view(np.uint64)
            checksum += (bits ^ (bits >> np.uint64(32))) * multipliers[d]
        statistics.largest[start + i] = largest
        statistics.smallest[start + i] = smallest
        statistics.square[start + i] = square
        statistics.negative[start + i] = negative
        statistics.checksum[start + i] = checksum
    return -1


def scan(embeddings: Embeddings, name: str, up_to_factor: bool, threads: int = 1) -> Statistics:
    """Read every row once; refuse NaN and infinity by the first row that holds one."""
    count, dimensions = embeddings.shape
    # Random odd multipliers: nobody can prepare rows that collide. They never reach a result.
    multipliers = np.frombuffer(secrets.token_bytes(8 * dimensions), dtype=np.uint64) | np.uint64(1)
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
    for _ in in_order(look, range(0, count, size), threads):
        pass
    return statistics


@kernel
def row_units(bits: npt.NDArray[np.int64], unit: FloatArray) -> None:
    """The largest number that each row, given by its bits, is a multiple of: gcd of odd parts times 2^e."""
    for i in range(bits.shape[0]):
        divisor = 0
        lowest = 2000
        for word in bits[i]:
            exponent = (word >> 52) & 0x7FF
            mantissa = word & ((1 << 52) - 1)
            if exponent == 0:
                exponent = 1
            else:
                mantissa |= 1 << 52
            if mantissa == 0:
                continue
            exponent -= 1075
            for shift in (32, 16, 8, 4, 2, 1):
                if mantissa & ((1 << shift) - 1) == 0:
                    mantissa >>= shift
                    exponent += shift
            lowest = exponent if exponent < lowest else lowest
            if divisor != 1:
                a, b = mantissa, divisor
                while b:
                    a, b = b, a % b
                divisor = a
        unit[i] = math.ldexp(float(divisor), lowest) if divisor else 1.0


def units(embeddings: Embeddings, largest: FloatArray, limit: float, per_row: bool) -> FloatArray | None:
    """The unit of each row (or the common one, repeated) if all rows are integers up to `limit` units, else None.

    Real-valued embeddings are told apart after their first few rows.
    """
    if embeddings.dtype.kind in "iub":
        return np.ones(len(embeddings)) if largest.max(initial=0.0) <= limit else None
    unit = np.ones(len(embeddings))
    for start, block in growing_blocks(embeddings):
        span = slice(start, start + len(block))
        row_units(block.view(np.int64), unit[span])
        if beyond(largest[span], unit[span], limit):
            return None
    if per_row or not largest.any():
        return unit
    common = common_unit(np.unique(unit[largest > 0]))
    return np.full(len(embeddings), common) if not beyond(largest.max(), common, limit) else None


def beyond(largest: FloatArray | float, unit: FloatArray | float, limit: float) -> bool:
    """Whether any of `largest` is more than `limit` units; a quotient that overflows is."""
    with np.errstate(over="ignore"):
        return bool((np.divide(largest, unit) > limit).any())


def common_unit(of_rows: FloatArray) -> float:
    """The largest number that all of `of_rows` are multiples of."""
    common = np.empty(1)
    row_units(np.ascontiguousarray(of_rows)[None].view(np.int64), common)
    return float(common[0])


def growing_blocks(embeddings: Embeddings) -> Iterator[tuple[int, FloatArray]]:
    """The rows in float64, sixteen first: they mostly tell that there is no unit."""
    yield from blocks(embeddings[:16])
    for start, block in blocks(embeddings[16:]):
        yield start + 16, block
