"""What a result keeps of the rankings that it was computed from: the ties that can change a score."""

from typing import NamedTuple

import numpy as np

from tieproof.ties import BoolArray, IntArray, JudgedTies, Ties


class KeptTies(NamedTuple):
    """The ambiguous ties of a part of the queries, from which distributions are computed."""

    queries: IntArray  # (A,) the places of the queries that have an ambiguous tie, among the evaluated queries
    ties: Ties  # the ties of these A queries: the ambiguous ones alone, or with grades or judged items all of them
    listed: IntArray  # (A,) the relevant items of these queries that are in any tie

    @property
    def bytes(self) -> int:
        """The memory that the arrays take."""
        judged = self.ties.judged
        ties = [self.ties] if judged is None else [self.ties, judged.ties]
        arrays = [array for each in ties for array in vars(each).values() if isinstance(array, np.ndarray)]
        return sum(array.nbytes for array in arrays) + self.queries.nbytes + self.listed.nbytes

    def among(self, places: IntArray, count: int) -> "KeptTies":
        """Return what is kept of the queries at `places` of `count` queries, which get the places 0, 1, …."""
        new = np.full(count, -1)
        new[places] = np.arange(len(places))
        rows = np.flatnonzero(new[self.queries] >= 0)
        return KeptTies(new[self.queries[rows]], _of_queries(self.ties, rows), self.listed[rows])


def keep(queries: IntArray, ties: Ties) -> KeptTies | None:
    """Return what to keep of a part of the queries, whose places are `queries`; None if no tie is ambiguous."""
    uneven, judged = np.flatnonzero(ambiguous(ties)), ties.judged
    if not len(uneven) and (judged is None or not ambiguous(judged.ties).any()):
        return None
    affected = np.zeros(ties.n_queries, dtype=np.bool_)
    query = ties.query[uneven]
    affected[query] = True
    if judged is not None:
        affected[judged.ties.query[ambiguous(judged.ties)]] = True
    rows = np.flatnonzero(affected)
    if ties.grades is None and judged is None:
        k, n, l, m = (column[uneven] for column in (ties.k, ties.n, ties.l, ties.m))
        alone = Ties((np.cumsum(affected) - 1)[query], k, n, l, m, ties.n_relevant[rows], ties.n_items[rows])
    else:
        alone = _of_queries(ties, rows)
    return KeptTies(queries[rows], alone, ties.listed[rows])


def ambiguous(ties: Ties) -> BoolArray:
    """Which ties contain relevant and other items, or relevant items of several grades, (T,)."""
    uneven = ties.m < ties.l
    if ties.grades is None or not len(ties.m):
        return uneven
    starts = np.cumsum(ties.m) - ties.m
    return np.asarray(uneven | (ties.grades[starts] > ties.grades[starts + ties.m - 1]))


def _of_queries(ties: Ties, rows: IntArray) -> Ties:
    counts = np.diff(ties.starts)[rows]
    at = _runs(ties.starts[rows], counts)
    k, n, l, m = (column[at] for column in (ties.k, ties.n, ties.l, ties.m))
    grades, missing_grades, judged = ties.grades, ties.missing_grades, ties.judged
    if grades is not None:
        grades = grades[_runs((np.cumsum(ties.m) - ties.m)[at], m)]
    if missing_grades is not None:
        missing = ties.missing
        missing_grades = missing_grades[_runs((np.cumsum(missing) - missing)[rows], missing[rows])]
    if judged is not None:
        judged = JudgedTies(_of_queries(judged.ties, rows), judged.n_others[rows])
    sizes = ties.n_relevant[rows], ties.n_items[rows]
    return Ties(np.repeat(np.arange(len(rows)), counts), k, n, l, m, *sizes, grades, missing_grades, judged=judged)


def _runs(starts: IntArray, counts: IntArray) -> IntArray:
    """Return the indices of runs of `counts` entries that begin at `starts`."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - starts, counts)
