"""Sparse items that share no term with a query: a tie at nearness 0, of most items, that one of them stands for.

A product of sparse rows is -0.0 only for them. If few pairs of a tile share a term, only these are computed, and the
others are counted together. Otherwise the tile is written, and hides them.
"""

import numpy as np

from tieproof.distances.exact.terms import Postings, inverted
from tieproof.distances.space import Entries, Space
from tieproof.engine.pieces import NearPairs
from tieproof.engine.structures import Targets, Undecided
from tieproof.inputs.sparse_rows import Terms
from tieproof.native.calls import Output, native
from tieproof.ties import Array, BoolArray, FloatArray, IntArray, SmallIntArray


class Zeros:
    """How many items share no term with each query, and one of them."""

    def __init__(self, targets: Targets, weight: IntArray) -> None:
        self.targets, self.weight, self.before = targets, weight, np.append(0, np.cumsum(weight))
        self.count = np.zeros(len(targets.row), dtype=np.int64)
        self.item = np.full_like(self.count, -1)

    def take(self, queries: slice, first: int, items: slice, entries: Entries, turned: bool = False) -> None:
        """Count the zeros of a tile, whose first row is `first`, for some queries; the lock of these is held.

        turned : the rows of the tile are the items, and its columns those of the queries
        """
        row, start, stop, run = self.targets
        targets = Targets(row[queries] - first, start[queries], stop[queries], run)
        own = self.count[queries], self.item[queries]
        count_zeros(entries, turned, targets, items.start, self.weight[items], *own)

    def take_others(self, first: IntArray, items: slice, listed: NearPairs, apart: IntArray) -> None:
        """Count the items of a tile that are not listed for the queries of its rows, whose lock is held.

        first : the first query of each row
        apart : the first item of the tile that shares no term with each row
        """
        before = self.before[items.start : items.stop + 1] - self.before[items.start]
        count_unlisted(listed, self.targets, first, before, items.start, apart, self.count, self.item)

    def undecided(self, length: IntArray) -> Undecided:
        """One item for each query, with the weight of all, among its so many thresholds."""
        query = np.flatnonzero((self.count > 0) & (length > 0))
        return Undecided(query, self.item[query], self.count[query], np.zeros_like(query), length[query])


def compared_ones(space: Space, query: IntArray, value: FloatArray) -> tuple[BoolArray, IntArray]:
    """Which pairs of ascending queries have to be compared, and the number among these of the one for each pair.

    value : the entries of tiles; of the zeros of a query, the first one stands for all
    """
    zeros = np.flatnonzero((value == 0) & np.signbit(value) & space.zeros_tie)
    new = np.diff(query[zeros], prepend=-1) > 0
    compared = np.ones(len(query), dtype=np.bool_)
    compared[zeros[~new]] = False
    number = np.cumsum(compared) - 1
    number[zeros] = number[zeros[new]][np.cumsum(new) - 1]
    return compared, number


def list_sharing(space: Space, rows: slice, items: slice, room: NearPairs) -> tuple[int, IntArray, IntArray]:
    """List the pairs of some rows and items that share a term, and return their number; -1 if there is no room.

    Also returned are the first item that shares no term with each row, and the first such row of each item.
    """
    of_queries, of_items = space.prepared
    postings, terms = inverted(of_queries[rows], of_items[items], space.items.embeddings.shape[1])
    height, width = rows.stop - rows.start, items.stop - items.start
    apart = np.zeros(height, dtype=np.int64), np.empty(width, dtype=np.int64)
    sums, met = np.full(height, -0.0, dtype=space.tile_type), np.empty(height, dtype=np.int32)
    return list_products(postings, terms, sums, met, room, *apart), *apart


@native
def list_products(
    rows: Postings,
    items: Terms,
    sums: Array,  # sums, met: working memory for each row; sums are -0.0
    met: SmallIntArray,
    pairs: Output[NearPairs],
    of_rows: Output[IntArray],  # the first item that shares no term with each row; at first 0
    of_items: Output[IntArray],  # the first such row of each item
) -> int:
    """List the pairs that share a term, with their products, item after item; -1 if there is no room for them."""


@native
def count_zeros(
    entries: Entries,
    turned: bool,  # the queries are the columns of the tile, and the items, from `start` on, its rows
    targets: Targets,
    start: int,
    weight: IntArray,
    count: Output[IntArray],
    item: Output[IntArray],
) -> None:
    """Add the weights of the zeros of each query, whose rows are those of the tile; note one, if none was known."""


@native
def count_unlisted(
    pairs: NearPairs,
    targets: Targets,
    first: IntArray,  # the first query of each row
    before: IntArray,  # the weight of the items of the tile before each of them
    start: int,
    apart: IntArray,
    count: Output[IntArray],
    item: Output[IntArray],
) -> None:
    """Add the weights of the items of a tile, from `start` on, that are not listed; note one, if none was known."""


@native
def hide_zeros(entries: Output[Entries]) -> None:
    """Put the zeros of a tile behind all thresholds."""
