"""Sums over the entries of pairs of rows of integers, by Python's integers."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.int32]


def products_of_words(x: WordArray, y: WordArray, rows: IntArray, columns: IntArray) -> list[int]:
    """Return inner products."""
    return [
        sum(a * b for a, b in zip(x[i].tolist(), y[j].tolist(), strict=True))
        for i, j in zip(rows, columns, strict=True)
    ]


def squares_of_words(x: WordArray, y: WordArray, rows: IntArray, columns: IntArray) -> list[int]:
    """Return minus the sums of squared differences."""
    return [
        -sum((a - b) ** 2 for a, b in zip(x[i].tolist(), y[j].tolist(), strict=True))
        for i, j in zip(rows, columns, strict=True)
    ]


def distances_of_words(x: WordArray, y: WordArray, rows: IntArray, columns: IntArray) -> list[int]:
    """Return minus the sums of the magnitudes of differences."""
    return [
        -sum(abs(a - b) for a, b in zip(x[i].tolist(), y[j].tolist(), strict=True))
        for i, j in zip(rows, columns, strict=True)
    ]
