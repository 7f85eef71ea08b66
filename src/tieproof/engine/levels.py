"""Hamming distances of labelled items: so few values that each gets a count, and nothing has to be ranked."""

from collections.abc import Iterator

import numpy as np

from tieproof.engine.structures import Places
from tieproof.inputs.relevance import Labels
from tieproof.native.calls import Output, native
from tieproof.native.threads import in_order
from tieproof.problem import Problem, Watch
from tieproof.ties import IntArray, Ties, WordArray

MOST_BITS = 2**12
"""Largest number of bits whose distances are counted level by level."""

QUERIES = 2**18
"""Most queries that are counted together, times the bits of their codes: measures like them many."""

PAIRS = 2**28
"""Most words of codes that are compared together: a fraction of a second, after which an interruption is heard."""

BLOCK = 2**12
"""Items that are gone through for one query after the other while they are in a cache."""


def few_levels(problem: Problem) -> bool:
    """Whether codes have so few bits, and nothing but the query itself is left out."""
    relevance = problem.relevance
    return isinstance(relevance, Labels) and relevance.plain and 32 * problem.queries.shape[1] <= MOST_BITS


def ties_by_level(problem: Problem, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Indices of queries and their ties, for codes as `packed_halves` gives them."""
    labels = problem.relevance
    assert isinstance(labels, Labels)
    own = np.ascontiguousarray(problem.queries).view(np.uint64)
    given = own if problem.gallery is None else np.ascontiguousarray(problem.gallery).view(np.uint64)
    items, threads = given[labels.members], problem.budget.threads

    def count(part: IntArray) -> tuple[IntArray, Ties]:
        known = labels.query_class[part]
        start = labels.start[known]
        found = counts_of(own[part], items, start, start + labels.size[known])
        if labels.leave_one_out:
            found[0, :, 0] -= 1
        advance(len(part) * len(items))
        ties = np.empty((5, np.count_nonzero(found[0])), dtype=np.int64)
        ties_of_levels(found.reshape(-1, found.shape[2]), ties)
        query, k, n, l, m = ties
        n_items = np.full(len(part), labels.n_items - labels.leave_one_out)
        return part, Ties(query, k, n, l, m, n_relevant=found[0].sum(axis=1), n_items=n_items)

    order = labels.order()[0]
    size = max(
        1, min(QUERIES // (64 * own.shape[1]), PAIRS // (len(items) * own.shape[1]), len(order) // (4 * threads))
    )
    parts = (order[start : start + size] for start in range(0, len(order), size))
    with watch(problem.pairs) as advance:
        yield from in_order(count, parts, threads)


def counts_of(queries: WordArray, items: WordArray, start: IntArray, stop: IntArray) -> IntArray:
    """Items at each distance from each query, shape (2, queries, levels): those start … stop-1, and the others."""
    count, words = queries.shape
    counts = np.zeros((2, count, 64 * words + 1), dtype=np.int64)
    rows = counts.reshape(-1, 64 * words + 1)
    lanes = np.zeros((4, 64 * words + 1), dtype=np.int64)
    count_levels(queries, items, start, stop, np.empty(BLOCK, dtype=np.uint32), lanes, rows)
    return counts


@native
def count_levels(
    queries: WordArray,
    items: WordArray,
    start: IntArray,
    stop: IntArray,
    position: Output[Places],
    lanes: Output[IntArray],
    counts: Output[IntArray],
) -> None:
    """Add up `counts_of`, a row for each query, and again one for each.

    `position` is room for a block of items, `lanes` are zeros.
    """


@native
def ties_of_levels(counts: IntArray, ties: Output[IntArray]) -> None:
    """Write query, k, n, l, m, the rows of `ties`, of those that hold a relevant item; `counts` is as above."""
