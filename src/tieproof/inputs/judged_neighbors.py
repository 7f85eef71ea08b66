"""Who is relevant and who is excluded among listed items, and how many items of each kind there are in all."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tieproof.inputs.relevance import Labels, Relevance, sorted_contains
from tieproof.ties import BoolArray, FloatArray, IntArray

ENTRIES_AT_A_TIME = 2**22
"""Listed items, and relevant ones, that are looked at together."""


class JudgedItems(NamedTuple):
    """Some queries, whose listed items are judged.

    grade : of each listed item; 0 is not relevant, -1 is excluded
    n_relevant, n_excluded : (q,) all items of the gallery that are
    missing_grades : of the relevant items that are not listed, query after query, falling; None: all grades are 1
    """

    grade: FloatArray
    n_relevant: IntArray
    n_excluded: IntArray
    missing_grades: FloatArray | None


def spans_of_queries(relevance: Relevance, lengths: IntArray) -> Iterator[slice]:
    """Consecutive queries that can be looked at together."""
    size = lengths if counts_alone(relevance) else lengths + relevance.at_most()
    ends = np.cumsum(size + 1)
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + ENTRIES_AT_A_TIME, side="right")))
        yield slice(start, stop)
        start = stop


def counts_alone(relevance: Relevance) -> bool:
    """Whether labels say all, so that no list of the relevant items is needed."""
    return isinstance(relevance, Labels) and relevance.plain


def judged(relevance: Relevance, queries: IntArray, position: IntArray, item: IntArray) -> JudgedItems:
    """Judge items that are listed, one each, for the queries at these positions, ascending."""
    if isinstance(relevance, Labels) and relevance.plain:
        same = relevance.query_class[queries][position] == relevance.item_class[item]
        itself = relevance.leave_one_out & (item == queries[position])
        n_excluded = np.full(len(queries), int(relevance.leave_one_out))
        return JudgedItems(np.where(itself, -1.0, same), relevance.at_most()[queries], n_excluded, None)
    block = relevance.block(queries)
    count = relevance.n_items
    code = position * count + item
    relevant = np.repeat(np.arange(len(queries)), np.diff(block.pointer)) * count + block.items
    excluded = np.repeat(np.arange(len(queries)), np.diff(block.excluded_pointer)) * count + block.excluded
    grade = np.zeros(len(code))
    is_relevant = sorted_contains(relevant, code)
    grades = np.ones(len(relevant)) if block.grades is None else block.grades
    grade[is_relevant] = grades[np.searchsorted(relevant, code[is_relevant])]
    grade[sorted_contains(excluded, code)] = -1.0
    missing = None if not relevance.graded else missing_of(relevant, grades, np.sort(code), count)
    return JudgedItems(grade, np.diff(block.pointer), np.diff(block.excluded_pointer), missing)


def missing_of(relevant: IntArray, grades: FloatArray, listed: IntArray, count: int) -> FloatArray:
    """The grades of the relevant pairs that are not listed, falling within each query."""
    absent: BoolArray = ~sorted_contains(listed, relevant)
    order = np.lexsort((-grades[absent], relevant[absent] // count))
    found: FloatArray = grades[absent][order]
    return found
