"""How many ties there are, and how many of them matter: per query, and in all."""

from dataclasses import dataclass

import numpy as np

from tieproof.ties import IntArray, Ties


@dataclass(frozen=True)
class TieSummary:
    """The ties among the evaluated queries' rankings that hold a relevant item.

    queries : evaluated queries
    ties : ties of at least two items, one of them relevant
    ambiguous_ties : ties that hold both relevant and other items, the only kind that changes a score
    queries_with_ambiguous_ties : queries that have one
    largest_tie : items in the largest of all these ties; 0 where there is none
    zero_vectors : rows that are all zero, in queries and gallery together
    queries_with_open_last_tie : queries whose list was cut off, so that its last tie may go on beyond the end,
        and that have a relevant item in this tie or missing: their bounds cover every way of going on
    """

    queries: int
    ties: int
    ambiguous_ties: int
    queries_with_ambiguous_ties: int
    largest_tie: int
    zero_vectors: int
    queries_with_open_last_tie: int = 0


def count_by_query(ties: Ties) -> IntArray:
    """Ties, ambiguous ties, items in the largest tie, and whether the last one may go on: (4, Q)."""
    counts = np.zeros((4, ties.n_queries), dtype=np.int64)
    several = ties.several
    if several.size:
        query, items = ties.query[several], ties.l[several]
        counts[0] = np.bincount(query, minlength=ties.n_queries)
        counts[1] = np.bincount(query[ties.m[several] < items], minlength=ties.n_queries)
        first = np.flatnonzero(np.diff(query, prepend=-1))
        counts[2, query[first]] = np.maximum.reduceat(items, first)
    counts[3] = ties.open_ends
    return counts


def summarize(counts: IntArray, zero_vectors: int) -> TieSummary:
    """The summary of the queries with these counts (4, Q).

    >>> summarize(np.array([[1, 2], [0, 1], [3, 5], [0, 0]]), zero_vectors=0).queries_with_ambiguous_ties
    1
    """
    ties, ambiguous, largest, open_ends = counts
    return TieSummary(
        queries=counts.shape[1],
        ties=int(ties.sum()),
        ambiguous_ties=int(ambiguous.sum()),
        queries_with_ambiguous_ties=int((ambiguous > 0).sum()),
        largest_tie=int(largest.max(initial=0)),
        zero_vectors=zero_vectors,
        queries_with_open_last_tie=int(open_ends.sum()),
    )
