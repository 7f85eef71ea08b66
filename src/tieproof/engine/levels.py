"""Hamming distances of labelled items: so few values that each gets a count, and nothing has to be ranked."""

from collections.abc import Iterator

import numpy as np

from tieproof.distances.hamming import Words, ones
from tieproof.engine.structures import Places
from tieproof.inputs.relevance import Labels
from tieproof.native.compiled import kernel, part
from tieproof.native.threads import in_order
from tieproof.problem import Problem, Watch
from tieproof.ties import IntArray, Ties

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
        ties_of_levels(found, ties)
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


def counts_of(queries: Words, items: Words, start: IntArray, stop: IntArray) -> IntArray:
    """Items at each distance from each query, shape (2, queries, levels): those start … stop-1, and the others."""
    count, words = queries.shape
    counts = np.zeros((2, count, 64 * words + 1), dtype=np.int64)
    lanes = np.zeros((4, 64 * words + 1), dtype=np.int64)
    count_levels(queries, items, start, stop, np.empty(BLOCK, dtype=np.uint32), lanes, counts)
    return counts


@kernel
def count_levels(
    queries: Words,
    items: Words,
    start: IntArray,
    stop: IntArray,
    position: Places,
    lanes: IntArray,
    counts: IntArray,
) -> None:
    """Add up `counts_of`; `position` is room for a block of items, `lanes` are zeros."""
    count = queries.shape[0]
    for first in range(0, items.shape[0], BLOCK):
        last = first + BLOCK if first + BLOCK < items.shape[0] else items.shape[0]
        for q in range(count):
            middle, end = within(start[q], first, last), within(stop[q], first, last)
            if end > middle:
                add_levels(queries[q], items[middle:end], position, lanes, counts[0, q])
            if middle > first:
                add_levels(queries[q], items[first:middle], position, lanes, counts[1, q])
            if last > end:
                add_levels(queries[q], items[end:last], position, lanes, counts[1, q])


@part
def within(place: int, first: int, last: int) -> int:
    """The place, or the nearer end of the block where it is outside."""
    return first if place < first else last if place > last else place


@part
def add_levels(query: Words, items: Words, position: Places, lanes: IntArray, counts: IntArray) -> None:
    """Add the items at each distance; four counts side by side, since neighbours are often equally far."""
    length, words = items.shape
    if words == 1:
        word = query[0]
        for i in range(length):
            position[i] = np.uint32(ones(word ^ items[i, 0]))
    else:
        for i in range(length):
            differing = np.uint64(0)
            for w in range(words):
                differing += ones(query[w] ^ items[i, w])
            position[i] = np.uint32(differing)
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    whole = length // 4 * 4
    for i in range(0, whole, 4):
        a[position[i]] += 1
        b[position[i + 1]] += 1
        c[position[i + 2]] += 1
        d[position[i + 3]] += 1
    for i in range(whole, length):
        a[position[i]] += 1
    for level in range(counts.shape[0]):
        counts[level] += a[level] + b[level] + c[level] + d[level]
    lanes[:] = 0


@kernel
def ties_of_levels(counts: IntArray, ties: IntArray) -> None:
    """Write query, k, n, l, m, the rows of `ties`, of those that hold a relevant item."""
    query, k, n, l, m = ties[0], ties[1], ties[2], ties[3], ties[4]
    tie = 0
    for q in range(counts.shape[1]):
        nearer = relevant = 0
        for level in range(counts.shape[2]):
            here = counts[0, q, level]
            if here > 0:
                query[tie], k[tie], n[tie] = q, nearer, relevant
                l[tie], m[tie] = here + counts[1, q, level], here
                tie += 1
            nearer += here + counts[1, q, level]
            relevant += here
