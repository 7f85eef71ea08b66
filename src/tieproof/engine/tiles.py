"""The tile loop: every query row against every item row, once, by a pool of threads."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

from tieproof.engine import kernels
from tieproof.engine.kernels import Place, Undecided
from tieproof.engine.resolve import resolve
from tieproof.engine.thresholds import Ranked
from tieproof.exact.space import Space, Tile

Progress = Callable[[int], None]
"""Called with the number of pairs done since the last call."""

UNDECIDED = 2**15
"""Undecided items that a thread gathers before it resolves them."""


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
        self.weights = space.items.weight.astype(np.int32)
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

    def count(self, stripe: Stripe, columns: slice, transposed: Stripe | None) -> None:
        """One tile, for its rows and, where `transposed`, for its columns."""
        if self.stop.is_set():
            return
        tile = self.space.tile(stripe.rows, columns)
        self.count_for(stripe, columns, tile)
        if transposed is not None:
            self.count_for(transposed, stripe.rows, kernels.transposed(tile))
        self.progress(tile.size * (1 if transposed is None else 2))

    def count_for(self, stripe: Stripe, columns: slice, tile: Tile) -> None:
        """Count a tile for the queries of a stripe; resolve what it leaves open, unless all is being stopped."""
        nearness = self.space.nearness(tile, columns)
        error = self.space.error(stripe.rows, columns)
        weights = self.weights[columns]
        buffer = self.buffer()
        query = stripe.start
        while query < stripe.stop and not self.stop.is_set():
            with stripe.lock:
                query, used = kernels.count_tile(
                    nearness,
                    error,
                    Place(query, stripe.stop, stripe.rows.start, columns.start),
                    self.ranked.targets,
                    self.ranked.thresholds,
                    weights,
                    self.ranked.counts,
                    buffer,
                )
            if used:
                resolve(self.space, self.ranked, Undecided(*(part[:used] for part in buffer)), stripe.lock)

    def buffer(self) -> Undecided:
        """This thread's room for undecided items."""
        if not hasattr(self.local, "buffer"):
            size = max(UNDECIDED, 2 * self.side)
            self.local.buffer = Undecided(*(np.empty(size, dtype=np.int64) for _ in Undecided._fields))
        buffer: Undecided = self.local.buffer
        return buffer
