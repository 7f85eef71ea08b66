"""Detects integers that NumPy or pandas rounded when they made one array of integers and floats."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array

LARGEST = 2.0**53
"""float64 represents every integer up to this size."""


def check_integers(values: Any, array: Array, name: str) -> None:
    """Refuse lists and data frames with integers that were rounded in `array`, which was made of them."""
    if array.dtype.kind != "f" or float(np.finfo(array.dtype).max) < LARGEST or not (np.abs(array) >= LARGEST).any():
        return
    if any(is_rounded(part) for part in parts(values)):
        raise InputError(
            f"The {name} must not mix integers that float64 cannot represent exactly with floats or integers of "
            "another type. Pass one NumPy array of int64 or uint64."
        )


def parts(values: Any) -> Iterator[Array]:
    """Yield the parts of an array in their original types: columns of a data frame, entries of a list."""
    if isinstance(values, list | tuple):
        yield np.array(values, dtype=object).ravel()
        for each in values:
            if hasattr(each, "columns"):
                yield from parts(each)
    elif hasattr(values, "iloc") and hasattr(values, "columns"):  # pandas
        for place in range(len(values.columns)):
            yield np.asarray(values.iloc[:, place])
    elif hasattr(values, "columns") and hasattr(values, "to_pandas"):  # polars, pyarrow
        columns = values.get_columns() if hasattr(values, "get_columns") else values.columns
        for column in columns:
            yield np.asarray(column.to_numpy())


def is_rounded(part: Array) -> bool:
    """Whether float64 cannot represent every integer of an array.

    >>> is_rounded(np.array([2**60, -(2**53)])), is_rounded(np.array([2**60 + 1])), is_rounded(np.array([0.5]))
    (False, True, False)
    """
    if part.dtype.kind == "O":
        values = (value.item() if isinstance(value, np.ndarray) and not value.ndim else value for value in part.flat)
        return any(isinstance(value, int | np.integer) and int(float(value)) != int(value) for value in values)
    if part.dtype.kind not in "iu":
        return False
    size = np.where(part < 0, np.negative(part), part).astype(np.uint64)
    lowest_bit = size & (~size + np.uint64(1))
    return bool((size // np.maximum(lowest_bit, np.uint64(1)) > np.uint64(LARGEST)).any())
