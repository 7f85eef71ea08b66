"""Rows of two values: distances have so few levels that items are counted at each, without ranking."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tieproof.distances.codes import FASTEST_WAY, ByteArray, CharArray, arranged
from tieproof.distances.space import Space
from tieproof.engine.structures import Places
from tieproof.inputs.relevance import Labels
from tieproof.native.calls import Output, native
from tieproof.native.threads import in_order
from tieproof.problem import Problem, Watch
from tieproof.ties import IntArray, SmallIntArray, Ties

MOST_LEVELS = 2**12 + 1
"""The largest number of levels at which items are counted."""

QUERIES = 2**18
"""The largest number of queries times levels counted together; measures are faster with many queries."""

BYTES = 2**31
"""The largest number of bytes compared together: a fraction of a second, until an interruption is noticed."""

TOGETHER, LANES = 12, 4
"""How many queries are compared at a time, and how many counts of each level are kept side by side."""

FEWEST_DISTINCT = 0.25
"""The share of distinct pairs below which tiles of distinct rows are faster."""


class LevelCodes(NamedTuple):
    """The bits of all queries (q, w) and items (n, w), and what is added to the numbers of bits that differ.

    The smaller number of bits that differ plus offset (n,) an item has, the nearer it is; they are below `levels`.
    """

    queries: CharArray
    items: CharArray
    offset: IntArray
    levels: int


def packed_codes(problem: Problem) -> LevelCodes:
    """The codes of Hamming distance, which are the bits of the rows themselves."""
    own = problem.queries.view(np.int8)
    given = own if problem.gallery is None else problem.gallery.view(np.int8)
    return LevelCodes(own, given, np.zeros(len(given), dtype=np.int64), 8 * own.shape[1] + 1)


def codes_of(space: Space) -> LevelCodes | None:
    """The codes of a space, or None if its distances do not follow from bits, or many rows are equal."""
    offset, queries, items = space.level_offset(), space.queries, space.items
    all_pairs = len(queries.identity) * len(items.identity)
    if space.bits is None or offset is None or len(queries) * len(items) < FEWEST_DISTINCT * all_pairs:
        return None
    own, given = (side.of_rows(slice(0, len(side.rows)))[side.rows.identity] for side in space.bits)
    offset = (offset - offset.min()).astype(np.int64)
    return LevelCodes(own, given, offset[items.identity], items.dimensions + 1 + int(offset.max()))


def has_few_levels(problem: Problem, levels: int) -> bool:
    """Whether there are few levels, and only the query itself is excluded."""
    relevance = problem.relevance
    return isinstance(relevance, Labels) and relevance.plain and levels <= MOST_LEVELS


def ties_by_level(problem: Problem, codes: LevelCodes, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Indices of queries and their ties."""
    labels = problem.relevance
    assert isinstance(labels, Labels)
    blocks = arranged(codes.items[labels.members], 0)
    offset, threads = codes.offset[labels.members].astype(np.int32), problem.budget.threads

    def count(part: IntArray) -> tuple[IntArray, Ties]:
        known = labels.query_class[part]
        start = labels.start[known]
        counts = _counts_of(codes.queries[part], blocks, offset, start, start + labels.size[known], codes.levels)
        if labels.leave_one_out:
            counts[0, np.arange(len(part)), codes.offset[part]] -= 1
        advance(len(part) * len(offset))
        ties = np.empty((5, np.count_nonzero(counts[0])), dtype=np.int64)
        ties_of_levels(counts.reshape(-1, codes.levels), ties)
        query, k, n, l, m = ties
        n_items = np.full(len(part), labels.n_items - labels.leave_one_out)
        return part, Ties(query, k, n, l, m, n_relevant=counts[0].sum(axis=1), n_items=n_items)

    order = labels.order()[0]
    size = min(QUERIES // codes.levels, BYTES // max(1, codes.items.size), len(order) // (4 * threads))
    size = max(size // TOGETHER * TOGETHER, 1)
    parts = (order[start : start + size] for start in range(0, len(order), size))
    with watch(problem.pairs) as advance:
        yield from in_order(count, parts, threads)


def _counts_of(
    queries: CharArray, blocks: ByteArray, offset: SmallIntArray, start: IntArray, stop: IntArray, levels: int
) -> IntArray:
    """The numbers of items at each level of each query, (2, queries, levels): start … stop-1, and others."""
    counts = np.zeros((2, len(queries), levels), dtype=np.int64)
    lanes = np.zeros(2 * TOGETHER * LANES * levels, dtype=np.uint32)
    count_levels(queries, blocks, offset, start, stop, FASTEST_WAY, lanes, counts.reshape(-1, levels))
    return counts


@native
def count_levels(
    queries: CharArray,
    blocks: ByteArray,
    offset: SmallIntArray,
    start: IntArray,
    stop: IntArray,
    way: int,
    lanes: Output[Places],
    counts: Output[IntArray],
) -> None:
    """Compute `_counts_of`, with a row for each query, and then a second row for each; `lanes` contains zeros.

    way : the fastest way to compare bits that may be used
    """


@native
def ties_of_levels(counts: IntArray, ties: Output[IntArray]) -> None:
    """Write the ties with a relevant item to the rows query, k, n, l, m of `ties`; `counts` as in `count_levels`."""
