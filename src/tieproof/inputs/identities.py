"""Numbers that name something (labels, groups, categories, indices), and which floats may stand for them.

Other programs save integers as floats. These are taken where no integer can have been rounded on the way.
"""

import re
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array, BoolArray, IntArray

MOST_DIGITS = 53
"""Binary digits of a float64, which longer floats become."""


def stored_type(values: Any, array: Array) -> str:
    """The name of the type in which numbers arrived; that of `array`, which was made of them, may hold more.

    >>> stored_type([0.5], np.array([0.5]))
    'float64'
    """
    name = str(getattr(values, "dtype", "")).removeprefix("torch.")
    return name if name.startswith(("bfloat", "float8")) else array.dtype.name


def exact_below(stored: str) -> int:
    """The number below which floats of a type hold every integer; it itself may be its neighbour, rounded.

    >>> exact_below("float16"), exact_below("bfloat16"), exact_below("float8_e4m3fn")
    (2048, 256, 16)
    """
    if stored == "bfloat16":
        return 256
    named = re.search(r"_e\d+m(\d+)", stored)  # floats of 8 bits say how many digits follow the first one
    digits = int(named[1]) if named else int(np.finfo(np.dtype(stored)).nmant)
    return 1 << min(digits + 1, MOST_DIGITS)


def not_whole(array: Array, limit: int | Array) -> BoolArray:
    """Which floats are no whole numbers, or so large that they may have been rounded: not below `limit` in size.

    >>> not_whole(np.array([2047.0, 0.5, 2048.0], np.float16), exact_below("float16")).tolist()
    [False, True, True]
    """
    found: BoolArray = ~(np.isfinite(array) & (array == np.trunc(array)) & (np.abs(array) < limit))
    return found


def as_int64(integers: Array, name: str) -> IntArray:
    """Integers of any type as int64; those that it does not hold would become negative, and are refused."""
    if integers.dtype.kind == "u" and integers.max(initial=0) >= 2**63:
        raise InputError(
            f"The {name} hold {integers.max()}, and must be below 2^63: they are positions in the data set."
        )
    return integers.astype(np.int64)


def as_item_numbers(ids: Array, name: str) -> IntArray:
    """Integers that indexes return, as int64: -1 where nothing was found, for which unsigned ones have their largest.

    8 and 16 bits are too few for that: their largest number is an item.

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
    """Whether labels have the shape (n, 1) and are all 0 or 1: columns of a single class.

    >>> is_column_of_classes(np.array([[0], [1]])), is_column_of_classes(np.array([[0], [2]]))
    (True, False)
    """
    return bool(labels.shape[1:] == (1,) and labels.dtype.kind in "biuf" and np.isin(labels, (0, 1)).all())
