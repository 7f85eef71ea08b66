"""Count a tile for the queries of its rows or columns, in pieces whose results fit into the working memory.

The results of a piece are first collected in a thread's own memory and then added to the counts under a lock. Of a
tile of codes, the near pairs are found while its products are computed, so that the tile is never written.
"""

from collections.abc import Callable, Iterator
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.codes import CodedTile
from tieproof.distances.space import Error, NearnessForm
from tieproof.engine.structures import Counted, Tile, TileColumns, TileMemory, Work
from tieproof.native.calls import Output, native
from tieproof.ties import Array, IntArray, SmallIntArray

SHARE = 1 / 32  # the share of near pairs from which a tile is written and then counted by its rows and columns
SPARE = 64  # how many pairs there is room for beyond this share


class NearPairs(NamedTuple):
    """Pairs of a query row and an item of a tile that may be as near as a threshold of the row's queries."""

    row: SmallIntArray
    item: SmallIntArray
    entry: Array

    @classmethod
    def room(cls, side: int, dtype: npt.DTypeLike) -> "NearPairs":
        """Room for as many pairs as are listed in a tile with at most `side` rows and columns."""
        count = int(side**2 * SHARE) + SPARE
        return cls(np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32), np.empty(count, dtype=dtype))

    def first(self, count: int) -> "NearPairs":
        """The first `count` pairs."""
        return NearPairs(self.row[:count], self.item[:count], self.entry[:count])

    def turned(self) -> "NearPairs":
        """The pairs of the transposed tile."""
        return NearPairs(self.item, self.row, self.entry)


class TileSide(NamedTuple):
    """One of the two sides whose queries count a tile."""

    form: NearnessForm  # the conversion of entries to nearness, for the items of the tile as this side sees it
    # The smallest nearness of a near pair for each of its rows; empty if its queries do not count the tile.
    lowest: Array
    near: NearPairs


class Sifted(NamedTuple):
    """The number of near pairs of both sides; -1 if there is not enough room for them."""

    of_rows: int
    of_columns: int


def in_pieces(
    count: Callable[[int, int], Counted],
    start: int,
    stop: int,
    error: Error,
    work: Work,
    room: TileMemory,
    lock: Lock,
) -> Iterator[int]:
    """Count a tile from `start` to `stop`, queries, items or near pairs, in pieces that fit into the working memory.

    Yields the number of undecided items at the end, and whenever there might be no room for more. The lock is held
    while counts change.

    count : counts from a number on, given it and the number of undecided items so far
    """
    counted = Counted(start, 0, 0, 0)
    most = len(work.undecided.query) - len(room.listed.query)
    while counted.next < stop:
        counted = count(counted.next, counted.undecided)
        with lock:
            add_up(work, room, counted.tallied, counted.placed, error.certain)
        if counted.undecided > most or (counted.next == stop and counted.undecided):
            yield counted.undecided
            counted = counted._replace(undecided=0)


@native
def count_in_rows(
    tile: Tile, error: Error, work: Work, query: int, stop: int, undecided: int, room: TileMemory
) -> Counted:
    """Count a tile for the queries from `query` on; what is to be added to the counts is written to `room`.

    undecided : the number of undecided items so far. Counting ends before `stop` if there might be no room for more.
    """


@native
def count_in_columns(
    tile: Tile, error: Error, work: Work, columns: TileColumns, item: int, undecided: int, room: TileMemory
) -> Counted:
    """Count a transposed tile, whose rows are items, from `item` on, as `count_in_rows` does."""


@native
def add_up(work: Work, room: TileMemory, tallied: int, placed: int, exact: bool) -> None:
    """Add to the counts the results in `room`, for `tallied` queries and `placed` items.

    exact : items at thresholds are tallied, too
    """


@native
def sift(tile: CodedTile, rows: Output[TileSide], columns: Output[TileSide]) -> Sifted:
    """List the near pairs of a tile for its rows and for its columns."""


@native
def count_near(
    pairs: NearPairs,
    tile: Tile,  # the tile of the pairs, whose entries are not read
    error: Error,
    work: Work,
    first: IntArray,  # the first query of each row, and the query after the last one
    start: int,
    undecided: int,
    room: TileMemory,
) -> Counted:
    """Count near pairs, from number `start` on, as `count_in_columns` counts a tile."""
