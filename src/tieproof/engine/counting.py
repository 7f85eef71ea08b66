"""Counting a tile: near items are listed, then placed; rows with many of them are counted by buckets.

Mostly few items are as near as a threshold of a query. All others need no counting, and are passed over.

All of that is done beside the counts, and what came of it is added to them under a lock.
"""

from collections.abc import Callable, Iterator
from threading import Lock

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Error
from tieproof.engine.structures import (
    Columns,
    Counted,
    Limits,
    NearEntries,
    Placed,
    Room,
    Sorting,
    Targets,
    Thresholds,
    Tile,
    Undecided,
    Work,
)
from tieproof.native.calls import Output, native
from tieproof.ties import Array, FloatArray

LIST = 2**11
"""Items that are listed before they are placed: as many as a cache holds."""

PLACED = 2**14
"""Items that are placed before they are counted under the lock."""

TALLY = 2**14
"""Thresholds whose counts are added up at a time; they are locked meanwhile."""

BUCKETS = 8
"""Buckets per threshold (measured)."""

SOME = 256
"""Buckets beside these, so that a few thresholds touch few of them."""

RUN = 32
"""Entries of the table of buckets that are written together: so many may be written beyond the last."""

MOST = 2**15 - 1
"""Thresholds up to which there are buckets: an entry of their table has 15 bits."""

WHOLE_NUMBERS = 2**12
"""Whole numbers between the thresholds up to which each gets a count of its own."""

DENSE = 0.3
"""Items per threshold and row of a tile from which buckets pay (measured)."""

FEW = 40
"""How many items of a row are placed one by one in any case."""

FIRST_ROWS = 16
"""Rows of a transposed tile that tell whether it is crowded."""


def limits_of(thresholds: Thresholds, ratio: bool, dtype: npt.DTypeLike) -> Limits:
    """How far the queries look in tiles of a type, and how many items are then counted by buckets."""
    length = thresholds.stop - thresholds.start
    few = np.where(length <= MOST, FEW + DENSE * length, np.inf)
    few[length == 0] = -1.0
    with np.errstate(over="ignore"):
        return Limits(lowest_entries(thresholds, ratio).astype(dtype), few)


def lowest_entries(thresholds: Thresholds, ratio: bool) -> FloatArray:
    """What a tile must show of an item for it to be as near as each query's last threshold, perhaps."""
    some = thresholds.stop > thresholds.start
    far = thresholds.key[thresholds.stop[some] - 1] - thresholds.reach[some]
    if ratio:
        far = np.copysign(np.sqrt(np.abs(far)), far)
    lowest = np.full(len(some), np.inf)
    lowest[some] = far - thresholds.margin[some]
    return lowest


def make_room(side: int, queries: int, thresholds: Thresholds, dtype: npt.DTypeLike) -> Room:
    """Room for tiles of at most so many rows or columns and for so many queries of a stripe."""
    most = min(int((thresholds.stop - thresholds.start).max(initial=0)), MOST)
    size, wide = max(LIST, side, queries), max(side, most) // 8 * 8 + 8
    placed = max(min(PLACED, side**2), 2 * size)
    tally = max(min(TALLY, 2 * (len(thresholds.key) + len(thresholds.start))), 2 * most + 2)
    return Room(
        listed=NearEntries(
            query=np.empty(size, dtype=np.int64),
            row=np.empty(size, dtype=np.int32),
            item=np.empty(size, dtype=np.int32),
            entry=np.empty(size, dtype=dtype),
        ),
        placed=Placed(np.empty(placed, dtype=np.int64), np.empty(placed, dtype=np.int32)),
        crowded=np.empty(queries, dtype=np.int64),
        tally=np.empty(tally, dtype=np.int32),
        sorting=Sorting(
            value=np.empty(side, dtype=dtype),
            low=np.empty(most, dtype=dtype),
            high=np.empty(most, dtype=dtype),
            table=np.empty(BUCKETS * most + SOME + RUN, dtype=np.uint16),
            slots=np.empty(MOST + 1 + max(2 * most + 2, WHOLE_NUMBERS + 2), dtype=np.int32),
            position=np.empty(wide, dtype=np.uint32),
            close=np.empty(wide, dtype=np.uint32),
            open=np.empty(wide, dtype=np.uint32),
        ),
        near=np.empty(wide),
    )


def room_for_items(count: int) -> Undecided:
    """Room for so many undecided items."""
    return Undecided(*(np.empty(count, dtype=np.int64) for _ in Undecided._fields))


def columns_of(targets: Targets, limits: Limits, rows: slice, start: int, stop: int) -> Columns:
    """What counting a transposed tile needs of query rows and of their queries start … stop-1."""
    row = targets.row[start:stop] - rows.start
    lowest = np.full(rows.stop - rows.start, np.inf, dtype=limits.lowest.dtype)
    np.minimum.at(lowest, row, limits.lowest[start:stop])
    return Columns(lowest, start + np.searchsorted(row, np.arange(len(lowest) + 1)))


def is_crowded(tile: Tile, columns: Columns, share: float) -> bool:
    """Whether more than a share of a transposed tile is nearer than the last thresholds, by its first rows."""
    factor, shift = tile.form.factor[:FIRST_ROWS, None], tile.form.shift[:FIRST_ROWS, None]
    return bool((tile.entries[:FIRST_ROWS] * factor - shift >= columns.lowest).mean() > share)


def transposed(entries: Array) -> Array:
    """A contiguous transpose."""
    out = np.empty((entries.shape[1], entries.shape[0]), dtype=entries.dtype)
    transpose(entries, out)
    return out


@native
def transpose(entries: Array, out: Output[Array]) -> None:
    """Write the transpose, in blocks that the cache holds."""


def count_rows(tile: Tile, error: Error, work: Work, start: int, stop: int, room: Room, lock: Lock) -> Iterator[int]:
    """Count a tile for the queries start … stop-1; its rows are theirs.

    Yields how many items are undecided, at the end and whenever there might be no room for more. The lock is held
    while counts change.
    """

    def count(query: int, undecided: int) -> Counted:
        return count_in_rows(tile, error, work, query, stop, undecided, room)

    yield from in_pieces(count, start, stop, error, work, room, lock)


def count_columns(tile: Tile, error: Error, work: Work, columns: Columns, room: Room, lock: Lock) -> Iterator[int]:
    """Count in a transposed tile: its rows are items, its columns the queries' rows; yields the number undecided."""

    def count(item: int, undecided: int) -> Counted:
        return count_in_columns(tile, error, work, columns, item, undecided, room)

    yield from in_pieces(count, 0, len(tile.entries), error, work, room, lock)


def in_pieces(
    count: Callable[[int, int], Counted], start: int, stop: int, error: Error, work: Work, room: Room, lock: Lock
) -> Iterator[int]:
    """Count from `start` to `stop`, each time as much as there is room for what is to be added."""
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
def count_in_rows(tile: Tile, error: Error, work: Work, query: int, stop: int, undecided: int, room: Room) -> Counted:
    """Count a tile for queries from `query` on, beside the counts: what is to be added to them is in `room`.

    undecided: items that are there already. It ends before `stop` where there might be no room for more.
    """


@native
def count_in_columns(
    tile: Tile, error: Error, work: Work, columns: Columns, item: int, undecided: int, room: Room
) -> Counted:
    """The same for a transposed tile, whose rows are items, from `item` on."""


@native
def add_up(work: Work, room: Room, tallied: int, placed: int, exact: bool) -> None:
    """Add to the counts what is in `room`, of so many tallied queries and so many placed items.

    exact: items at thresholds are tallied, too.
    """
