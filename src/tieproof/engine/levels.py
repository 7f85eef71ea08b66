"""Hamming distances of labeled items: there are so few values that items are counted at each, without ranking."""

from collections.abc import Iterator

import numpy as np

from tieproof.engine.structures import Places
from tieproof.inputs.relevance import Labels
from tieproof.native.calls import Output, native
from tieproof.native.threads import in_order
from tieproof.problem import Problem, Watch
from tieproof.ties import IntArray, Ties, WordArray

MOST_BITS = 2**12
"""The largest number of bits whose distances are counted level by level."""

QUERIES = 2**18
"""The largest number of queries times bits counted together; measures are faster with many queries."""

PAIRS = 2**28
"""The largest number of words compared together: a fraction of a second, until an interruption is noticed."""

BLOCK = 2**12
"""How many items stay in the cache while all queries are compared with them."""


def few_levels(problem: Problem) -> bool:
    """Whether the codes have few enough bits, and only the query itself is excluded."""
    relevance = problem.relevance
    return isinstance(relevance, Labels) and relevance.plain and 32 * problem.queries.shape[1] <= MOST_BITS


def ties_by_level(problem: Problem, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Indices of queries and their ties, for codes in the form of `packed_halves`."""
    labels = problem.relevance
    assert isinstance(labels, Labels)
    own = np.ascontiguousarray(problem.queries).view(np.uint64)
    given = own if problem.gallery is None else np.ascontiguousarray(problem.gallery).view(np.uint64)
    items, threads = given[labels.members], problem.budget.threads

    def count(part: IntArray) -> tuple[IntArray, Ties]:
        known = labels.query_class[part]
        start = labels.start[known]
        counts = _counts_of(own[part], items, start, start + labels.size[known])
        if labels.leave_one_out:
            counts[0, :, 0] -= 1
        advance(len(part) * len(items))
        ties = np.empty((5, np.count_nonzero(counts[0])), dtype=np.int64)
        ties_of_levels(counts.reshape(-1, counts.shape[2]), ties)
        query, k, n, l, m = ties
        n_items = np.full(len(part), labels.n_items - labels.leave_one_out)
        return part, Ties(query, k, n, l, m, n_relevant=counts[0].sum(axis=1), n_items=n_items)

    order = labels.order()[0]
    size = max(
        1, min(QUERIES // (64 * own.shape[1]), PAIRS // (len(items) * own.shape[1]), len(order) // (4 * threads))
    )
    parts = (order[start : start + size] for start in range(0, len(order), size))
    with watch(problem.pairs) as advance:
        yield from in_order(count, parts, threads)


def _counts_of(queries: WordArray, items: WordArray, start: IntArray, stop: IntArray) -> IntArray:
    """The numbers of items at each distance from each query, (2, queries, levels): start … stop-1, and others."""
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
    """Compute `_counts_of`, with a row for each query, and then a second row for each.

    `position` has room for a block of items, `lanes` contains zeros.
    """


@native
def ties_of_levels(counts: IntArray, ties: Output[IntArray]) -> None:
    """Write the ties with a relevant item to the rows query, k, n, l, m of `ties`; `counts` as in `count_levels`."""
