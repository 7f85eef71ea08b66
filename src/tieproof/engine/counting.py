"""Counting a tile: near items are listed, then placed; rows with many of them are counted by buckets."""

from collections.abc import Iterator
from threading import Lock

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Error
from tieproof.engine.buckets import BUCKETS, MOST, RUN, SOME, add_tally, count_crowded
from tieproof.engine.exact_counting import WHOLE_NUMBERS, count_exactly
from tieproof.engine.finding import find_in_columns, find_in_rows, lowest_entries
from tieproof.engine.placing import place
from tieproof.engine.structures import (
    Columns,
    Counts,
    ExactRoom,
    Limits,
    NearEntries,
    Placed,
    Room,
    Sorting,
    Thresholds,
    Tile,
    Undecided,
    Work,
)
from tieproof.ties import IntArray

LIST = 2**12
"""Items that are listed before they are placed: as many as a cache holds."""

TALLY = 2**14
"""Thresholds whose counts are added up at a time; they are locked meanwhile."""

DENSE = 0.4
"""Items per threshold and row of a tile from which buckets pay (measured)."""

FEW = 8
"""How many items of a row are placed one by one in any case."""


def limits_of(thresholds: Thresholds, ratio: bool, dtype: npt.DTypeLike) -> Limits:
    """How far the queries look in tiles of a type, and how many items are then counted by buckets."""
    length = thresholds.stop - thresholds.start
    few = np.where(length <= MOST, FEW + DENSE * length, np.inf)
    few[length == 0] = -1.0
    with np.errstate(over="ignore"):
        return Limits(lowest_entries(thresholds, ratio).astype(dtype), few)


def make_room(side: int, queries: int, thresholds: Thresholds, dtype: npt.DTypeLike) -> Room:
    """Room for tiles of at most so many rows or columns and for so many queries of a stripe."""
    most = min(int((thresholds.stop - thresholds.start).max(initial=0)), MOST)
    size, wide = max(LIST, side, queries), max(side, most) // 8 * 8 + 8
    return Room(
        listed=NearEntries(
            query=np.empty(size, dtype=np.int64),
            row=np.empty(size, dtype=np.int64),
            item=np.empty(size, dtype=np.int64),
            entry=np.empty(size, dtype=dtype),
        ),
        placed=Placed(*(np.empty(2 * size, dtype=np.int64) for _ in Placed._fields)),
        crowded=np.empty(queries, dtype=np.int64),
        tally=Counts(*(np.empty(max(TALLY, most + 1), dtype=np.int32) for _ in Counts._fields)),
        sorting=Sorting(
            value=np.empty(side, dtype=dtype),
            low=np.empty(most, dtype=dtype),
            high=np.empty(most, dtype=dtype),
            table=np.empty(BUCKETS * most + SOME + RUN, dtype=np.uint16),
            slots=np.empty(WHOLE_NUMBERS + 2, dtype=np.int32),
            position=np.empty(wide, dtype=np.uint32),
            close=np.empty(wide, dtype=np.uint32),
        ),
        exact=ExactRoom(near=np.empty(wide), behind=np.empty(most, dtype=np.uint32)),
    )


def count_rows(tile: Tile, error: Error, work: Work, start: int, stop: int, room: Room, lock: Lock) -> Iterator[int]:
    """Count a tile for the queries start … stop-1; its rows are theirs.

    Yields how many items are undecided, at the end and whenever there might be no room for more. The lock is held
    while counts change.
    """

    def listed() -> Iterator[int]:
        query = start
        while query < stop:
            query, found, many = find_in_rows(
                tile, work.targets, work.limits, query, stop, room.sorting.close, room.crowded, room.listed
            )
            yield found
            crowded = room.crowded[:many]
            while len(crowded):
                done, found = count_many(tile, error, work, crowded, room)
                with lock:
                    add_tally(crowded[:done], work.thresholds, room.tally, error.certain, work.counts)
                crowded = crowded[done:]
                yield found

    yield from place_listed(tile, error, work, room, lock, listed())


def count_many(tile: Tile, error: Error, work: Work, crowded: IntArray, room: Room) -> tuple[int, int]:
    """Count all items for crowded queries; how many of these are done, and how many items are listed instead."""
    if error.certain:
        return count_exactly(
            tile,
            work.targets,
            work.thresholds,
            work.counts.gap,
            crowded,
            room.sorting,
            room.exact,
            room.tally,
            room.listed,
        )
    return count_crowded(tile, work.targets, work.thresholds, crowded, room.sorting, room.tally, room.listed)


def count_columns(tile: Tile, error: Error, work: Work, columns: Columns, room: Room, lock: Lock) -> Iterator[int]:
    """Count in a transposed tile: its rows are items, its columns the queries' rows; yields the number undecided."""

    def listed() -> Iterator[int]:
        item, close = 0, room.sorting.close
        while item < len(tile.entries):
            item, found = find_in_columns(tile, work.targets, work.limits, columns, item, close, room.listed)
            yield found

    yield from place_listed(tile, error, work, room, lock, listed())


def place_listed(
    tile: Tile, error: Error, work: Work, room: Room, lock: Lock, listed: Iterator[int]
) -> Iterator[int]:
    """Place the items that `room.listed` holds, each time so many."""
    most = len(work.undecided.query) - len(room.listed.query)
    used = 0
    for found in listed:
        near = NearEntries(*(column[:found] for column in room.listed))
        items = Undecided(*(column[used : used + found] for column in work.undecided))
        used += place(near, tile.form, error, tile.column, work.thresholds, work.counts, room.placed, items, lock)
        if used > most:
            yield used
            used = 0
    if used:
        yield used
