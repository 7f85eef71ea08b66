"""Ranks of runs: in place of scores, or beside scores, which alone rank, and which they may contradict."""

from collections.abc import Sequence

import numpy as np

from tieproof.errors import warn
from tieproof.ties import FloatArray, IntArray


def may_contradict(query: IntArray, rank: FloatArray, score: FloatArray) -> bool:
    """Whether any two adjacent rows contradict each other, which is fast to check."""
    same = query[1:] == query[:-1]
    return bool((same & (np.diff(rank) * np.diff(score) > 0)).any())


def contradiction(query: IntArray, rank: FloatArray, score: FloatArray) -> tuple[int, int, int] | None:
    """Return in how many of how many lists a later rank has a larger score, and the query of the first of them.

    None is returned unless these are most lists.

    >>> contradiction(np.array([4, 4, 5, 5]), np.array([1.0, 2.0, 1.0, 2.0]), np.array([0.1, 0.3, 0.2, 0.4]))
    (2, 2, 4)
    """
    order = np.lexsort((-score, rank, query))
    query, rank, score = query[order], rank[order], score[order]
    later = (query[1:] == query[:-1]) & (rank[1:] > rank[:-1])
    wrong = np.unique(query[1:][later & (score[1:] > score[:-1])])
    lists = len(np.unique(query[1:][later]))
    return (len(wrong), lists, int(wrong[0])) if 2 * len(wrong) > lists else None


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
