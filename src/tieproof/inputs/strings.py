"""Checks of strings before they become NumPy arrays, in which every string takes the space of the longest."""

import sys
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array

Text = TypeVar("Text", str, bytes)

MOST_BYTES = 2**30
"""The bytes that any array of strings may take."""

MOST_WASTE = 16
"""A larger array may take at most so many times the space of its letters."""


def check_widths(strings: Sequence[Text], owner: str) -> None:
    """Refuse strings whose array would be far larger than the strings because one of them is very long.

    owner : what contains the strings, such as "The labels"

    >>> check_widths(["cat", "dog"], "The labels")
    """
    if not strings:
        return
    lengths = [len(string) for string in strings]
    longest, width = max(lengths), 1 if isinstance(strings[0], bytes) else 4
    needed = len(lengths) * longest * width
    if needed > MOST_BYTES and needed > MOST_WASTE * sum(lengths) * width:
        raise InputError(
            f"{owner} contain a string of {longest:,} characters at [{lengths.index(longest)}] among "
            f"{len(lengths):,} strings, and would take {needed / 2**30:.1f} GiB, because every string takes the "
            "space of the longest; shorten it."
        )


def check_code_points(array: Array, owner: str) -> None:
    """Refuse an array of strings that contains invalid code points, which Python cannot print."""
    letters = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).view(np.uint32)
    wrong = np.flatnonzero(letters > sys.maxunicode)
    if wrong.size:
        at = int(wrong[0]) * 4 // array.dtype.itemsize
        raise InputError(
            f"{owner} contain bytes at [{at}] that are not Unicode characters; the strings are damaged: write them "
            "again."
        )
