"""Count a tile for the queries of its rows or columns, in pieces whose results fit into the working memory.

The results of a piece are first collected in a thread's own memory and then added to the counts under a lock.
"""

from collections.abc import Callable, Iterator
from threading import Lock

from tieproof.distances.space import Error
from tieproof.engine.sifting import NearPairs, count_near
from tieproof.engine.structures import Columns, Counted, Room, Tile, Work
from tieproof.native.calls import native


def count_rows(tile: Tile, error: Error, work: Work, start: int, stop: int, room: Room, lock: Lock) -> Iterator[int]:
    """Count a tile for the queries start … stop-1, to which its rows belong.

    Yields the number of undecided items at the end, and whenever there might be no room for more. The lock is held
    while counts change.
    """

    def count(query: int, undecided: int) -> Counted:
        return count_in_rows(tile, error, work, query, stop, undecided, room)

    return _in_pieces(count, start, stop, error, work, room, lock)


def count_columns(tile: Tile, error: Error, work: Work, columns: Columns, room: Room, lock: Lock) -> Iterator[int]:
    """Count a transposed tile, whose rows are items and whose columns are query rows; yields as `count_rows`."""

    def count(item: int, undecided: int) -> Counted:
        return count_in_columns(tile, error, work, columns, item, undecided, room)

    return _in_pieces(count, 0, len(tile.entries), error, work, room, lock)


def count_near_pairs(
    pairs: NearPairs, tile: Tile, error: Error, work: Work, columns: Columns, room: Room, lock: Lock
) -> Iterator[int]:
    """Count the near pairs of a tile, whose entries are not read; yields as `count_rows`.

    columns : the limits of the query rows of the pairs
    """

    def count(start: int, undecided: int) -> Counted:
        return count_near(pairs, tile, error, work, columns.first, start, undecided, room)

    return _in_pieces(count, 0, len(pairs.row), error, work, room, lock)


def _in_pieces(
    count: Callable[[int, int], Counted],
    start: int,
    stop: int,
    error: Error,
    work: Work,
    room: Room,
    lock: Lock,
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
