"""Rows of two values: distances have so few levels that items are counted at each, without ranking."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.bits import FASTEST_WAY
from tieproof.distances.codes import ByteArray, CharArray, arranged
from tieproof.distances.space import Space
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Problem, Watch
from tieproof.engine.structures import Places
from tieproof.inputs.relevance import Labels
from tieproof.native.calls import Output, native
from tieproof.native.threads import cut, in_order
from tieproof.ties import FloatArray, IntArray, SmallIntArray, Ties

MOST_LEVELS, MOST_IN_TABLE = 2**12 + 1, 2**16  # the most levels at which items are counted: by bits, and by a table
PARTS = 4  # the number of parts for each thread, if there is memory for them; measures are faster with many queries
BYTES = 2**31  # the most bytes compared together: a fraction of a second, until an interruption is noticed
TOGETHER, LANES = 12, 4  # how many queries are compared at a time, and counts of each level kept side by side
FEWEST_DISTINCT = 0.25  # the share of distinct pairs below which tiles of distinct rows are faster


class Levels(NamedTuple):
    """The level of an item: the smaller, the nearer.

    It is the number of bits that differ plus offset (n,) of the item or, if there is a table, the entry of the table
    at half of this sum less square (q,) of the query. Levels are below `number`.
    """

    offset: SmallIntArray
    square: SmallIntArray
    table: npt.NDArray[np.uint16]
    number: int

    @property
    def room(self) -> int:
        """The number of counts of a query, and of words with a bit for each level."""
        return ((1 if len(self.table) else LANES) + 1) * self.number + self.number // 32 + 1

    def of_equal(self, queries: IntArray) -> IntArray:
        """The levels of the queries themselves among the items."""
        offset = self.offset[queries]
        level = self.table[(offset - self.square[queries]) // 2] if len(self.table) else offset
        return level.astype(np.int64)


class LevelCodes(NamedTuple):
    """The bits of all queries (q, w) and items (n, w), and the level of each item."""

    queries: CharArray
    items: CharArray
    levels: Levels


class RelevantMembers(NamedTuple):
    """The relevant items start … stop-1 of each query; in leave-one-out, one of them is the query, at level `own`."""

    start: IntArray
    stop: IntArray
    own: IntArray


def packed_codes(problem: Problem) -> LevelCodes | None:
    """The codes of Hamming distance, which are the bits of the rows themselves, or None if there are many levels."""
    own = problem.queries.view(np.int8)
    given = own if problem.gallery is None else problem.gallery.view(np.int8)
    levels = _by_bits(np.zeros(len(given)), len(own), 8 * own.shape[1])
    return None if levels is None else LevelCodes(own, given, levels)


def codes_of(space: Space) -> LevelCodes | None:
    """The codes of a space; None if distances do not follow from bits, many rows are equal, or memory is small."""
    queries, items = space.queries, space.items
    all_pairs = len(queries.identity) * len(items.identity)
    if space.bits is None or len(queries) * len(items) < FEWEST_DISTINCT * all_pairs:
        return None
    levels, offset = None, space.level_offset()
    if offset is not None:
        levels = _by_bits(offset[items.identity], len(queries.identity), items.dimensions)
    elif space.form.ratio and space.all_errors.certain:
        levels = _by_ratios(queries.square[queries.identity], items.square[items.identity], items.dimensions)
    if levels is None or space.resources.threads * 4 * TOGETHER * levels.room > space.resources.keep_bytes:
        return None
    for side in space.bits:
        side.keep(in_blocks=False)
    own, given = (side.of_rows(slice(0, len(side.rows)))[side.rows.identity] for side in space.bits)
    return LevelCodes(own, given, levels)


def _by_bits(offset: FloatArray, queries: int, most: int) -> Levels | None:
    """The levels of at most `most` bits that differ plus an offset, or None if there are many."""
    number = most + 1 + int(offset.max() - offset.min())
    if number > MOST_LEVELS:
        return None
    more = (offset - offset.min()).astype(np.int32)
    return Levels(more, np.zeros(queries, np.int32), np.empty(0, np.uint16), number)


def _by_ratios(of_queries: FloatArray, of_items: FloatArray, dimensions: int) -> Levels | None:
    """The levels of s^2 / |y|^2 with 2 s = |x|^2 + |y|^2 - bits that differ, from squared norms, or None if many."""
    # The table has a row for each |y|^2, with all s from the largest on. Quotients of distinct values are distinct.
    square, row = np.unique(of_items, return_inverse=True)
    high = np.minimum(square, of_queries.max()).astype(np.int64)
    low = np.maximum(square + of_queries.min() - dimensions, 0).astype(np.int64)
    size = high - low + 1
    ends = np.cumsum(size)
    if ends[-1] > MOST_IN_TABLE:
        return None
    shift = ends - size + high
    s = np.repeat(shift, size) - np.arange(ends[-1])
    values, level = np.unique(-s * s / np.repeat(np.maximum(square, 1), size), return_inverse=True)
    offset = (2 * shift - square)[row]
    return Levels(offset.astype(np.int32), of_queries.astype(np.int32), level.astype(np.uint16), len(values))


def counts_by_level(problem: Problem) -> bool:
    """Whether only the query itself is excluded."""
    return isinstance(problem.relevance, Labels) and problem.relevance.plain


def ties_by_level(problem: Problem, codes: LevelCodes, watch: Watch) -> Iterator[tuple[IntArray, Ties]]:
    """Indices of queries and their ties."""
    labels, levels, threads = problem.relevance, codes.levels, problem.budget.threads
    assert isinstance(labels, Labels)
    blocks, offset = arranged(codes.items[labels.members], 0), levels.offset[labels.members]

    def count(span: slice) -> tuple[IntArray, Ties]:
        part = order[span]
        known = labels.query_class[part]
        start, size = labels.start[known], labels.size[known]
        of_part = Levels(offset, levels.square[part], levels.table, levels.number)
        own = levels.of_equal(part) if labels.leave_one_out else np.empty(0, dtype=np.int64)
        ties = np.empty((5, np.minimum(size, levels.number).sum()), dtype=np.int64)
        room = np.zeros(TOGETHER * levels.room, dtype=np.uint32)
        members = RelevantMembers(start, start + size, own)
        tied = count_levels(codes.queries[part], blocks, of_part, members, FASTEST_WAY, room, ties)
        advance(len(part) * len(offset))
        query, k, n, l, m = ties[:, :tied]
        n_items = np.full(len(part), labels.n_items - labels.leave_one_out)
        return part, Ties(query, k, n, l, m, n_relevant=size - labels.leave_one_out, n_items=n_items)

    order, relevant = labels.order()[0], labels.at_most()
    size = min(Plan(problem.budget).part_size, int((relevant + 1).sum()) // (PARTS * threads))
    fewest = size * codes.items.size // BYTES
    with watch(problem.pairs) as advance:
        yield from in_order(count, cut(np.maximum(relevant[order], fewest), size), threads)


@native
def count_levels(
    queries: CharArray,
    blocks: ByteArray,
    levels: Levels,
    members: RelevantMembers,
    way: int,  # the fastest way to compare bits that may be used
    room: Output[Places],  # working memory for `TOGETHER` queries, which contains zeros
    ties: Output[IntArray],
) -> int:
    """Write the ties with a relevant item to the rows query, k, n, l, m of `ties`, and return their number."""
