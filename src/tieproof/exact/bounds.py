"""The error bounds within which a float comparison is not decisive; README.md in this folder derives each of them."""

import math

import numpy as np

UNIT_ROUNDOFF = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}
SMALLEST_NORMAL = {np.dtype(np.float32): 2.0**-126, np.dtype(np.float64): 2.0**-1022}
EXACT_INTEGERS = {np.dtype(np.float32): 2.0**24, np.dtype(np.float64): 2.0**53}

SAFETY = 1 + 2.0**-20
"""A factor that covers the rounding of the bounds, which are each computed in a few float64 operations."""

ARITHMETIC = 2.0**-51
"""The relative error of the two or three float64 operations that compute a nearness and its interval (README, 4)."""


def gamma(operations: int, unit: float) -> float:
    """The relative error of n roundings, n u / (1 - n u) (Higham 2002, lemma 3.1); infinite if n u is too large."""
    product = operations * unit
    return product / (1 - product) * SAFETY if product < 0.5 else math.inf


def inner_product(dimensions: int, chunk: int, dtype: np.dtype[np.floating]) -> float:
    """The bound of |computed - exact| / (|x| |y|), for rows that were themselves rounded to `dtype` (README, 2).

    chunk : the number of dimensions that are summed before these sums are added
    """
    return gamma(chunk + -(-dimensions // chunk) + 8, UNIT_ROUNDOFF[dtype])


def norm(dimensions: int) -> float:
    """The relative error of a float64 norm, and of numbers divided by it (README, 3)."""
    return gamma(dimensions + 8, UNIT_ROUNDOFF[np.dtype(np.float64)])


def sum_of_distances(dimensions: int, dtype: np.dtype[np.floating]) -> float:
    """The relative error of a computed sum of |x - y|, for rows that are exact in `dtype` (README, 5)."""
    return gamma(dimensions + 8, UNIT_ROUNDOFF[dtype])


def underflow(dimensions: int, dtype: np.dtype[np.floating]) -> float:
    """The largest error by underflow in a sum of products of entries below 2, flushed to zero or not (README, 6)."""
    return 16 * (dimensions + 1) * SMALLEST_NORMAL[dtype]
