"""One pass over the embeddings: what the bounds, the units and the identities need to know of each row."""

import math
import secrets
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.inputs.arrays import (
    Embeddings,
    blocks,
    not_finite,
    rows_of_block,
)
from tieproof.native.compiled import kernel, part
from tieproof.native.threads import for_each
from tieproof.ties import FloatArray

Checksums = npt.NDArray[np.uint64]

MAGNITUDE, INFINITE = np.uint64(2**63 - 1), np.uint64(0x7FF << 52)
"""Bits of a float64 but its sign; those of infinity, above which all others are NaN."""

LANES = 8
"""Sums side by side, so that a processor adds them up at once."""


class Statistics(NamedTuple):
    """Facts of each row, arrays of shape (n,)."""

    largest: FloatArray  # largest magnitude
    smallest: FloatArray  # smallest magnitude that is not zero; inf for a row of zeros
    square: FloatArray  # squared norm, of the row scaled so that its largest magnitude lies in [1, 2)
    negative: npt.NDArray[np.bool_]  # whether an entry is below zero
    checksum: Checksums  # equal for identical rows; up to a positive factor if asked so


@kernel
def scan_block(
    block: FloatArray,
    bits: Checksums,
    multipliers: Checksums,
    up_to_factor: bool,
    lanes: FloatArray,
    start: int,
    statistics: Statistics,
) -> int:
    """Fill `statistics` from row `start` on; return the first row of `block` that is not finite, or -1.

    bits : those of `block`
    lanes : room for eight sums
    """
    for i in range(block.shape[0]):
        row = block[i]
        above, below, signs = extremes(bits[i])
        if above >= INFINITE:
            return i
        largest = np.uint64(above).view(np.float64)
        # The exponent of the power of two at or below the largest magnitude.
        exponent = math.frexp(largest)[1] - 1 if largest > 0.0 else 0
        statistics.largest[start + i] = largest
        statistics.smallest[start + i] = np.uint64(below + np.uint64(1)).view(np.float64) if largest > 0.0 else np.inf
        statistics.square[start + i] = sum_of_squares(row, exponent, lanes)
        statistics.negative[start + i] = signs > MAGNITUDE
        statistics.checksum[start + i] = checksum_of(row, multipliers, largest if up_to_factor and above else 1.0)
    return -1


@part
def extremes(row: Checksums) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Bits of the largest magnitude, of the smallest but zero, less one, and all bits of numbers other than zero.

    Magnitudes are ordered as their bits are; that of zero, less one, is the largest of all.
    """
    largest, smallest, signs = np.uint64(0), np.uint64(2**64 - 1), np.uint64(0)
    for d in range(row.shape[0]):
        magnitude = row[d] & MAGNITUDE
        largest = magnitude if magnitude > largest else largest
        below = magnitude - np.uint64(1)
        smallest = below if below < smallest else smallest
        signs |= row[d] if magnitude else np.uint64(0)
    return largest, smallest, signs


@part
def sum_of_squares(row: FloatArray, exponent: int, lanes: FloatArray) -> float:
    """Sum of squares of a row divided by 2^exponent: eight sums side by side, then one of them.

    Division by half of the power at a time, so that its inverse is a number, too. What is rounded there is so small
    that its square is zero.
    """
    half, rest = math.ldexp(1.0, -(exponent // 2)), math.ldexp(1.0, -(exponent - exponent // 2))
    whole = row.shape[0] // LANES * LANES
    for lane in range(LANES):
        lanes[lane] = 0.0
    for start in range(0, whole, LANES):
        for lane in range(LANES):
            scaled = row[start + lane] * half * rest
            lanes[lane] += scaled * scaled
    square = 0.0
    for d in range(whole, row.shape[0]):
        scaled = row[d] * half * rest
        square += scaled * scaled
    for lane in range(LANES):
        square += lanes[lane]
    return square


@part
def checksum_of(row: FloatArray, multipliers: Checksums, divisor: float) -> np.uint64:
    """Checksum of a row divided by `divisor`."""
    checksum = np.uint64(0)
    for d in range(row.shape[0]):
        # Equal numbers, zeros of either sign among them, have equal bits after adding 0.0.
        bits = np.float64(row[d] / divisor + 0.0).view(np.uint64)
        checksum += (bits ^ (bits >> np.uint64(32))) * multipliers[d]
    return checksum


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
        bad = scan_block(block, block.view(np.uint64), multipliers, up_to_factor, np.empty(LANES), start, statistics)
        if bad >= 0:
            raise not_finite(name, start + bad, block[bad])

    size = rows_of_block(embeddings)
    for_each(look, range(0, count, size), threads)
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
