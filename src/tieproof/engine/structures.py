"""What the kernels of the engine read and add to: arrays that travel together."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.exact.space import Error, Form

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
SmallIntArray = npt.NDArray[np.int32]
Places = npt.NDArray[np.uint32]
Row = npt.NDArray[Any]
Int = int | np.int64


class Thresholds(NamedTuple):
    """The relevant items of some queries, one entry each, nearest first.

    Query q has the entries start[q] … stop[q]-1. The exact nearness of each lies within reach[q] of its key, and what
    a tile shows of it within margin[q] of that. Keys fall, and those of one tie are equal; `guide.py` says how guide
    and scale find the way among them.
    """

    start: IntArray
    stop: IntArray
    key: FloatArray
    reach: FloatArray
    margin: FloatArray
    guide: SmallIntArray
    scale: FloatArray


class Targets(NamedTuple):
    """The queries that a tile is counted for.

    Query q leaves the distinct items run[i, 0] … run[i, 1]-1 out of the count, for i = first[q] … last[q]-1; these
    runs ascend.
    """

    row: IntArray  # the distinct row of each query, ascending
    first: IntArray
    last: IntArray
    run: SmallIntArray


class Counts(NamedTuple):
    """What accumulates, one entry per threshold, by addition only, so that no order of tiles or threads can matter.

    Only the first entry of a tie counts; CONTINUED in `gap` marks the others.
    """

    gap: SmallIntArray  # items nearer than this threshold, but not nearer than the one before
    equal: SmallIntArray  # items at exactly this threshold


CONTINUED = -(2**31)
"""In `Counts.gap`: the entry belongs to the same tie as the one before."""


class Undecided(NamedTuple):
    """Items whose interval of nearness meets thresholds first … last-1 of their query."""

    query: IntArray
    item: IntArray
    weight: IntArray
    first: IntArray
    last: IntArray


class Candidates(NamedTuple):
    """Entries of a tile that may be as near as a threshold, and where they stand among them."""

    query: IntArray
    row: IntArray  # in the tile
    item: IntArray  # in the tile
    entry: Row
    low: FloatArray  # the interval of nearness
    high: FloatArray
    first: IntArray  # the first threshold that is not beyond it
    end: IntArray  # which is no later than here


class Scratch(NamedTuple):
    """Room for one query and the items of a tile."""

    flag: npt.NDArray[np.uint8]  # whether each item, or query, is near
    value: Row  # nearness of each item
    low: Row  # bounds of the thresholds
    high: Row
    table: npt.NDArray[np.uint16]  # one entry per bucket
    slots: SmallIntArray  # items in each gap, or at each level
    position: Places  # the bucket of each item
    close: Places  # columns of items that remain to be placed
    near: FloatArray  # and their nearness
    behind: Places  # for each threshold the first of the next tie


class Room(NamedTuple):
    """A thread's room for counting a tile."""

    near: Candidates
    crowded: IntArray  # queries that have many items as near as their thresholds
    scratch: Scratch


class Tile(NamedTuple):
    """Raw entries of distinct query rows and items, from `row` and `column` on; a row of `entries` is a query's row.

    `find_in_columns` takes a tile whose columns are the queries' rows.
    """

    entries: Row
    form: Form
    error: Error
    row: int
    column: int


class Work(NamedTuple):
    """What tiles are counted for, where, and room for the items that they cannot place."""

    targets: Targets
    thresholds: Thresholds
    counts: Counts
    undecided: Undecided


def no_items() -> Undecided:
    """Nothing undecided."""
    return Undecided(*(np.zeros(0, dtype=np.int64) for _ in Undecided._fields))
