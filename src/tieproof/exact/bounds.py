"""The error bounds that decide what a float may decide; each is derived in README.md beside this file."""

import math

import numpy as np

UNIT_ROUNDOFF = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
SMALLEST_NORMAL = {np.dtype(np.float32): 2.0**-126, np.dtype(np.float64): 2.0**-1022}
EXACT_INTEGERS = {np.dtype(np.float32): 2.0**24, np.dtype(np.float64): 2.0**53}

SAFETY = 1 + 2.0**-20
"""Covers the rounding of the bounds themselves, each a handful of float64 operations."""

ARITHMETIC = 2.0**-51
"""Relative error of the two or three float64 operations that make a nearness and its interval (README, 4)."""


def gamma(operations: int, unit: float) -> float:
    """Relative growth of `operations` roundings, n u / (1 - n u) (Higham 2002, lemma 3.1); inf past the domain."""
    product = operations * unit
    return product / (1 - product) * SAFETY if product < 0.5 else math.inf


def inner_product(dimensions: int, chunk: int, dtype: np.dtype[np.floating]) -> float:
    """Bound of |computed - exact| / (|x| |y|), for rows that were themselves rounded to `dtype` (README, 2).

    chunk: dimensions that are summed up before the sums are added.
    """
    return gamma(chunk + -(-dimensions // chunk) + 8, UNIT_ROUNDOFF[dtype])


def norm(dimensions: int) -> float:
    """Relative error of a float64 norm, and of what is divided by it (README, 3)."""
    return gamma(dimensions + 8, UNIT_ROUNDOFF[np.dtype(np.float64)])


def sum_of_distances(dimensions: int, dtype: np.dtype[np.floating]) -> float:
    """Relative error of a computed sum of |x - y|, for rows that are exact in `dtype` (README, 5)."""
    return gamma(dimensions + 8, UNIT_ROUNDOFF[dtype])


def underflow(dimensions: int, dtype: np.dtype[np.floating]) -> float:
    """What underflow can add to a sum of products of entries below 2, flushed to zero or not (README, 6)."""
    return 16 * (dimensions + 1) * SMALLEST_NORMAL[dtype]
