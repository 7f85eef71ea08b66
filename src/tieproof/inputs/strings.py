"""Strings that become NumPy arrays, in which every one takes the space of the longest."""

import sys
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array

Text = TypeVar("Text", str, bytes)

MOST_BYTES = 2**30
"""How large an array of strings may become whatever their lengths."""

MOST_WASTE = 16
"""How many times the space that they fill it may then take."""


def check_widths(strings: Sequence[Text], owner: str) -> None:
    """Refuse strings whose array would be far larger than they are, since one of them is very long.

    owner : what holds them, such as "labels.txt" or "The labels"

    >>> check_widths(["cat", "dog"], "The labels")
    """
    if not strings:
        return
    lengths = [len(string) for string in strings]
    longest, width = max(lengths), 1 if isinstance(strings[0], bytes) else 4
    needed = len(lengths) * longest * width
    if needed > MOST_BYTES and needed > MOST_WASTE * sum(lengths) * width:
        raise InputError(
            f"{owner} hold one of {longest:,} characters at [{lengths.index(longest)}] among {len(lengths):,}, and "
            f"would take {needed / 2**30:.1f} GiB, since every one takes the space of the longest; shorten it."
        )


def check_code_points(array: Array, owner: str) -> None:
    """Refuse an array of strings with numbers in it that are no letters, which Python cannot even show."""
    letters = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).view(np.uint32)
    wrong = np.flatnonzero(letters > sys.maxunicode)
    if wrong.size:
        at = int(wrong[0]) * 4 // array.dtype.itemsize
        raise InputError(
            f"{owner} hold bytes at [{at}] that are no letters of Unicode; the strings are damaged: write them again."
        )
