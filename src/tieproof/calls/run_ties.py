"""From judgments and a run to ties: documents joined by query and id, in the order of their scores."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.inputs.readers.trec import TrecColumns
from tieproof.inputs.relevance import pointers
from tieproof.measures.list_ends import cut_off
from tieproof.ties import FloatArray, IntArray, Parts, Ties


class Documents(NamedTuple):
    """The documents of all evaluated queries' lists, one entry each, and the relevant ones that no list holds.

    grade : 0 where not relevant
    missing_query, missing_grade : ordered by query, grades falling
    """

    query: IntArray
    score: FloatArray
    grade: FloatArray
    missing_query: IntArray
    missing_grade: FloatArray


def join(judged: TrecColumns, ranked: TrecColumns, number: IntArray, n_documents: int) -> Documents:
    """Put together what is judged and what is ranked."""
    listed = number[ranked.query] >= 0
    relevant = (number[judged.query] >= 0) & (judged.value > 0)
    query, scores = number[ranked.query[listed]], ranked.value[listed]
    wanted_query, grades = number[judged.query[relevant]], judged.value[relevant]
    code = query * n_documents + ranked.document[listed]
    wanted = wanted_query * n_documents + judged.document[relevant]
    order = np.argsort(wanted)
    wanted, wanted_query, grades = wanted[order], wanted_query[order], grades[order]

    grade, found = np.zeros(len(code)), np.zeros(len(wanted), dtype=np.bool_)
    place = np.searchsorted(wanted, code)
    hits = np.flatnonzero(np.append(wanted, -1)[place] == code)
    grade[hits] = grades[place[hits]]
    found[place[hits]] = True
    order = np.lexsort((-grades[~found], wanted_query[~found]))
    return Documents(query, scores, grade, wanted_query[~found][order], grades[~found][order])


def run_parts(pairs: Documents, names: npt.NDArray[np.str_], truncated: bool, n_items: int | None) -> Parts:
    """The ties of all queries: first of those with documents in the run, then of the others."""
    answered = np.bincount(pairs.query, minlength=len(names)) > 0
    listed, absent = np.flatnonzero(answered), np.flatnonzero(~answered)
    position = np.cumsum(answered) - 1
    known = answered[pairs.missing_query]
    ties, end = ties_of_pairs(
        pairs._replace(
            query=position[pairs.query],
            missing_query=position[pairs.missing_query[known]],
            missing_grade=pairs.missing_grade[known],
        ),
        len(listed),
    )
    if truncated:
        sizes = None if n_items is None else np.full(len(listed), n_items)
        ties = cut_off(ties, end, ties.n_relevant, sizes, names[listed])
    yield listed, ties
    if len(absent):
        yield absent, nothing_retrieved(np.bincount(pairs.missing_query, minlength=len(names))[absent])


def nothing_retrieved(n_relevant: IntArray) -> Ties:
    """Rankings of a single document that is not relevant: every measure of them is 0."""
    none = np.zeros(0, dtype=np.int64)
    return Ties(none, none, none, none, none, n_relevant=n_relevant, n_items=np.ones_like(n_relevant))


def ties_of_pairs(pairs: Documents, n_queries: int) -> tuple[Ties, tuple[IntArray, IntArray, IntArray, IntArray]]:
    """The ties that hold a relevant document, and (k, n, l, m) of the last tie of every list."""
    order = np.lexsort((-pairs.score, pairs.query))
    query, scores, grade = pairs.query[order], pairs.score[order], pairs.grade[order]
    starts_tie = np.ones(len(query), dtype=np.bool_)
    starts_tie[1:] = (query[1:] != query[:-1]) | (scores[1:] != scores[:-1])
    first = np.flatnonzero(starts_tie)
    list_start = pointers(query, n_queries)
    hits_before = np.concatenate([[0], np.cumsum(grade > 0)])

    of_query, stop = query[first], np.append(first[1:], len(query))
    k, l = first - list_start[of_query], stop - first  # noqa: E741
    n, m = hits_before[first] - hits_before[list_start[of_query]], hits_before[stop] - hits_before[first]
    last = np.flatnonzero(np.diff(of_query, append=n_queries))
    end = tuple(np.zeros(n_queries, dtype=np.int64) for _ in range(4))
    for column, values in zip(end, (k, n, l, m), strict=True):
        column[of_query[last]] = values[last]

    relevant = np.flatnonzero(grade)
    tie = np.cumsum(starts_tie)[relevant]
    grades = grade[relevant][np.lexsort((-grade[relevant], tie))]
    graded = (grades != 1).any() or (pairs.missing_grade != 1).any()
    held = np.flatnonzero(m)
    return (
        Ties(
            query=of_query[held],
            k=k[held],
            n=n[held],
            l=l[held],
            m=m[held],
            n_relevant=np.bincount(query[relevant], minlength=n_queries)
            + np.bincount(pairs.missing_query, minlength=n_queries),
            n_items=np.diff(list_start),
            grades=grades if graded else None,
            missing_grades=pairs.missing_grade if graded else None,
        ),
        (end[0], end[1], end[2], end[3]),
    )
