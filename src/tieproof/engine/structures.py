"""Groups of arrays that the kernels of the engine read and update."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import NearnessForm
from tieproof.native.calls import Output
from tieproof.ties import Array, FloatArray, IntArray, SmallIntArray

Places = npt.NDArray[np.uint32]


class Thresholds(NamedTuple):
    """The relevant items of some queries, one entry each, nearest first.

    Query q has the entries start[q] … stop[q]-1. The exact nearness of each entry is within reach[q] of its key, and
    its nearness in a tile is within margin[q] of the exact one. Keys are descending, and equal within a tie. guide
    and scale make the search among them faster, as `ranked.py` describes.
    """

    start: IntArray
    stop: IntArray
    key: FloatArray
    reach: FloatArray
    margin: FloatArray
    guide: SmallIntArray
    scale: FloatArray


class Targets(NamedTuple):
    """The queries for which a tile is counted.

    Query q leaves the distinct items run[i, 0] … run[i, 1]-1 out of the count, for i = first[q] … last[q]-1; these
    runs ascend.
    """

    row: IntArray  # the distinct row of each query, ascending
    first: IntArray
    last: IntArray
    run: SmallIntArray


class Counts(NamedTuple):
    """The counts at thresholds, only added to, so that no order matters; those of a tie are at its first entry."""

    gap: SmallIntArray  # items nearer than this threshold, but not nearer than the one before
    equal: SmallIntArray  # items at exactly this threshold


CONTINUED = -(2**31)  # in `Counts.gap`: the entry belongs to the same tie as the one before


class Undecided(NamedTuple):
    """Items whose interval of nearness overlaps the thresholds first … last-1 of their query."""

    query: IntArray
    item: IntArray
    weight: IntArray
    first: IntArray
    last: IntArray

    def where(self, chosen: "slice | Array") -> "Undecided":
        """Some of the items; of a slice, as a view."""
        return Undecided(*(column[chosen] for column in self))


NOTHING = Undecided(*np.empty((5, 0), dtype=np.int64))


def joined(parts: Iterable[Undecided]) -> Undecided:
    """All items of several parts."""
    return Undecided(*map(np.concatenate, zip(*parts, strict=True)))


class NearLimits(NamedTuple):
    """The limits of near items for each query.

    An item is near query q if its nearness in the tile is at least lowest[q]. A row with more than few[q] near items
    is crowded; a negative few[q] means that the query has no thresholds.
    """

    lowest: Array  # in the type of tiles
    few: FloatArray


class TileColumns(NamedTuple):
    """For each column of a transposed tile, which is a query row: its queries' lowest limit, and its first query."""

    lowest: Array
    first: IntArray  # with, as the last entry, the query after the last one


class Tile(NamedTuple):
    """Raw entries of distinct query rows, which are rows of `entries`, and items, from `row` and `column` on."""

    entries: Array  # for `find_in_columns` transposed: its columns are the queries' rows
    form: NearnessForm
    row: int
    column: int


class NearEntries(NamedTuple):
    """Entries of a tile that may be as near as a threshold of a query."""

    query: IntArray
    row: SmallIntArray  # in the tile
    item: SmallIntArray  # in the tile
    entry: Array


class Placed(NamedTuple):
    """Additions to the counts: each weight is counted before a threshold, or at it if the complement is stored."""

    place: IntArray
    weight: SmallIntArray


class Sorting(NamedTuple):
    """Working memory for sorting the items of one row of a tile into buckets."""

    value: Array  # nearness of each item
    low: Array  # bounds of the thresholds
    high: Array
    table: npt.NDArray[np.uint16]  # one entry per bucket
    slots: SmallIntArray  # items in each gap and at each tie, or at each whole number
    position: Places  # the bucket of each item, and then its slot
    close: Places  # items to be compared
    open: Places  # items to be placed one by one


class TileMemory(NamedTuple):
    """A thread's working memory for counting a tile."""

    listed: Output[NearEntries]
    placed: Output[Placed]
    crowded: Output[IntArray]  # queries with many items as near as their thresholds
    tally: Output[SmallIntArray]  # counts of some crowded queries: before thresholds and, without errors, at them
    sorting: Output[Sorting]
    near: Output[FloatArray]  # nearness of the remaining items, if it has no error


class Counted(NamedTuple):
    """The result of counting a piece of a tile."""

    next: int  # the query, or the item, to continue with
    tallied: int  # queries in `TileMemory.tally`
    placed: int  # additions in `TileMemory.placed`
    undecided: int  # items in `Work.undecided`


class Work(NamedTuple):
    """The queries and limits for which tiles are counted, the counts, and memory for undecided items."""

    targets: Targets
    thresholds: Thresholds
    limits: NearLimits
    counts: Output[Counts]
    undecided: Output[Undecided]
