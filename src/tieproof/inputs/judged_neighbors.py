"""Judges listed items: which are relevant or excluded, and how many such items the gallery has in all."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tieproof.inputs.relevance import Labels, Relevance, sorted_contains
from tieproof.ties import BoolArray, FloatArray, IntArray

ENTRIES_AT_A_TIME = 2**22
"""The number of listed and relevant items that are judged at a time."""


class JudgedItems(NamedTuple):
    """The judgments of the listed items of some queries.

    grade : the grade of each listed item; 0 is not relevant, -1 is excluded
    n_relevant, n_excluded : (q,) the numbers of relevant and excluded items in the gallery
    missing_grades : the grades of relevant items that are not listed, query after query, descending within a query;
        None: all grades are 1
    """

    grade: FloatArray
    n_relevant: IntArray
    n_excluded: IntArray
    missing_grades: FloatArray | None


def spans_of_queries(relevance: Relevance, lengths: IntArray) -> Iterator[slice]:
    """Yield spans of consecutive queries that are judged together."""
    size = lengths if counts_alone(relevance) else lengths + relevance.at_most()
    ends = np.cumsum(size + 1)
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + ENTRIES_AT_A_TIME, side="right")))
        yield slice(start, stop)
        start = stop


def counts_alone(relevance: Relevance) -> bool:
    """Whether labels alone define the relevance, so that no list of relevant items is needed."""
    return isinstance(relevance, Labels) and relevance.plain


def judged(relevance: Relevance, queries: IntArray, position: IntArray, item: IntArray) -> JudgedItems:
    """Judge each listed item for the query at its position; positions are ascending."""
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
    """Return the grades of the relevant pairs that are not listed, descending within each query."""
    absent: BoolArray = ~sorted_contains(listed, relevant)
    order = np.lexsort((-grades[absent], relevant[absent] // count))
    found: FloatArray = grades[absent][order]
    return found
