"""Compute whole rankings by a gauge in threads, in stripes of as many queries as memory holds."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from tieproof.distances.gauge import LARGEST_STRIPE, Gauge
from tieproof.distances.space import Entries, Error, Space
from tieproof.engine import counting
from tieproof.engine.counting import limits_of, make_room, room_for_items
from tieproof.engine.plan import Plan, cut
from tieproof.engine.ranked import Ranked
from tieproof.engine.resolve import resolve
from tieproof.engine.structures import Columns, Room, Tile, Undecided, Work
from tieproof.exact.blas import check_products, single_threaded
from tieproof.native.calls import packed
from tieproof.native.threads import in_order
from tieproof.problem import Problem, Progress
from tieproof.ties import IntArray

Found = TypeVar("Found")


def stripe_by_stripe(
    problem: Problem, gauge: Gauge, item_bytes: int, relevant_bytes: int, work: Callable[[IntArray, IntArray], Found]
) -> Generator[Found, None, None]:
    """Yield the results of `work` for stripes of queries and their ascending distinct rows; each query occurs once.

    item_bytes, relevant_bytes : the largest memory in a ranking for a distinct item, and additionally for a relevant
        item
    """
    threads = 1 if gauge.stripe_rows else problem.budget.threads  # a function need not be safe in threads
    order = np.argsort(gauge.identity[0], kind="stable")

    @single_threaded()
    def of_span(span: slice) -> Found:
        return work(order[span], gauge.identity[0][order[span]])

    check_products()
    of_relevant = relevant_bytes * problem.relevance.at_most()[order]
    spans = stripes(gauge, item_bytes * len(gauge.weight[1]), of_relevant, problem.budget.memory // 2 // threads)
    yield from in_order(of_span, spans, threads)


def stripes(gauge: Gauge, of_items: int, of_relevant: IntArray, memory: int) -> Iterator[slice]:
    """Slices of consecutive queries whose rankings fit into `memory` bytes.

    of_items, of_relevant : the bytes for all items, and for each query's relevant items
    """
    if gauge.stripe_rows:
        for start in range(0, len(of_relevant), gauge.stripe_rows):
            yield slice(start, min(start + gauge.stripe_rows, len(of_relevant)))
        return
    yield from cut(max(of_items, memory // LARGEST_STRIPE) + of_relevant, memory)


CROWDED = 0.03
"""The share of items nearer than the last threshold from which a tile is transposed before counting (measured)."""


class Stripe(NamedTuple):
    """Consecutive distinct query rows, and the queries that have these rows."""

    rows: slice
    start: int
    stop: int
    columns: Columns
    lock: threading.Lock


class Area(NamedTuple):
    """The tiles that are counted.

    rows, items : distinct query rows, and distinct items; with `both`, two parts of the same rows, or one part twice
    both : whether tiles are also counted for their columns, which are then query rows, too
    """

    rows: slice
    items: slice
    both: bool = False

    @property
    def sides(self) -> list[tuple[slice, slice]]:
        """Pairs of the query rows that count, and the items that they count."""
        turned = self.both and self.rows != self.items
        return [(self.rows, self.items), (self.items, self.rows)] if turned else [(self.rows, self.items)]


def whole_area(space: Space, ranked: Ranked) -> Area:
    """The area of all items for all ranked queries; with `both` if these are all queries of a leave-one-out."""
    rows = ranked.targets.row
    everything = space.symmetric and len(rows) == len(space.queries.identity)
    first, last = (0, len(space.queries)) if everything else (int(rows[0]), int(rows[-1]) + 1)
    return Area(slice(first, last), slice(0, len(space.items)), everything)


class Desk(NamedTuple):
    """The data with which a thread counts its tiles: the block of queries, and the thread's own working memory."""

    work: Work
    room: Room


class TileLoop:
    """Counts the tiles of an area for one block of ranked queries."""

    def __init__(self, space: Space, ranked: Ranked, plan: Plan, area: Area, progress: Progress) -> None:
        self.space, self.ranked, self.area, self.progress = space, ranked, area, progress
        self.side = min(plan.side, max(len(space.queries), len(space.items)))
        self.undecided, self.threads = min(plan.undecided, self.side**2), plan.threads
        self.form, self.error = space.form, space.all_errors
        self.limits = limits_of(ranked.thresholds, space.form.ratio, space.tile_type)
        self.desks: deque[Desk] = deque()  # as many as threads; each takes one for a tile and returns it
        self.stop = threading.Event()

    def run(self) -> None:
        """Count all tiles; an interruption stops every thread after its current tile."""
        self.space.keep_rows()
        to_count = list(self.tasks())
        for _ in range(min(self.threads, len(to_count))):
            self.desks.append(self.make_desk())
        if len(to_count) == 1:  # not worth starting a thread
            self.count(*to_count[0])
            return
        from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

        with ThreadPoolExecutor(self.threads) as pool:
            try:
                tasks = [pool.submit(self.count, *task) for task in to_count]
                wait(tasks, return_when=FIRST_EXCEPTION)
            finally:
                self.stop.set()
                pool.shutdown(cancel_futures=True)
            for task in tasks:
                if not task.cancelled():
                    task.result()

    def tasks(self) -> Iterator[tuple[Stripe, slice, Stripe | None]]:
        """Yield tasks: the stripe of query rows, the item rows, and the stripe for the transposed tile if any."""
        rows, items, both = self.area
        stripes = list(self.stripes(rows.start, rows.stop))
        if not both:
            for start in range(items.start, items.stop, self.side):
                for stripe in stripes:
                    yield stripe, slice(start, min(start + self.side, items.stop)), None
        elif rows == items:
            for i, stripe in enumerate(stripes):
                yield stripe, stripe.rows, None
                for other in stripes[i + 1 :]:
                    yield stripe, other.rows, other
        else:
            others = list(self.stripes(items.start, items.stop))
            for stripe in stripes:
                for other in others:
                    yield stripe, other.rows, other

    def stripes(self, first: int, last: int) -> Iterator[Stripe]:
        """Yield stripes of distinct rows with their queries."""
        targets = self.ranked.targets
        for start in range(first, last, self.side):
            rows = slice(start, min(start + self.side, last))
            span = np.searchsorted(targets.row, (rows.start, rows.stop))
            own = (int(span[0]), int(span[1]))
            yield Stripe(rows, *own, counting.columns_of(targets, self.limits, rows, *own), threading.Lock())

    def count(self, stripe: Stripe, columns: slice, other: Stripe | None) -> None:
        """Count one tile for its rows and, if its columns are another stripe, for its columns."""
        if self.stop.is_set():
            return
        entries = self.space.tile(stripe.rows, columns)
        desk = self.desks.pop()
        try:
            self.count_rows(stripe, columns, entries, desk)
            if other is not None:
                self.count_columns(other, stripe.rows, entries, desk)
        finally:
            self.desks.append(desk)
        self.progress(entries.size * (1 if other is None else 2))

    def count_rows(self, stripe: Stripe, items: slice, entries: Entries, desk: Desk) -> None:
        """Count a tile for the queries of a stripe."""
        tile, error = self.tile(stripe, items, entries)
        work, room = desk
        counted = counting.count_rows(tile, error, work, stripe.start, stripe.stop, room, stripe.lock)
        self.settle(stripe, counted, work.undecided)

    def count_columns(self, stripe: Stripe, items: slice, entries: Entries, desk: Desk) -> None:
        """Count a transposed tile for the queries of a stripe; a crowded tile is transposed back first."""
        tile, error = self.tile(stripe, items, entries)
        if counting.is_crowded(tile, stripe.columns, CROWDED):
            self.count_rows(stripe, items, counting.transposed(entries), desk)
        else:
            work, room = desk
            counted = counting.count_columns(tile, error, work, stripe.columns, room, stripe.lock)
            self.settle(stripe, counted, work.undecided)

    def settle(self, stripe: Stripe, counted: Iterator[int], undecided: Undecided) -> None:
        """Resolve the undecided items of a tile, in the batches that counting yields."""
        for used in counted:
            resolve(self.space, self.ranked, Undecided(*(part[:used] for part in undecided)), stripe.lock)
            if self.stop.is_set():
                return

    def tile(self, stripe: Stripe, items: slice, entries: Entries) -> tuple[Tile, Error]:
        """The entries of the stripe's rows and some items, as a tile with its errors."""
        error = self.error.part(stripe.rows, items)
        return Tile(entries, self.form.part(items), stripe.rows.start, items.start), error

    def make_desk(self) -> Desk:
        """The working memory of a thread."""
        ranked, queries = self.ranked, int(np.bincount(self.ranked.targets.row // self.side).max())
        room = make_room(self.side, 2 * queries, ranked.thresholds, self.space.tile_type)
        undecided = room_for_items(len(room.listed.query) + self.undecided)
        work = Work(ranked.targets, ranked.thresholds, self.limits, ranked.counts, undecided)
        return Desk(packed(work), packed(room))
