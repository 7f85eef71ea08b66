"""Inner products and city-block distances of single pairs of rows, and distinct values, as loops."""

from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

LANES = 32
"""The number of partial sums over whole groups; they are added in order to the sum of the remaining numbers."""


def added_up(terms: FloatArray) -> float:
    """The sum of the terms in the order of the kernels."""
    whole = len(terms) // LANES * LANES
    total = 0.0
    for term in terms[whole:].tolist():
        total += term
    for lane in range(LANES):
        partial = 0.0
        for term in terms[lane:whole:LANES].tolist():
            partial += term
        total += partial
    return total


def products(x: npt.NDArray[Any], y: npt.NDArray[Any], rows: IntArray, columns: IntArray, out: FloatArray) -> None:
    """out[i] = x[rows[i]] . y[columns[i]]."""
    for i in range(len(rows)):
        out[i] = added_up(x[rows[i]].astype(np.float64) * y[columns[i]].astype(np.float64))


def city_blocks(x: npt.NDArray[Any], y: npt.NDArray[Any], rows: IntArray, columns: IntArray, out: FloatArray) -> None:
    """out[i] = sum over d of |x[rows[i], d] - y[columns[i], d]|."""
    for i in range(len(rows)):
        out[i] = added_up(abs(x[rows[i]].astype(np.float64) - y[columns[i]].astype(np.float64)))
