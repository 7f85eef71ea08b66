"""Numbers that identify something (labels, groups, categories, indices), and which floats are accepted for them.

Other programs save integers as floats. Such floats are accepted if no integer can have been rounded.
"""

import re
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array, BoolArray, IntArray

MOST_DIGITS = 53
"""The binary digits of a float64, to which longer floats are converted."""


def stored_type(values: Any, array: Array) -> str:
    """Return the name of the original type of numbers; the type of `array`, made from them, may be larger.

    >>> stored_type([0.5], np.array([0.5]))
    'float64'
    """
    name = str(getattr(values, "dtype", "")).removeprefix("torch.")
    return name if name.startswith(("bfloat", "float8")) else array.dtype.name


def exact_below(stored: str) -> int:
    """Return the number below which floats of a type represent every integer; this number may be a rounded one.

    >>> exact_below("float16"), exact_below("bfloat16"), exact_below("float8_e4m3fn")
    (2048, 256, 16)
    """
    if stored == "bfloat16":
        return 256
    named = re.search(r"_e\d+m(\d+)", stored)  # the names of 8-bit floats give the digits after the first one
    digits = int(named[1]) if named else int(np.finfo(np.dtype(stored)).nmant)
    return 1 << min(digits + 1, MOST_DIGITS)


def not_whole(array: Array, limit: int | Array) -> BoolArray:
    """Return which floats are not whole, or may have been rounded because their size is at least `limit`.

    >>> not_whole(np.array([2047.0, 0.5, 2048.0], np.float16), exact_below("float16")).tolist()
    [False, True, True]
    """
    found: BoolArray = ~(np.isfinite(array) & (array == np.trunc(array)) & (np.abs(array) < limit))
    return found


def as_int64(integers: Array, name: str) -> IntArray:
    """Convert integers of any type to int64, and refuse those of 2^63 or more."""
    if integers.dtype.kind == "u" and integers.max(initial=0) >= 2**63:
        raise InputError(
            f"The {name} contain {integers.max()}, but must be below 2^63. Pass positions in the data set."
        )
    return integers.astype(np.int64)


def as_item_numbers(ids: Array, name: str) -> IntArray:
    """Convert integers that an index returned to int64, with -1 for the largest unsigned number: nothing found.

    The largest number of 8 and 16 bits is treated as an item.

    >>> as_item_numbers(np.array([7, 2**32 - 1], dtype=np.uint32), "ids").tolist()
    [7, -1]
    """
    if ids.dtype.kind != "u" or ids.dtype.itemsize < 4:
        return ids.astype(np.int64)
    absent = ids == np.iinfo(ids.dtype).max
    items = as_int64(np.where(absent, 0, ids), name)
    items[absent] = -1
    return items


def is_column_of_classes(labels: Array) -> bool:
    """Whether labels have the shape (n, 1) and are all 0 or 1: one column of a single class.

    >>> is_column_of_classes(np.array([[0], [1]])), is_column_of_classes(np.array([[0], [2]]))
    (True, False)
    """
    return bool(labels.shape[1:] == (1,) and labels.dtype.kind in "biuf" and np.isin(labels, (0, 1)).all())
