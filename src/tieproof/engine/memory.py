"""The working memory of a thread that counts tiles."""

import numpy as np
import numpy.typing as npt

from tieproof.engine.structures import NearEntries, Placed, Sorting, Thresholds, TileMemory, Undecided

LIST = 2**11  # how many items are listed before they are placed: as many as fit into a cache
PLACED = 2**14  # how many items are placed before they are counted under the lock
TALLY = 2**16  # how many thresholds' counts are added at a time, under the lock
BUCKETS = 8  # the number of buckets per threshold (measured)
MORE_BUCKETS = 1024  # the number of additional buckets, so that a few thresholds are in few of the buckets
AHEAD = 8  # how many positions are written together, from any position of a list
RUN = 32  # how many entries of the table of buckets are written together, up to this many past the last one
MOST_THRESHOLDS = 2**15 - 1  # the most thresholds with buckets: an entry of their table has 15 bits
WHOLE_NUMBERS = 2**12  # the largest range of whole numbers between thresholds in which each number gets its own count


def make_room(side: int, queries: int, thresholds: Thresholds, dtype: npt.DTypeLike) -> TileMemory:
    """Working memory for tiles with at most `side` rows or columns and for `queries` queries of a stripe."""
    most = min(int((thresholds.stop - thresholds.start).max(initial=0)), MOST_THRESHOLDS)
    size, wide = max(LIST, side, queries), max(side, most) + AHEAD
    placed = max(min(PLACED, side**2), 2 * size)
    tally = max(min(TALLY, 2 * (len(thresholds.key) + len(thresholds.start))), 2 * most + 2)
    return TileMemory(
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
            table=np.empty(BUCKETS * most + MORE_BUCKETS + RUN, dtype=np.uint16),
            slots=np.empty(MOST_THRESHOLDS + 1 + max(2 * most + 2, WHOLE_NUMBERS + 2), dtype=np.int32),
            position=np.empty(wide, dtype=np.uint32),
            close=np.empty(wide, dtype=np.uint32),
            open=np.empty(wide, dtype=np.uint32),
        ),
        near=np.empty(wide),
    )


def room_for_items(count: int) -> Undecided:
    """Working memory for `count` undecided items."""
    return Undecided(*(np.empty(count, dtype=np.int64) for _ in Undecided._fields))
