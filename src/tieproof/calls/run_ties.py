"""From judgments and a run to ties: the scores of relevant documents, and how many others are above and at them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.inputs.count_room import CountRoom
from tieproof.inputs.judged_runs import JudgedDocuments, RankedDocuments
from tieproof.inputs.relevance import pointers
from tieproof.measures.list_ends import cut_off
from tieproof.native.calls import Output, native
from tieproof.ties import Array, FloatArray, IntArray, Parts, Ties


class RelevantScores(NamedTuple):
    """The scores of all evaluated queries' lists, and of the relevant documents.

    start, score : (Q + 1,) and (n,); the list of query q is start[q] … start[q+1]-1
    query, at, grade : of each relevant document that a list holds: query after query, scores falling, then grades
    missing_query, missing_grade : of the others: ordered by query, grades falling
    """

    start: IntArray
    score: FloatArray
    query: IntArray
    at: FloatArray
    grade: FloatArray
    missing_query: IntArray
    missing_grade: FloatArray


def join(judged: JudgedDocuments, ranked: RankedDocuments, number: IntArray, n_queries: int) -> RelevantScores:
    """Put together what is judged and what is ranked; number[query] is the place of an evaluated query, else -1."""
    place, length = number[ranked.query], ranked.length
    first = np.cumsum(length) - length
    order = np.argsort(place, kind="stable")[np.count_nonzero(place < 0) :]
    place, length, score = place[order], length[order], ranked.score
    start = np.append(0, np.cumsum(length))
    if len(order) < len(first) or (np.diff(order) < 0).any():
        score = score[np.repeat(first[order] - start[:-1], length) + np.arange(start[-1])]
    of_judged = number[judged.documents.query]
    relevant = (of_judged >= 0) & (judged.grade > 0)
    of_relevant, at, grade = of_judged[relevant], ranked.of_judged[relevant], judged.grade[relevant]
    order = np.lexsort((-grade, -at, of_relevant))  # NaN, of those that no list holds, behind the numbers of a query
    of_relevant, at, grade = of_relevant[order], at[order], grade[order]
    listed = ~np.isnan(at)
    return RelevantScores(
        start[pointers(place, n_queries)],
        score,
        of_relevant[listed],
        at[listed],
        grade[listed],
        of_relevant[~listed],
        grade[~listed],
    )


def run_parts(scores: RelevantScores, names: npt.NDArray[np.str_], truncated: bool, n_items: int | None) -> Parts:
    """The ties of all queries: first of those with documents in the run, then of the others."""
    answered = np.diff(scores.start) > 0
    listed, absent = np.flatnonzero(answered), np.flatnonzero(~answered)
    position = np.cumsum(answered) - 1
    known = answered[scores.missing_query]
    ranked = scores._replace(
        start=np.append(scores.start[:-1][answered], scores.start[-1]),
        query=position[scores.query],
        missing_query=position[scores.missing_query[known]],
        missing_grade=scores.missing_grade[known],
    )
    ties = ties_of_run(ranked)
    if truncated:
        sizes = None if n_items is None else np.full(len(listed), n_items)
        ties = cut_off(ties, last_ties_of_run(ranked), ties.n_relevant, sizes, names[listed])
    yield listed, ties
    if len(absent):
        yield absent, nothing_retrieved(np.bincount(scores.missing_query, minlength=len(names))[absent])


def nothing_retrieved(n_relevant: IntArray) -> Ties:
    """Rankings of a single document that is not relevant: every measure of them is 0."""
    none = np.zeros(0, dtype=np.int64)
    return Ties(none, none, none, none, none, n_relevant=n_relevant, n_items=np.ones_like(n_relevant))


def ties_of_run(scores: RelevantScores) -> Ties:
    """The ties that hold a relevant document."""
    count = len(scores.start) - 1
    starts_tie = np.ones(len(scores.query), dtype=np.bool_)
    starts_tie[1:] = (scores.query[1:] != scores.query[:-1]) | (scores.at[1:] != scores.at[:-1])
    first = np.flatnonzero(starts_tie)
    query = scores.query[first]
    k, l = np.empty((2, len(first)), dtype=np.int64)  # noqa: E741
    pointer = pointers(query, count)
    room = CountRoom.of(int(np.diff(pointer).max(initial=0)))
    count_scores(scores.score, scores.start, scores.at[first], pointer, room, k, l)
    listed = np.bincount(scores.query, minlength=count)
    graded = (scores.grade != 1).any() or (scores.missing_grade != 1).any()
    return Ties(
        query=query,
        k=k,
        n=first - pointers(scores.query, count)[query],
        l=l,
        m=np.diff(first, append=len(scores.query)),
        n_relevant=listed + np.bincount(scores.missing_query, minlength=count),
        n_items=np.diff(scores.start),
        grades=scores.grade if graded else None,
        missing_grades=scores.missing_grade if graded else None,
    )


@native
def count_scores(
    score: Array,
    start: IntArray,
    threshold: Array,
    first: IntArray,
    room: Output[CountRoom],
    above: Output[IntArray],
    equal: Output[IntArray],
) -> None:
    """Count the items of each list above and at its distinct thresholds, which fall.

    The list of query q is start[q] … start[q+1]-1, its thresholds are first[q] … first[q+1]-1.
    """


def last_ties_of_run(scores: RelevantScores) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """(k, n, l, m) of the last tie of each list, none of which is empty.

    The engine's `last_ties` asks which places of a list are relevant; a run has been joined by scores, and only these
    are known.
    """
    smallest = np.minimum.reduceat(scores.score, scores.start[:-1])
    length = np.diff(scores.start)
    is_last = (scores.score == np.repeat(smallest, length)).astype(np.int64)
    l = np.add.reduceat(is_last, scores.start[:-1])  # noqa: E741
    listed = np.bincount(scores.query, minlength=len(length))
    m = np.bincount(scores.query[scores.at == smallest[scores.query]], minlength=len(length))
    return length - l, listed - m, l, m
