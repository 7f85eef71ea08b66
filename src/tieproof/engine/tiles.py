"""The tile loop: every query row against every item row, once, by a pool of threads."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

from tieproof.engine import counting, finding
from tieproof.engine.counting import make_room
from tieproof.engine.ranked import Ranked
from tieproof.engine.resolve import resolve
from tieproof.engine.structures import Room, Tile, Undecided, Work
from tieproof.exact.space import Space
from tieproof.exact.space import Tile as Entries

Count = Callable[[Tile, Work, int, int, Room, threading.Lock], Iterator[int]]
"""A way of counting a tile: `counting.count_rows` or `count_columns`."""

Progress = Callable[[int], None]
"""Called with the number of pairs done since the last call."""

UNDECIDED = 2**15
"""Undecided items that a thread gathers before it resolves them."""

CROWDED = 0.07
"""Share of items nearer than the last threshold from which a transposed tile is turned round (measured)."""


class Stripe(NamedTuple):
    """Consecutive distinct query rows and the queries that they belong to."""

    rows: slice
    start: int
    stop: int
    lock: threading.Lock


class TileLoop:
    """Counts all tiles of one block of ranked queries."""

    def __init__(self, space: Space, ranked: Ranked, side: int, progress: Progress) -> None:
        self.space, self.ranked, self.side, self.progress = space, ranked, side, progress
        self.form, self.error = space.form, space.all_errors
        self.local = threading.local()
        self.stop = threading.Event()

    def run(self, threads: int) -> None:
        """Work through all tiles; an interruption stops every thread after its tile."""
        if len(self.ranked.partial.query):
            resolve(self.space, self.ranked, self.ranked.partial, threading.Lock())
        with ThreadPoolExecutor(threads) as pool:
            tasks = [pool.submit(self.count, *task) for task in self.tasks()]
            try:
                wait(tasks, return_when=FIRST_EXCEPTION)
            finally:
                self.stop.set()
                pool.shutdown(cancel_futures=True)
            for task in tasks:
                if not task.cancelled():
                    task.result()

    def tasks(self) -> Iterator[tuple[Stripe, slice, Stripe | None]]:
        """(stripe of query rows, item rows, stripe to count the transposed tile for)."""
        rows = self.ranked.targets.row
        everything = self.space.symmetric and len(rows) == len(self.space.queries.identity)
        stripes = list(self.stripes(0 if everything else int(rows[0]), int(rows[-1]) + 1))
        if everything:
            for i, stripe in enumerate(stripes):
                yield stripe, stripe.rows, None
                for other in stripes[i + 1 :]:
                    yield stripe, other.rows, other
        else:
            count = len(self.space.items)
            for start in range(0, count, self.side):
                for stripe in stripes:
                    yield stripe, slice(start, min(start + self.side, count)), None

    def stripes(self, first: int, last: int) -> Iterator[Stripe]:
        """Stripes of distinct rows, with their queries."""
        rows = self.ranked.targets.row
        for start in range(first, last, self.side):
            stop = min(start + self.side, last)
            span = np.searchsorted(rows, (start, stop))
            yield Stripe(slice(start, stop), int(span[0]), int(span[1]), threading.Lock())

    def count(self, stripe: Stripe, columns: slice, other: Stripe | None) -> None:
        """One tile, for its rows and, where its columns are another stripe, for these."""
        if self.stop.is_set():
            return
        entries = self.space.tile(stripe.rows, columns)
        self.count_rows(stripe, columns, entries)
        if other is not None:
            self.count_columns(other, stripe.rows, entries)
        self.progress(entries.size * (1 if other is None else 2))

    def count_rows(self, stripe: Stripe, items: slice, entries: Entries) -> None:
        """Count a tile for the queries of a stripe."""
        self.settle(stripe, self.tile(stripe, items, entries), counting.count_rows)

    def count_columns(self, stripe: Stripe, items: slice, entries: Entries) -> None:
        """Count a transposed tile for the queries of a stripe; where it is crowded, turned round."""
        tile = self.tile(stripe, items, entries)
        if finding.is_crowded(tile, self.mine[0], stripe.start, stripe.stop, CROWDED):
            self.count_rows(stripe, items, finding.transposed(entries))
        else:
            self.settle(stripe, tile, counting.count_columns)

    def settle(self, stripe: Stripe, tile: Tile, count: Count) -> None:
        """Count a tile for the queries of a stripe, and resolve what it leaves open."""
        work, room = self.mine
        for used in count(tile, work, stripe.start, stripe.stop, room, stripe.lock):
            resolve(self.space, self.ranked, Undecided(*(part[:used] for part in work.undecided)), stripe.lock)
            if self.stop.is_set():
                return

    def tile(self, stripe: Stripe, items: slice, entries: Entries) -> Tile:
        """Entries of the stripe's rows and some items, with what is known of them."""
        error = self.error.part(stripe.rows, items)
        return Tile(entries, self.form.part(items), error, stripe.rows.start, items.start)

    @property
    def mine(self) -> tuple[Work, Room]:
        """The block, and this thread's room for a tile."""
        if not hasattr(self.local, "mine"):
            ranked, queries = self.ranked, int(np.bincount(self.ranked.targets.row // self.side).max())
            room = make_room(self.side, 2 * queries, ranked.thresholds, self.space.tile_type)
            size = max(UNDECIDED, len(room.near.query))
            undecided = Undecided(*(np.empty(size, dtype=np.int64) for _ in Undecided._fields))
            self.local.mine = (Work(ranked.targets, ranked.thresholds, ranked.counts, undecided), room)
        mine: tuple[Work, Room] = self.local.mine
        return mine
