"""Count the items that are not relevant for a block of ranked queries: the one loop over tiles, in threads.

Usually, few items are as near as a threshold of a query. All other items need no counting and are skipped. In each
tile, near items are listed and then placed, or counted by buckets in rows with many of them.

A tile of codes is not even written, if its near items are few: they are found while its products are computed.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from threading import Event, Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Entries, Error, Space
from tieproof.engine.memory import MOST_THRESHOLDS, make_room, room_for_items
from tieproof.engine.pieces import NearPairs, TileSide, count_in_columns, count_in_rows, count_near, in_pieces, sift
from tieproof.engine.plan import Plan, cheapest, with_margins
from tieproof.engine.problem import Progress
from tieproof.engine.ranked import Ranked
from tieproof.engine.resolve import count_pairs, resolve
from tieproof.engine.structures import Counted, NearLimits, Targets, Thresholds, Tile, TileColumns, TileMemory, Work
from tieproof.engine.zeros import Zeros, hide_zeros, list_sharing
from tieproof.native.calls import Output, native, packed
from tieproof.native.threads import borrowed, for_each, stripes
from tieproof.ties import Array, FloatArray

DENSE = 0.3  # the number of items per threshold and row of a tile from which buckets are faster (measured)
FEW_ITEMS = 40  # up to this many items in a row are always placed one by one
FIRST_ROWS = 16  # the number of rows of a transposed tile that are sampled to see whether it is crowded
FEWEST_WRITTEN = 4  # so many more tiles of codes with many near pairs than with few are tried before all are written
CROWDED = 0.03  # the share of items nearer than the last threshold from which a tile is transposed (measured)


class RowStripe(NamedTuple):
    """Consecutive distinct query rows, and the queries that have these rows."""

    rows: slice
    start: int
    stop: int
    columns: TileColumns
    lock: Lock


SideOfPairs = tuple[RowStripe, slice, NearPairs]  # a stripe of query rows, items, and pairs of both


class Area(NamedTuple):
    """The tiles that are counted."""

    # rows, items: distinct query rows, and distinct items; with `both`, two parts of the same rows, or one part
    # twice.
    rows: slice
    items: slice
    both: bool = False  # whether tiles are also counted for their columns, which are then query rows, too

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


def count_others(space: Space, ranked: Ranked, plan: Plan, areas: Sequence[Area], progress: Progress) -> None:
    """Count the items of some areas, except the relevant ones, for the queries of a block, in the cheapest way."""
    for each in ranked.parts:
        if len(each.partial.query):  # items of which a query excludes only some, which no tile can count
            resolve(space, each, each.partial, Lock())
    chosen = cheapest(space, ranked)
    if chosen is None:
        count_pairs(space, ranked, plan, [side for area in areas for side in area.sides], progress)
    else:
        with_errors = with_margins(ranked, chosen)
        for area in areas:
            TileLoop(chosen, with_errors, plan, area, progress).run()
    ranked.hand_out()


class CountingDesk(NamedTuple):
    """The data with which a thread counts its tiles: the block of queries, and the thread's own working memory."""

    work: Work
    room: TileMemory
    near: tuple[NearPairs, NearPairs]


class TileLoop:
    """Counts the tiles of an area for one block of ranked queries."""

    def __init__(self, space: Space, ranked: Ranked, plan: Plan, area: Area, progress: Progress) -> None:
        self.space, self.ranked, self.area, self.progress = space, ranked, area, progress
        self.side = min(plan.side_of(space), max(len(space.queries), len(space.items)))
        self.undecided, self.threads = min(plan.undecided, self.side**2), plan.threads
        self.form, self.error = space.form, space.all_errors
        self.limits = limits_of(ranked.thresholds, space.form.ratio, space.tile_type)
        self.desks: deque[CountingDesk] = deque()  # as many as threads; each takes one for a tile and returns it
        self.stop = Event()
        self.zeros = Zeros(ranked.targets, space.items.weight) if space.zeros_tie else None
        few = slice(0, 1)
        self.sifts = self.zeros is not None or space.coded_tile(few, few) is not None
        self.sifted, self.written = 0, 0  # how many tiles had few near pairs, and too many

    def run(self) -> None:
        """Count all tiles; an interruption stops every thread after its current tile."""
        self.space.keep_rows()
        to_count = list(self.tasks())
        for _ in range(min(self.threads, len(to_count))):
            self.desks.append(self.make_desk())
        for_each(lambda task: self.count(*task), to_count, self.threads, self.stop, ahead=len(to_count))
        if self.zeros is not None:
            thresholds = self.ranked.thresholds
            resolve(self.space, self.ranked, self.zeros.undecided(thresholds.stop - thresholds.start), Lock())

    def tasks(self) -> Iterator[tuple[RowStripe, slice, RowStripe | None]]:
        """Yield tasks: the stripe of query rows, the item rows, and the stripe for the transposed tile if any."""
        rows, items, both = self.area
        own = list(self.stripes(rows))
        if not both:
            for columns in stripes(items.start, items.stop, self.side):
                for stripe in own:
                    yield stripe, columns, None
        elif rows == items:
            for i, stripe in enumerate(own):
                yield stripe, stripe.rows, None
                for other in own[i + 1 :]:
                    yield stripe, other.rows, other
        else:
            for stripe, other in product(own, self.stripes(items)):
                yield stripe, other.rows, other

    def stripes(self, area: slice) -> Iterator[RowStripe]:
        """Yield stripes of distinct rows with their queries."""
        targets = self.ranked.targets
        for rows in stripes(area.start, area.stop, self.side):
            start, stop = np.searchsorted(targets.row, (rows.start, rows.stop)).tolist()
            yield RowStripe(rows, start, stop, columns_of(targets, self.limits, rows, start, stop), Lock())

    def count(self, stripe: RowStripe, columns: slice, other: RowStripe | None) -> None:
        """Count one tile for its rows and, if its columns are another stripe, for its columns."""
        if self.stop.is_set():
            return
        with borrowed(self.desks) as desk:
            if not self.sift(stripe, columns, other, desk):
                entries = self.space.tile(stripe.rows, columns)
                if self.zeros is not None:
                    self.take_zeros(stripe, columns, other, entries)
                self.count_rows(stripe, columns, entries, desk)
                if other is not None:
                    self.count_columns(other, stripe.rows, entries, desk)
        size = (stripe.rows.stop - stripe.rows.start) * (columns.stop - columns.start)
        self.progress(size * (1 if other is None else 2))

    def take_zeros(self, stripe: RowStripe, columns: slice, other: RowStripe | None, entries: Entries) -> None:
        """Count the zeros of a tile for its rows and, if its columns are another stripe, for its columns."""
        assert self.zeros is not None
        with stripe.lock:
            self.zeros.take(slice(stripe.start, stripe.stop), stripe.rows.start, columns, entries)
        if other is not None:
            with other.lock:
                self.zeros.take(slice(other.start, other.stop), other.rows.start, stripe.rows, entries, turned=True)
        hide_zeros(entries)

    def sift(self, stripe: RowStripe, items: slice, other: RowStripe | None, desk: CountingDesk) -> bool:
        """Count the near pairs of a tile without writing it, if they are few, and return whether they are.

        Tiles of codes have many for items of the same classes, because relevant items are near.
        """
        if not self.sifts or self.written > FEWEST_WRITTEN + self.sifted:
            return False
        found = (
            self.near_codes(stripe, items, other, desk)
            if self.zeros is None
            else self.sharing(stripe, items, other, desk)
        )
        self.written, self.sifted = self.written + (found is None), self.sifted + (found is not None)
        for side, columns, pairs in found or ():
            self.count_near(side, columns, pairs, desk)
        return found is not None

    def near_codes(
        self, stripe: RowStripe, items: slice, other: RowStripe | None, desk: CountingDesk
    ) -> list[SideOfPairs] | None:
        """The near pairs of a tile of codes for each stripe that counts them; None if they are many."""
        coded = self.space.coded_tile(stripe.rows, items)
        assert coded is not None
        form, turned = self.form.part(items), self.form.part(stripe.rows)
        rows = TileSide(form, stripe.columns.lowest, desk.near[0])
        lowest = np.empty(0, dtype=self.space.tile_type) if other is None else other.columns.lowest
        found = sift(coded, rows, TileSide(form if other is None else turned, lowest, desk.near[1]))
        if found.of_rows < 0:
            return None
        sides = [(stripe, items, desk.near[0].first(found.of_rows))]
        return sides if other is None else [*sides, (other, stripe.rows, desk.near[1].first(found.of_columns))]

    def sharing(
        self, stripe: RowStripe, items: slice, other: RowStripe | None, desk: CountingDesk
    ) -> list[SideOfPairs] | None:
        """The same for the pairs of sparse rows that share a term; all others are counted together."""
        assert self.zeros is not None
        found, of_rows, of_items = list_sharing(self.space, stripe.rows, items, desk.near[0])
        if found < 0:
            return None
        pairs = desk.near[0].first(found)
        sides = [(stripe, items, pairs)]
        with stripe.lock:
            self.zeros.take_others(stripe.columns.first, items, pairs, of_rows)
        if other is not None:
            sides.append((other, stripe.rows, pairs.turned()))
            with other.lock:
                self.zeros.take_others(other.columns.first, stripe.rows, pairs.turned(), of_items)
        return sides

    def count_near(self, stripe: RowStripe, items: slice, pairs: NearPairs, desk: CountingDesk) -> None:
        """Count the near pairs of a tile for the queries of a stripe."""
        tile, error = self.tile(stripe, items, np.empty((0, 0), dtype=self.space.tile_type))
        work, room, first = desk.work, desk.room, stripe.columns.first

        def count(start: int, undecided: int) -> Counted:
            return count_near(pairs, tile, error, work, first, start, undecided, room)

        self.settle(stripe, count, slice(0, len(pairs.row)), error, desk)

    def count_rows(self, stripe: RowStripe, items: slice, entries: Entries, desk: CountingDesk) -> None:
        """Count a tile for the queries of a stripe."""
        tile, error = self.tile(stripe, items, entries)

        def count(query: int, undecided: int) -> Counted:
            return count_in_rows(tile, error, desk.work, query, stripe.stop, undecided, desk.room)

        self.settle(stripe, count, slice(stripe.start, stripe.stop), error, desk)

    def count_columns(self, stripe: RowStripe, items: slice, entries: Entries, desk: CountingDesk) -> None:
        """Count a transposed tile for the queries of a stripe; a crowded tile is transposed back first."""
        tile, error = self.tile(stripe, items, entries)

        def count(item: int, undecided: int) -> Counted:
            return count_in_columns(tile, error, desk.work, stripe.columns, item, undecided, desk.room)

        if is_crowded(tile, stripe.columns, CROWDED):
            self.count_rows(stripe, items, transposed(entries), desk)
        else:
            self.settle(stripe, count, slice(0, len(entries)), error, desk)

    def settle(
        self, stripe: RowStripe, count: Callable[[int, int], Counted], span: slice, error: Error, desk: CountingDesk
    ) -> None:
        """Count a span of a tile, and resolve the undecided items, in batches that fit into the memory of a desk."""
        for used in in_pieces(count, span.start, span.stop, error, desk.work, desk.room, stripe.lock):
            resolve(self.space, self.ranked, desk.work.undecided.where(slice(0, used)), stripe.lock)
            if self.stop.is_set():
                return

    def tile(self, stripe: RowStripe, items: slice, entries: Entries) -> tuple[Tile, Error]:
        """The entries of the stripe's rows and some items, as a tile with its errors."""
        error = self.error.part(stripe.rows, items)
        return Tile(entries, self.form.part(items), stripe.rows.start, items.start), error

    def make_desk(self) -> CountingDesk:
        """The working memory of a thread."""
        ranked, queries = self.ranked, int(np.bincount(self.ranked.targets.row // self.side).max())
        room = make_room(self.side, 2 * queries, ranked.thresholds, self.space.tile_type)
        undecided = room_for_items(len(room.listed.query) + self.undecided)
        work = Work(ranked.targets, ranked.thresholds, self.limits, ranked.counts, undecided)
        near = [NearPairs.room(self.side if self.sifts else 0, self.space.tile_type) for _ in range(2)]
        return CountingDesk(packed(work), packed(room), (near[0], near[1]))


def limits_of(thresholds: Thresholds, ratio: bool, dtype: npt.DTypeLike) -> NearLimits:
    """The limits of near items in tiles of a dtype, and the number of near items from which buckets are used."""
    length = thresholds.stop - thresholds.start
    few = np.where(length <= MOST_THRESHOLDS, FEW_ITEMS + DENSE * length, np.inf)
    few[length == 0] = -1.0
    with np.errstate(over="ignore"):
        return NearLimits(lowest_entries(thresholds, ratio).astype(dtype), few)


def lowest_entries(thresholds: Thresholds, ratio: bool) -> FloatArray:
    """The smallest tile entry with which an item may be as near as each query's last threshold."""
    some = thresholds.stop > thresholds.start
    far = thresholds.key[thresholds.stop[some] - 1] - thresholds.reach[some]
    if ratio:
        far = np.copysign(np.sqrt(np.abs(far)), far)
    lowest = np.full(len(some), np.inf)
    lowest[some] = far - thresholds.margin[some]
    return lowest


def columns_of(targets: Targets, limits: NearLimits, rows: slice, start: int, stop: int) -> TileColumns:
    """The limits for counting a transposed tile, for query rows and their queries start … stop-1."""
    row = targets.row[start:stop] - rows.start
    lowest = np.full(rows.stop - rows.start, np.inf, dtype=limits.lowest.dtype)
    np.minimum.at(lowest, row, limits.lowest[start:stop])
    return TileColumns(lowest, start + np.searchsorted(row, np.arange(len(lowest) + 1)))


def is_crowded(tile: Tile, columns: TileColumns, share: float) -> bool:
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
