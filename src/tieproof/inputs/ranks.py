"""Ranks of runs: in place of scores, or beside scores, which they may contradict."""

from collections.abc import Sequence

import numpy as np

from tieproof.errors import warn
from tieproof.ties import FloatArray, IntArray


def may_contradict(query: IntArray, rank: FloatArray, score: FloatArray) -> bool:
    """Whether any two adjacent rows contradict each other, which is fast to check."""
    same = query[1:] == query[:-1]
    return bool((same & (np.diff(rank) * np.diff(score) > 0)).any())


def as_scores(path: str, query: IntArray, value: FloatArray, names: Sequence[bytes]) -> FloatArray:
    """Return the third column of a run as scores: minus the ranks if every list has ranks, from 0 or 1 to its length.

    Other whole numbers may be ranks of which some are missing, and are warned about, if those of every list are
    different and begin with its smallest one.
    """
    order = np.lexsort((value, query))
    ordered, starts = value[order], np.flatnonzero(np.diff(query[order], prepend=-1) != 0)
    length = np.diff(starts, append=len(order))
    begin = np.repeat(ordered[starts], length)
    wrong = (ordered - (np.arange(len(order)) - np.repeat(starts, length)) != begin) | ((begin != 0) & (begin != 1))
    if not wrong.any():
        return -value
    first_read = value[np.minimum.reduceat(order, starts)]
    repeated = (np.diff(ordered) == 0) & (np.diff(query[order]) == 0)
    if (value == np.rint(value)).all() and not repeated.any() and (first_read == ordered[starts]).all():
        called = names[query[order[np.argmax(wrong)]]].decode(errors="replace")
        warn(
            f"{path}: the third column is read as scores, where larger is nearer, because its numbers for query "
            f"'{called}' are not the ranks from 1, or from 0, to the length of the list. If they are ranks, number "
            "the documents of each query anew, without gaps."
        )
    return value
