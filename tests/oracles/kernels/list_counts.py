"""Rankings given as numbers: the relevant items, and the items above and at each threshold, one by one."""

from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Row = npt.NDArray[Any]

number_of = itemgetter(0)


def count_scores(
    score: Row, start: IntArray, threshold: Row, first: IntArray, above: IntArray, equal: IntArray
) -> None:
    """Count the items above and at each threshold; the list of query q is start[q] … start[q+1]-1."""
    for q in range(len(start) - 1):
        listed = score[start[q] : start[q + 1]].tolist()
        for t in range(first[q], first[q + 1]):
            limit = threshold[t].item()
            above[t] = sum(value > limit for value in listed)
            equal[t] = sum(value == limit for value in listed)


def judge(relevance: list[Any]) -> tuple[list[int], list[int]]:
    """The relevant and the excluded items of a list."""
    return [i for i, value in enumerate(relevance) if value > 0], [
        i for i, value in enumerate(relevance) if value < 0
    ]


def ties_of_list(
    numbers: list[Any], relevance: list[Any], small_is_near: bool
) -> tuple[list[tuple[int, int, int, int]], list[float]]:
    """(k, n, l, m) of each tie with a relevant item, the nearest first, and its grades in descending order."""
    items = [(number, grade) for number, grade in zip(numbers, relevance, strict=True) if grade >= 0]
    ties, grades = [], []
    k = n = 0
    for _, tie in groupby(sorted(items, key=number_of, reverse=not small_is_near), key=number_of):
        tied = [grade for _, grade in tie]
        relevant = sorted((float(grade) for grade in tied if grade > 0), reverse=True)
        if relevant:
            ties.append((k, n, len(tied), len(relevant)))
            grades += relevant
        k += len(tied)
        n += len(relevant)
    return ties, grades


def end_of_list(numbers: list[Any], relevance: list[Any], small_is_near: bool) -> tuple[int, int, int, int]:
    """(k, n, l, m) of the items at the farthest number, which may be that of an excluded item."""
    if not numbers:
        return 0, 0, 0, 0
    farthest = max(numbers) if small_is_near else min(numbers)
    counted = [(number, grade) for number, grade in zip(numbers, relevance, strict=True) if grade >= 0]
    before = [grade for number, grade in counted if number != farthest]
    last = [grade for number, grade in counted if number == farthest]
    return len(before), sum(grade > 0 for grade in before), len(last), sum(grade > 0 for grade in last)
