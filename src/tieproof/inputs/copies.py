"""The rule for an id that occurs twice in a list: it is refused, or it counts at its first place in the ranking."""

from typing import Literal

import numpy as np

from tieproof.ties import Array, IntArray

Duplicates = Literal["error", "first"]
DUPLICATES = ("error", "first")

HOW = "Keep one of them, or pass duplicates='first' (--duplicates first), so that it counts at its first place."
"""What to do about an id that occurs twice in a run or in a list of neighbors."""


def first_places(code: IntArray, number: Array, small_is_near: bool) -> IntArray:
    """Return the rows of the nearest copy of each item, ascending; of equally near ones that of the first.

    code : a number for each item of each list

    >>> first_places(np.array([7, 8, 7, 7]), np.array([0.5, 0.1, 0.9, 0.9]), small_is_near=False).tolist()
    [1, 2]
    """
    _, place = np.unique(number, return_inverse=True)
    order = np.lexsort((place if small_is_near else -place, code))
    ordered = code[order]
    return np.sort(order[np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))])


def left_out(copies: int) -> tuple[str, ...]:
    """The sentence on ids that occurred before."""
    if not copies:
        return ()
    ids, are = ("id", "is") if copies == 1 else ("ids", "are")
    return (f"{copies:,} repeated {ids} {are} left out: an item counts at its first place.",)
