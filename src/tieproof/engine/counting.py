"""Counting a tile: near items are listed, then placed; rows with many of them are counted by buckets."""

from collections.abc import Iterator
from threading import Lock

import numpy as np
import numpy.typing as npt

from tieproof.engine.buckets import BUCKETS, LEVELS, MOST, SOME, count_crowded
from tieproof.engine.finding import find_in_columns, find_in_rows
from tieproof.engine.placing import place
from tieproof.engine.structures import Candidates, Room, Scratch, Thresholds, Tile, Work

LIST = 2**12
"""Items that are listed before they are placed: as many as a cache holds."""

DENSE = 0.4
"""Items per threshold and row of a tile from which buckets pay (measured)."""


def make_room(side: int, queries: int, thresholds: Thresholds, dtype: npt.DTypeLike) -> Room:
    """Room for tiles of at most so many rows or columns and for so many queries of a stripe."""
    most = min(int((thresholds.stop - thresholds.start).max(initial=0)), MOST)
    size, wide = max(LIST, side, queries), max(side, most) + 8
    return Room(
        near=Candidates(
            query=np.empty(size, dtype=np.int64),
            row=np.empty(size, dtype=np.int64),
            item=np.empty(size, dtype=np.int64),
            entry=np.empty(size, dtype=dtype),
            low=np.empty(size),
            high=np.empty(size),
            first=np.empty(size, dtype=np.int64),
            end=np.empty(size, dtype=np.int64),
        ),
        crowded=np.empty(queries, dtype=np.int64),
        scratch=Scratch(
            flag=np.empty(wide, dtype=np.uint8),
            value=np.empty(side, dtype=dtype),
            low=np.empty(most, dtype=dtype),
            high=np.empty(most, dtype=dtype),
            table=np.empty(BUCKETS * most + SOME, dtype=np.uint16),
            slots=np.empty(max(most, LEVELS) + 2, dtype=np.int32),
            position=np.empty(wide, dtype=np.uint32),
            close=np.empty(wide, dtype=np.uint32),
            near=np.empty(wide),
            behind=np.empty(most, dtype=np.uint32),
        ),
    )


def count_rows(tile: Tile, work: Work, start: int, stop: int, room: Room, lock: Lock) -> Iterator[int]:
    """Count a tile for the queries start … stop-1; its rows are theirs.

    Yields how many items are undecided, at the end and whenever there might be no room for more. The lock is held
    while counts change.
    """
    scratch = room.scratch
    room = room._replace(scratch=scratch._replace(value=scratch.value[: tile.entries.shape[1]]))

    def listed() -> Iterator[int]:
        query = start
        while query < stop:
            query, found, many = find_in_rows(tile, work, query, stop, DENSE, room)
            yield found
            first = 0
            while first < many:
                with lock:
                    first, found = count_crowded(tile, work, first, many, room)
                yield found

    yield from place_listed(tile, work, room, lock, listed())


def count_columns(tile: Tile, work: Work, start: int, stop: int, room: Room, lock: Lock) -> Iterator[int]:
    """The same for a transposed tile, whose rows are items and whose columns are the queries' rows."""

    def listed() -> Iterator[int]:
        item = 0
        while item < len(tile.entries):
            item, found = find_in_columns(tile, work, item, start, stop, room)
            yield found

    yield from place_listed(tile, work, room, lock, listed())


def place_listed(tile: Tile, work: Work, room: Room, lock: Lock, listed: Iterator[int]) -> Iterator[int]:
    """Place the items that `room.near` holds, each time so many."""
    most = len(work.undecided.query) - len(room.near.query)
    used = 0
    for found in listed:
        with lock:
            used = place(tile, work, room.near, found, used)
        if used > most:
            yield used
            used = 0
    if used:
        yield used
