"""Converts judgments and a run to ties: the scores of relevant documents, and how many documents score so much."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.inputs.judged_runs import JudgedDocuments, RankedDocuments
from tieproof.inputs.lists import CountRoom
from tieproof.inputs.relevance import pointers
from tieproof.measures.unseen import cut_off
from tieproof.native.calls import Output, native
from tieproof.ties import Array, BoolArray, ExtremeRankings, FloatArray, IntArray, JudgedTies, Parts, Ties


class RelevantScores(NamedTuple):
    """The scores of the lists of all evaluated queries, and of the relevant documents."""

    start: IntArray  # start, score: (Q + 1,) and (n,); the list of query q is score[start[q]:start[q+1]]
    score: FloatArray
    # query, at, grade: the query, score and grade of each relevant document in a list, sorted by query, then by
    # descending score, then by descending grade.
    query: IntArray
    at: FloatArray
    grade: FloatArray
    # missing_query, missing_grade: the query and grade of each relevant document in no list, sorted by query,
    # then by descending grade.
    missing_query: IntArray
    missing_grade: FloatArray
    # (Q,) twice: the length and the smallest score of each list before documents were left out of it; None if
    # none was.
    given: tuple[IntArray, FloatArray] | None = None


def join(judged: JudgedDocuments, ranked: RankedDocuments, number: IntArray, n_queries: int) -> RelevantScores:
    """Join judged and ranked documents; number[query] is the position of an evaluated query, or -1."""
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
    order = np.lexsort((-grade, -at, of_relevant))  # NaN marks documents in no list, and sorts behind all scores
    of_relevant, at, grade = of_relevant[order], at[order], grade[order]
    listed = ~np.isnan(at)
    given = None
    if ranked.given is not None:
        evaluated = np.flatnonzero(number >= 0)
        rows = evaluated[np.argsort(number[evaluated])]
        given = ranked.given[0][rows], ranked.given[1][rows]
    return RelevantScores(
        start[pointers(place, n_queries)],
        score,
        of_relevant[listed],
        at[listed],
        grade[listed],
        of_relevant[~listed],
        grade[~listed],
        given,
    )


def at_least(relevant: RelevantScores, grade: float) -> RelevantScores:
    """Return the scores if only documents of at least this grade are relevant, all with the grade 1."""
    listed, missing = relevant.grade >= grade, relevant.missing_grade >= grade
    return relevant._replace(
        query=relevant.query[listed],
        at=relevant.at[listed],
        grade=np.ones(int(listed.sum())),
        missing_query=relevant.missing_query[missing],
        missing_grade=np.ones(int(missing.sum())),
    )


def join_judged(
    judged: JudgedDocuments, ranked: RankedDocuments, number: IntArray, relevant: RelevantScores
) -> tuple[RelevantScores, IntArray]:
    """Leave documents without a judgment out of lists; also count those judged not relevant, listed or not, (Q,)."""
    # `judged` must contain all judged documents.
    place, n_queries = number[judged.documents.query], len(relevant.start) - 1
    listed = np.flatnonzero((place >= 0) & ~np.isnan(ranked.of_judged))
    listed = listed[np.argsort(place[listed], kind="stable")]
    not_relevant = place[(place >= 0) & (judged.grade == 0)]
    alone = relevant._replace(start=pointers(place[listed], n_queries), score=ranked.of_judged[listed])
    return alone, np.bincount(not_relevant, minlength=n_queries)


def run_parts(
    scores: RelevantScores,
    names: npt.NDArray[np.str_],
    truncated: int,  # True or False for all lists, or the number of documents from which on a list was cut off
    n_items: int | None,
    judged: tuple[RelevantScores, IntArray] | None = None,  # for measures of only the judged, or unjudged, documents
    radius: float | None = None,  # the largest error of each score; None: there is no noise
    with_unjudged: bool = False,
) -> Parts:
    """Yield the ties of all queries: of those with documents in the run, then of the others."""
    length = np.diff(scores.start)
    complete = (length > 0) & (length < (truncated or np.inf))
    if scores.given is not None:
        complete = (length > 0) & ((scores.given[0] < (truncated or np.inf)) | _end_before(scores, scores.given[1]))

    def ties_of(which: BoolArray) -> Ties:
        listed, ranked = np.flatnonzero(which), _only_of(which, scores)
        smallest = np.minimum.reduceat(ranked.score, ranked.start[:-1])

        def ties_among(some: RelevantScores, sizes: IntArray | None) -> Ties:
            ties = _ties_of_run(some)
            if radius is not None:
                ties = replace(ties, noise=_extremes_of_run(some, ties, radius))
            if complete[listed[0]]:
                return ties
            return cut_off(ties, _last_ties_of_run(some, smallest), ties.n_relevant, sizes, names[listed])

        ties = ties_among(ranked, None if n_items is None else np.full(len(listed), n_items))
        if judged is None:
            return ties
        of_judged, n_others = _only_of(which, judged[0]), judged[1][listed]
        alone = JudgedTies(ties_among(of_judged, ties.n_relevant + n_others), n_others)
        noise = ties.noise
        if noise is not None and alone.ties.noise is not None:
            both = zip(noise, alone.ties.noise, strict=True)
            noise = ExtremeRankings(*(replace(one, judged=JudgedTies(own, n_others)) for one, own in both))
        unjudged = _ties_of_unjudged(ranked, of_judged) if with_unjudged else None
        return replace(ties, judged=alone, noise=noise, unjudged=unjudged)

    for which in (complete, (length > 0) & ~complete):
        if which.any():
            yield np.flatnonzero(which), ties_of(which)
    absent = np.flatnonzero(length == 0)
    if len(absent):
        # Empty rankings: all their measures are 0.
        n_relevant, none = np.bincount(scores.missing_query, minlength=len(names))[absent], np.zeros(0, np.int64)
        nothing = Ties(none, none, none, none, none, n_relevant=n_relevant, n_items=np.zeros_like(absent))
        yield absent, nothing if radius is None else replace(nothing, noise=ExtremeRankings(nothing, nothing))


def _end_before(scores: RelevantScores, smallest: FloatArray) -> BoolArray:
    """Whether what was left out of a list scores less than all that is left, so that its last tie is whole."""
    filled = np.flatnonzero(np.diff(scores.start))
    ends = np.zeros(len(smallest), dtype=np.bool_)
    ends[filled] = np.minimum.reduceat(scores.score, scores.start[filled]) > smallest[filled]
    return ends


def _only_of(which: BoolArray, scores: RelevantScores) -> RelevantScores:
    position, length = np.cumsum(which) - 1, np.diff(scores.start)
    kept = np.repeat(which, length)
    relevant, known = which[scores.query], which[scores.missing_query]
    return RelevantScores(
        start=np.append(0, np.cumsum(length[which])),
        score=scores.score if kept.all() else scores.score[kept],
        query=position[scores.query[relevant]],
        at=scores.at[relevant],
        grade=scores.grade[relevant],
        missing_query=position[scores.missing_query[known]],
        missing_grade=scores.missing_grade[known],
    )


def _ties_of_run(scores: RelevantScores) -> Ties:
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


def _ties_of_unjudged(ranked: RelevantScores, judged: RelevantScores) -> Ties:
    """Return the ties that contain an unjudged document, which take the place of relevant ones."""
    count, length = len(ranked.start) - 1, np.diff(ranked.start)
    query = np.concatenate([np.repeat(np.arange(count), each) for each in (length, np.diff(judged.start))])
    score = np.concatenate([ranked.score, judged.score])
    order = np.lexsort((-score, query))
    is_judged, query, score = order >= len(ranked.score), query[order], score[order]
    first = np.flatnonzero((np.diff(query, prepend=-1) != 0) | (np.diff(score, prepend=np.nan) != 0))
    query, judged_items = query[first], np.add.reduceat(is_judged, first, dtype=np.int64)
    l = np.diff(first, append=len(order)) - judged_items  # noqa: E741
    m = l - judged_items
    k, n = (np.cumsum(size) - size for size in (l, m))
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    k, n, rows = k - k[starts][query], n - n[starts][query], np.flatnonzero(m)
    total = np.bincount(query, m, count).astype(np.int64)
    return Ties(query[rows], k[rows], n[rows], l[rows], m[rows], n_relevant=total, n_items=length)


def _extremes_of_run(scores: RelevantScores, ties: Ties, radius: float) -> ExtremeRankings:
    from tieproof.engine import moved, ranking_of

    pointer = pointers(scores.query, ties.n_queries)
    room = CountRoom.of(int(np.diff(pointer).max(initial=0)))

    def others(shift: float, with_equal: bool) -> IntArray:
        """Return how many documents that are not relevant score more than each relevant one after its shift."""
        threshold = moved(scores.at, np.full(len(scores.at), shift))
        counts = np.empty((4, len(threshold)), dtype=np.int64)
        count_scores(scores.score, scores.start, threshold, pointer, room, counts[0], counts[1])
        count_scores(scores.at, pointer, threshold, pointer, room, counts[2], counts[3])
        above, equal, relevant_above, relevant_equal = counts
        return above - relevant_above + (equal - relevant_equal if with_equal else 0)

    worst, best = others(-2 * radius, with_equal=True), others(2 * radius, with_equal=False)
    return ExtremeRankings(*(ranking_of(scores.query, each, ties.n_relevant, ties.n_items) for each in (worst, best)))


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
    """Count the items of each list above and at its distinct, descending thresholds."""
    # The list of query q is score[start[q]:start[q+1]], and its thresholds are threshold[first[q]:first[q+1]].


def _last_ties_of_run(scores: RelevantScores, smallest: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return (k, n, l, m) of the last tie of each list as `engine.last_ties`, here from scores alone, (Q,) each."""
    length = np.diff(scores.start)
    last = np.flatnonzero(scores.score == np.repeat(smallest, length))
    l = np.bincount(np.searchsorted(scores.start, last, side="right") - 1, minlength=len(length))  # noqa: E741
    listed = np.bincount(scores.query, minlength=len(length))
    m = np.bincount(scores.query[scores.at == smallest[scores.query]], minlength=len(length))
    return length - l, listed - m, l, m
