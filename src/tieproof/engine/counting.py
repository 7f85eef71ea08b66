"""Count a tile: near items are listed and then placed, or counted by buckets in rows with many of them.

Usually, few items are as near as a threshold of a query. All other items need no counting and are skipped.

The results are first collected in a thread's own memory and then added to the counts under a lock.
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
"""How many items are listed before they are placed: as many as fit into a cache."""

PLACED = 2**14
"""How many items are placed before they are counted under the lock."""

TALLY = 2**14
"""How many thresholds' counts are added at a time, under the lock."""

BUCKETS = 8
"""The number of buckets per threshold (measured)."""

SOME = 256
"""The number of additional buckets, so that a few thresholds are in few of the buckets."""

RUN = 32
"""How many entries of the table of buckets are written together; up to this many are written past the last one."""

MOST = 2**15 - 1
"""The largest number of thresholds for which buckets are used: an entry of their table has 15 bits."""

WHOLE_NUMBERS = 2**12
"""The largest range of whole numbers between the thresholds in which each number gets its own count."""

DENSE = 0.3
"""The number of items per threshold and row of a tile from which buckets are faster (measured)."""

FEW = 40
"""Up to this many items in a row are always placed one by one."""

FIRST_ROWS = 16
"""The number of rows of a transposed tile that are sampled to see whether it is crowded."""


def limits_of(thresholds: Thresholds, ratio: bool, dtype: npt.DTypeLike) -> Limits:
    """The limits of near items in tiles of a dtype, and the number of near items from which buckets are used."""
    length = thresholds.stop - thresholds.start
    few = np.where(length <= MOST, FEW + DENSE * length, np.inf)
    few[length == 0] = -1.0
    with np.errstate(over="ignore"):
        return Limits(lowest_entries(thresholds, ratio).astype(dtype), few)


def lowest_entries(thresholds: Thresholds, ratio: bool) -> FloatArray:
    """The smallest tile entry with which an item may be as near as each query's last threshold."""
    some = thresholds.stop > thresholds.start
    far = thresholds.key[thresholds.stop[some] - 1] - thresholds.reach[some]
    if ratio:
        far = np.copysign(np.sqrt(np.abs(far)), far)
    lowest = np.full(len(some), np.inf)
    lowest[some] = far - thresholds.margin[some]
    return lowest


def make_room(side: int, queries: int, thresholds: Thresholds, dtype: npt.DTypeLike) -> Room:
    """Working memory for tiles with at most `side` rows or columns and for `queries` queries of a stripe."""
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
    """Working memory for `count` undecided items."""
    return Undecided(*(np.empty(count, dtype=np.int64) for _ in Undecided._fields))


def columns_of(targets: Targets, limits: Limits, rows: slice, start: int, stop: int) -> Columns:
    """The limits for counting a transposed tile, for query rows and their queries start … stop-1."""
    row = targets.row[start:stop] - rows.start
    lowest = np.full(rows.stop - rows.start, np.inf, dtype=limits.lowest.dtype)
    np.minimum.at(lowest, row, limits.lowest[start:stop])
    return Columns(lowest, start + np.searchsorted(row, np.arange(len(lowest) + 1)))


def is_crowded(tile: Tile, columns: Columns, share: float) -> bool:
    """Whether more than this share of a transposed tile's first rows is nearer than the last thresholds."""
    factor, shift = tile.form.factor[:FIRST_ROWS, None], tile.form.shift[:FIRST_ROWS, None]
    return bool((tile.entries[:FIRST_ROWS] * factor - shift >= columns.lowest).mean() > share)


def transposed(entries: Array) -> Array:
    """A contiguous transpose."""
    out = np.empty((entries.shape[1], entries.shape[0]), dtype=entries.dtype)
    transpose(entries, out)
    return out


@native
def transpose(entries: Array, out: Output[Array]) -> None:
    """Write the transpose in blocks that fit into the cache."""


def count_rows(tile: Tile, error: Error, work: Work, start: int, stop: int, room: Room, lock: Lock) -> Iterator[int]:
    """Count a tile for the queries start … stop-1, to which its rows belong.

    Yields the number of undecided items at the end, and whenever there might be no room for more. The lock is held
    while counts change.
    """

    def count(query: int, undecided: int) -> Counted:
        return count_in_rows(tile, error, work, query, stop, undecided, room)

    yield from in_pieces(count, start, stop, error, work, room, lock)


def count_columns(tile: Tile, error: Error, work: Work, columns: Columns, room: Room, lock: Lock) -> Iterator[int]:
    """Count a transposed tile, whose rows are items and whose columns are query rows; yields as `count_rows`."""

    def count(item: int, undecided: int) -> Counted:
        return count_in_columns(tile, error, work, columns, item, undecided, room)

    yield from in_pieces(count, 0, len(tile.entries), error, work, room, lock)


def in_pieces(
    count: Callable[[int, int], Counted], start: int, stop: int, error: Error, work: Work, room: Room, lock: Lock
) -> Iterator[int]:
    """Count from `start` to `stop` in pieces whose results fit into the working memory."""
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
    """Count a tile for the queries from `query` on; what is to be added to the counts is written to `room`.

    undecided : the number of undecided items so far. Counting ends before `stop` if there might be no room for more.
    """


@native
def count_in_columns(
    tile: Tile, error: Error, work: Work, columns: Columns, item: int, undecided: int, room: Room
) -> Counted:
    """Count a transposed tile, whose rows are items, from `item` on, as `count_in_rows` does."""


@native
def add_up(work: Work, room: Room, tallied: int, placed: int, exact: bool) -> None:
    """Add to the counts the results in `room`, for `tallied` queries and `placed` items.

    exact : items at thresholds are tallied, too
    """
