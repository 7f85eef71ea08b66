"""What the kernels of the engine read and add to: arrays that travel together."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Form
from tieproof.native.calls import Output
from tieproof.ties import Array, FloatArray, IntArray, SmallIntArray

Places = npt.NDArray[np.uint32]
Int = int | np.int64


class Thresholds(NamedTuple):
    """The relevant items of some queries, one entry each, nearest first.

    Query q has the entries start[q] … stop[q]-1. The exact nearness of each lies within reach[q] of its key, and what
    a tile shows of it within margin[q] of that. Keys fall, and those of one tie are equal; `ranked.py` says how
    guide and scale find the way among them.
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


class Limits(NamedTuple):
    """How far each query looks.

    An item is near query q where its tile shows a nearness of at least lowest[q]. A row with more than few[q] such
    items is crowded; a query with a negative one has no thresholds.
    """

    lowest: Array  # in the type of tiles
    few: FloatArray


class Columns(NamedTuple):
    """For each column of a transposed tile, which is a query row: the lowest limit of its queries, and the first."""

    lowest: Array
    first: IntArray  # and, at the end, the query behind the last


class Tile(NamedTuple):
    """Raw entries of distinct query rows and items, from `row` and `column` on; a row of `entries` is a query's row.

    `find_in_columns` takes a tile whose columns are the queries' rows.
    """

    entries: Array
    form: Form
    row: int
    column: int


class NearEntries(NamedTuple):
    """Entries of a tile that may be as near as a threshold of a query."""

    query: IntArray
    row: SmallIntArray  # in the tile
    item: SmallIntArray  # in the tile
    entry: Array


class Placed(NamedTuple):
    """What is to be added to counts: weights, each before a threshold, or at it where its complement is given."""

    place: IntArray
    weight: SmallIntArray


class Sorting(NamedTuple):
    """Room for sorting the items of one row of a tile into buckets."""

    value: Array  # nearness of each item
    low: Array  # bounds of the thresholds
    high: Array
    table: npt.NDArray[np.uint16]  # one entry per bucket
    slots: SmallIntArray  # items in each gap and at each tie, or at each whole number
    position: Places  # the bucket of each item, and then its slot
    close: Places  # items that are to be compared
    open: Places  # items that are to be placed one by one


class Room(NamedTuple):
    """A thread's room for counting a tile."""

    listed: Output[NearEntries]
    placed: Output[Placed]
    crowded: Output[IntArray]  # queries that have many items as near as their thresholds
    tally: Output[SmallIntArray]  # what is counted for some of these: before thresholds and, without errors, at them
    sorting: Output[Sorting]
    near: Output[FloatArray]  # nearness of items that remain, where it has no error


class Counted(NamedTuple):
    """What a piece of a tile came to."""

    next: int  # the query, or the item, to go on with
    tallied: int  # queries in `Room.tally`
    placed: int  # additions in `Room.placed`
    undecided: int  # items in `Work.undecided`


class Work(NamedTuple):
    """What tiles are counted for, where, and room for the items that they cannot place."""

    targets: Targets
    thresholds: Thresholds
    limits: Limits
    counts: Output[Counts]
    undecided: Output[Undecided]
