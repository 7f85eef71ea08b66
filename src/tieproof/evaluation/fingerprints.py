"""Fingerprints of the data of a result: digests that do not depend on the order of queries and items.

    embeddings:      each row of numbers, with its label and group; relevant and excluded pairs ─┐
    runs:            the scores of each query, and the documents that measures look for         ─┼─► sorted, SHA-256
    given rankings:  the ties of each query                                                     ─┘

An evaluation depends only on the row of each query and on the rows, labels and pairs that it ranks. So two data sets
with the same fingerprint differ at most in their order, unless two digests of 128 bits collide by chance. Rankings
that are given as scores or distances are digested by their ties and not number by number, because reading all numbers
again would take as long as the evaluation.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tieproof.engine.problem import Problem
from tieproof.evaluation.evaluated import Origin
from tieproof.inputs import identities
from tieproof.inputs.identities import Digests, Words, add_digests, rows_digests, words_of
from tieproof.inputs.relevance import Labels, MultiLabels, Relevance
from tieproof.measures.cut_off import CutOffTies
from tieproof.native.threads import close
from tieproof.ties import Array, FloatArray, IntArray, Parts, Ties

if TYPE_CHECKING:
    from tieproof.inputs.judged_runs import JudgedDocuments, RankedDocuments

PAIRS_AT_A_TIME = 2**18  # the number of pairs of a query and an item whose digests are in memory at a time
SHIFT = np.uint64(0xBE5466CF34E90C6D)  # an odd factor: the word of a label and a group differs from the words of both
EXCLUDED = np.uint64(0xC0AC29B7C97C50DD)  # the word for an excluded pair, in place of a grade


def origin_of_embeddings(
    problem: Problem, bits: int | None, digests: tuple[Words, Words | None] | None = None
) -> Origin:
    """The origin, without numbers of relevant items; `digests` are those of both sides if rows are not in memory."""
    relevance, threads = problem.relevance, problem.budget.threads
    relevant, of_items = label_words(relevance)
    if digests is None:
        own = rows_digests(problem.queries, relevant, threads)
        digests = own, None if problem.gallery is None else rows_digests(problem.gallery, of_items, threads)
    queries, gallery = digests
    items = queries if gallery is None else gallery
    if not isinstance(relevance, Labels | MultiLabels) or relevance.excluded.pairs is not None:
        places = np.zeros((relevance.n_items, 2), dtype=np.uint64)
        places[:, 0] = np.arange(relevance.n_items)
        relevant = relevant + _with_pairs(relevance, places, np.zeros((len(queries), 2), dtype=np.uint64))[:, 0]
        queries = _with_pairs(relevance, items, queries)
    sides = (queries,) if gallery is None else (queries, items)
    data = Digests("embeddings", sides, (problem.dimensions,)).kept()
    return Origin("evaluate", {"bits": bits and int(bits)}, data, relevant, queries)


def label_words(relevance: Relevance) -> tuple[Words, Words]:
    """Return a word for each query and for each item, made from its label and its group."""
    sides: tuple[Array, Array] | None = None
    if isinstance(relevance, Labels | MultiLabels):
        sides = relevance.query_labels, relevance.item_labels
    words: list[Words] = []
    for arrays in (sides, relevance.excluded.groups):
        if arrays is not None:
            own = words_of(arrays[0])
            both = own, own if arrays[1] is arrays[0] else words_of(arrays[1])
            words = [word * SHIFT + more for word, more in zip(words, both, strict=True)] if words else [*both]
    words = words or [np.zeros(count, dtype=np.uint64) for count in (relevance.n_queries, relevance.n_items)]
    return words[0], words[1]


def _with_pairs(relevance: Relevance, items: Words, queries: Words) -> Words:
    """Return the digests of queries, with those of their relevant and excluded items added pair by pair."""
    queries = queries.copy()
    if not isinstance(relevance, Labels | MultiLabels):
        query, item, grade = relevance.pairs(np.arange(relevance.n_queries))
        grade = np.ones(len(item)) if grade is None else grade
        counts = grade != 0
        what = np.where(grade > 0, grade.view(np.uint64), EXCLUDED)
        _add_pairs(query[counts], item[counts], what[counts], items, queries)
    if relevance.excluded.pairs is not None:
        query, item = np.divmod(relevance.excluded.pairs, relevance.n_items)
        _add_pairs(query, item, np.full(len(query), EXCLUDED), items, queries)
    return queries


def _add_pairs(query: IntArray, item: IntArray, what: Words, items: Words, queries: Words) -> None:
    for start in range(0, len(query), PAIRS_AT_A_TIME):
        span = slice(start, start + PAIRS_AT_A_TIME)
        add_digests(query[span], np.column_stack([items[item[span]], what[span]]), queries)


def with_counts(words: Words, counts: IntArray) -> Words:
    """Return a word for each query, made from another word and a number."""
    return np.asarray(words * SHIFT + counts.view(np.uint64))


def origin_of_run(
    judged: "JudgedDocuments", ranked: "RankedDocuments", names: Array, number: IntArray, options: Mapping[str, Any]
) -> Origin:
    """Return the origin of a run; `number` is the position of each named query among the evaluated ones, or -1."""
    count = len(names)
    own = words_of(names)
    has_judgment = np.bincount(judged.documents.query, minlength=count) > 0
    queries, relevant = np.zeros((2, count, 2), dtype=np.uint64)
    add_digests(np.arange(count), np.column_stack([own, has_judgment.astype(np.uint64)]), queries)
    identities.digest_scores(ranked.query, ranked.length, ranked.score, queries)
    ids = np.empty(len(judged.grade), dtype=np.uint64)
    identities.digest_ids(judged.documents, ids)
    of_query, documents = judged.documents.query, np.column_stack([ids, _as_words(judged.grade)])
    counts, sought = judged.grade > 0, judged.sought
    add_digests(of_query[counts], documents[counts], relevant)
    documents_in_run = np.column_stack([documents, _as_words(ranked.of_judged)])
    add_digests(of_query[sought], documents_in_run[sought], queries)
    evaluated = np.flatnonzero(number >= 0)
    places = evaluated[np.argsort(number[evaluated])]
    return Origin("evaluate_run", options, Digests("run", (queries,)).kept(), relevant[places, 0], queries[places])


def _as_words(numbers: FloatArray) -> Words:
    """Return the bits of numbers; both zeros have the same bits, and so have all NaN."""
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0).view(np.uint64)


class RankingDigests:
    """The digests of given rankings, made part by part from the ties of each query and their grades."""

    def __init__(self, count: int) -> None:
        self.queries = np.zeros((count, 2), dtype=np.uint64)
        self.relevant = np.zeros((count, 2), dtype=np.uint64)

    def noted(self, parts: Parts) -> Parts:
        """Yield the parts unchanged, and add the digests of each."""
        try:
            for queries, ties in parts:
                self.add(queries, ties)
                yield queries, ties
        finally:
            close(parts)

    def add(self, queries: IntArray, ties: Ties) -> None:
        """Add the rankings of these queries."""
        columns = [ties.n_relevant, ties.n_items]
        if isinstance(ties, CutOffTies):
            end = ties.end
            columns += [end.k, end.n, end.l, end.m, end.others.view(np.int64)]
        add_digests(queries, _stacked(*columns), self.queries)
        identities.digest_ties(queries, ties.query, ties.k, ties.n, ties.l, ties.m, self.queries)
        if ties.grades is not None:
            of_grade = np.repeat(np.arange(len(ties.k)), ties.m)
            at, grades = queries[ties.query[of_grade]], ties.grades.view(np.int64)
            add_digests(at, _stacked(ties.k[of_grade], grades), self.queries)
            if not isinstance(ties, CutOffTies) or ties.missing_grades is not None:
                add_digests(at, _stacked(grades), self.relevant)
        if ties.grades is not None and ties.missing_grades is not None:
            of_missing = np.repeat(np.arange(ties.n_queries), ties.missing)
            missing = _stacked(ties.missing_grades.view(np.int64))
            add_digests(queries[of_missing], missing, self.queries)
            add_digests(queries[of_missing], missing, self.relevant)

    def origin(self, call: str, options: Mapping[str, Any] | None = None) -> Origin:
        """Return the origin of an evaluation of given rankings, without the numbers of relevant items."""
        data = Digests("rankings", (self.queries,)).kept()
        return Origin(call, options or {}, data, self.relevant[:, 0], self.queries)


def _stacked(*columns: IntArray) -> Words:
    return np.column_stack(columns).view(np.uint64)
