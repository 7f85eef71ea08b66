"""The k nearest items of all queries with the whole tie at rank k: a loop over tiles with one threshold per query."""

from collections.abc import Callable, Iterator
from copy import copy
from threading import Event
from typing import NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import FLOAT64, Space
from tieproof.engine.keeping import Candidates, Kept, keep_near, keep_near_of_codes, narrow_all, nearer
from tieproof.engine.listed import Admit, Members, NearestLists, TiedRows, listed
from tieproof.engine.nearest import neighbors_of
from tieproof.engine.plan import SMALLEST_SIDE, Plan, cheapest_for_nearest, cut
from tieproof.engine.ranked import Masks, RoomToSort
from tieproof.engine.ranking import exact_order
from tieproof.engine.structures import Targets, Tile
from tieproof.exact.bounds import check_products, single_threaded
from tieproof.inputs.relevance import RelevantBlock, pointers
from tieproof.native.threads import in_order
from tieproof.problem import Problem, Progress, Watch
from tieproof.ties import BoolArray, IntArray

SHARE, ROWS = 0.15, 0.2
"""The shares of the budget for the items that are kept while tiles pass, for those that are compared and listed, and
for the rows of each side that are converted once."""

BYTES_PER_CANDIDATE, FEWEST_CANDIDATES, MOST_CANDIDATES = 300, 2**14, 2**17
"""The memory for an item while its exact place is found, and the limits of how many items are taken at a time."""

ROOM, FEWEST = 8, 64
"""There is room for so many times k items of a query, and so many more, before it is enlarged."""

BYTES_PER_LISTED, FEWEST_LISTED = 100, 2**14
"""The memory for an item while it is listed, and how many items are always listed at a time."""

CROWDED, SHARPENED = 4, 64
"""If queries have more than so many times k items, finer keys raise their floors: the first time after so many."""

WIDEST, BYTES_PER_NUMBER = 2**13, 20
"""The most items of a tile, because tiles of few queries are wide; and the memory for a number of their rows, which may
be converted for each tile."""


def nearest_space(problem: Problem) -> Space | None:
    """The space in which `nearest_lists` ranks; None for a distance function."""
    if not isinstance(problem.distance, Distance):
        return None
    plan = Plan(problem.budget)
    plan.resources = plan.resources._replace(keep_bytes=int(ROWS * plan.memory))
    return plan.space_of(problem)


def nearest_lists(
    problem: Problem, space: Space | None, k: int, watch: Watch, admit: Admit
) -> Iterator[NearestLists]:
    """The k nearest items of all queries, with all items that are tied with the last one; each query occurs once.

    space : what `nearest_space` returned
    """
    if space is None:
        yield from _by_function(problem, k, watch, admit)
        return
    plan = Plan(problem.budget)
    check_products(max(len(space.queries), len(space.items)))
    with watch(len(space.queries) * len(space.items)) as advance, single_threaded():
        chosen = cheapest_for_nearest(space, k)
        chosen.keep_rows()
        search = Search(chosen, problem, plan, k, advance, admit)
        try:
            for lists in in_order(search.lists_of, search.stripes(), plan.threads):
                yield from lists
        finally:
            search.stop.set()


def _by_function(problem: Problem, k: int, watch: Watch, admit: Admit) -> Iterator[NearestLists]:
    """The lists by a distance function, query by query."""
    n_queries, n_items = problem.relevance.n_queries, problem.relevance.n_items
    everyone = Members(np.arange(n_items + 1), np.arange(n_items))
    with watch(problem.pairs) as advance:
        for query, near in enumerate(neighbors_of(problem, np.arange(n_queries), k)):
            starts_tie = np.diff(near.tie, prepend=-1) > 0
            tied = TiedRows(np.zeros_like(near.item), near.item, starts_tie, np.ones_like(near.item)).within(k)
            yield listed(np.array([query]), tied, near.distance, k, everyone, None, admit)
            advance(n_items)


def gauge_of(distance: Distance, space: Space) -> SpaceGauge:
    """A gauge of the rows of a space, for distances of single pairs only: it keeps no rows."""
    lean = copy(space.as_passed)
    lean.choose_tiles(space.resources._replace(keep_bytes=0, dtype=FLOAT64))
    return distance.gauge(lean)


class NoRoomError(Exception):
    """The items that may be near do not fit into the memory of a stripe of several queries."""


class Search:
    """What all threads read while they find the nearest items of one stripe of queries each.

    rows : so many distinct rows have at least k items, if the gallery has so many
    """

    def __init__(self, space: Space, problem: Problem, plan: Plan, k: int, advance: Progress, admit: Admit) -> None:
        assert isinstance(problem.distance, Distance)
        self.space, self.relevance, self.k, self.advance, self.admit = space, problem.relevance, k, advance, admit
        self.rows, self.threads, self.side = min(k, len(space.items)), plan.threads, plan.side
        self.gauge = gauge_of(problem.distance, space)
        self.members = Members.of(space.items.identity, len(space.items))
        self.bytes = int(SHARE * plan.memory / plan.threads)
        self.stop = Event()

    def stripes(self) -> Iterator[IntArray]:
        """Yield queries in the order of their rows."""
        order = np.argsort(self.space.queries.identity, kind="stable")
        entry = 4 + self.space.tile_type.itemsize
        fitting = self.bytes // (entry * min(ROOM * self.rows + FEWEST, len(self.space.items)))
        size = max(1, min(self.side, -(-len(order) // self.threads), fitting))
        for start in range(0, len(order), size):
            yield order[start : start + size]

    def lists_of(self, queries: IntArray) -> list[NearestLists]:
        """The lists of some queries; if these do not fit into memory together, they are found in two parts."""
        try:
            return list(Stripe(self, queries).lists())
        except NoRoomError:
            first, second = np.array_split(queries, 2)
        return self.lists_of(first) + self.lists_of(second)


class Stripe:
    """Some queries, in the order of their rows, and the items that may be among their nearest."""

    def __init__(self, search: Search, queries: IntArray) -> None:
        self.search, self.space, self.k, self.queries = search, search.space, search.rows, queries
        self.rows = self.space.queries.identity[queries]
        self.block = search.relevance.block(queries)
        self.left_out = LeftOut.of(self.space, self.block)
        self.targets = Targets(self.rows, *self.left_out.masks)
        height = int(self.rows[-1] - self.rows[0]) + 1
        fitting = max(search.bytes // BYTES_PER_NUMBER // self.space.items.dimensions, SMALLEST_SIDE)
        widest = max(search.side, min(search.side**2 // height, WIDEST))
        self.width = min(widest, fitting, len(self.space.items))
        room = min(ROOM * self.k + FEWEST, len(self.space.items))
        self.kept = Kept.of(*self.space.margin(self.rows), room, 2 * self.k, self.space.tile_type)
        self.close = np.empty(self.width + 8, dtype=np.uint32)

    def lists(self) -> Iterator[NearestLists]:
        """Yield the nearest items of the queries, some queries at a time if there are many candidates."""
        self.pass_tiles()
        narrow_all(self.kept, self.k)
        self.kept.sharpen(self.space, self.rows, self.k)
        for places in self.parts(np.arange(len(self.queries))):
            yield from self.lists_of(places)

    def parts(self, queries: IntArray) -> Iterator[IntArray]:
        """Yield the places of queries whose items are compared together."""
        most = min(max(self.search.bytes // BYTES_PER_CANDIDATE, FEWEST_CANDIDATES), MOST_CANDIDATES)
        for part in cut(self.kept.size[queries], most):
            yield queries[part]

    def lists_of(self, places: IntArray) -> Iterator[NearestLists]:
        """Yield the nearest items of the queries at consecutive places, some at a time if their ties are large."""
        search = self.search
        found = nearer(self.space, self.rows, self.kept, places, self.k)
        found, starts_tie = self.ordered(found)
        weight, excluded = self.ranked_items(found)
        tied = TiedRows(found.query, found.item, starts_tie, weight).within(search.k)
        items = np.bincount(tied.query, tied.weight, len(self.queries)).astype(np.int64)[places]
        for part in cut(items, max(search.bytes // BYTES_PER_LISTED, FEWEST_LISTED)):
            some = places[part]
            of_some = tied.of_queries(int(some[0]), int(some[-1]) + 1)
            first = of_some.first()
            distance = search.gauge.distances(self.rows[some[of_some.query[first]]], of_some.row[first])
            left_out = None if excluded is None else excluded - some[0] * len(self.space.items.identity)
            yield listed(self.queries[some], of_some, distance, search.k, search.members, left_out, search.admit)

    def pass_tiles(self) -> None:
        """Keep the near items of all tiles."""
        space, search = self.space, self.search
        rows = slice(int(self.rows[0]), int(self.rows[-1]) + 1)
        height = rows.stop - rows.start
        done, crowded = 0, CROWDED * self.k * len(self.queries)
        sharper = SHARPENED * self.k * height
        for columns in self.columns():
            if search.stop.is_set():
                return
            keep, tries = self.keeper(rows, columns), 0
            while keep(self.kept) < len(self.queries):
                tries += 1
                if not self.has_made_room(tries):
                    search.advance(-done)
                    raise NoRoomError
            pairs = height * (columns.stop - columns.start)
            search.advance(pairs)
            done += pairs
            if done >= sharper:
                sharper = 4 * done
                if self.kept.size.sum() > crowded:
                    self.kept.sharpen(space, self.rows, self.k)

    def columns(self) -> Iterator[slice]:
        """Yield slices of all items; the first has only as many as there is room for, until there are floors."""
        tiles = scattered(len(self.space.items), self.width)
        first, room = next(tiles), self.kept.item.shape[1]
        yield slice(first.start, min(first.start + room, first.stop))
        if first.stop - first.start > room:
            yield slice(first.start + room, first.stop)
        yield from tiles

    def keeper(self, rows: slice, columns: slice) -> Callable[[Kept], int]:
        """A function that keeps the near items of a tile; it returns a query without room, if there is one."""
        space, form = self.space, self.space.form.part(columns)
        coded = space.coded_tile(rows, columns)
        if coded is not None:
            return lambda kept: keep_near_of_codes(coded, form, self.targets, kept, self.k)
        tile, plain = Tile(space.tile(rows, columns), form, rows.start, columns.start), space.entries_are_nearness
        return lambda kept: keep_near(tile, self.targets, kept, self.k, plain, self.close)

    def has_made_room(self, tries: int) -> bool:
        """Make room for the items of a tile: more memory or, the first time, by finer keys of crowded queries."""
        room, several = self.kept.item.shape[1], len(self.queries) > 1
        entry = 4 + self.kept.value.itemsize
        if several and len(self.queries) * 3 * room * entry > self.search.bytes:
            self.sift(np.flatnonzero(self.kept.size > room // 2))
            return tries == 1
        self.kept = self.kept.with_room(min(2 * room, len(self.space.items)))
        return True

    def sift(self, crowded: IntArray) -> None:
        """Drop what finer or exact keys show not to be among the nearest items of crowded queries so far."""
        for places in self.parts(crowded):
            found = nearer(self.space, self.rows, self.kept, places, self.k)
            if (np.bincount(found.query) > 2 * self.k).any():
                found, starts_tie = self.ordered(found)
                near = TiedRows(found.query, np.arange(len(found.query)), starts_tie, np.ones_like(found.query))
                found = found.where(near.within(self.k).row)
            self.kept.keep(places, found)

    def ordered(self, found: Candidates) -> tuple[Candidates, BoolArray]:
        """The candidates of each query, nearest first, and whether a tie starts at each of them."""
        if not len(found.query):
            return found, np.zeros(0, dtype=np.bool_)
        room = RoomToSort.of(int(np.bincount(found.query).max()))
        ordered = exact_order(self.space, self.rows, found.query, found.item, room)
        starts_tie = ordered.starts_tie | (np.diff(found.query, prepend=-1) > 0)
        return found.where(ordered.order), starts_tie

    def ranked_items(self, found: Candidates) -> tuple[IntArray, IntArray | None]:
        """How many items each row has that its query ranks, and the excluded items if some row has fewer than all.

        An excluded item is given as position of the query * number of items + item.
        """
        count = self.space.items.weight[found.item]
        pair, rest = self.left_out.partial
        if not len(pair):
            return count, None
        sought = found.query * len(self.space.items) + found.item
        place = np.minimum(np.searchsorted(pair, sought), len(pair) - 1)
        position = np.repeat(np.arange(len(self.queries)), np.diff(self.block.excluded_pointer))
        excluded = position * len(self.space.items.identity) + self.block.excluded
        return np.where(pair[place] == sought, rest[place], count), excluded


class LeftOut(NamedTuple):
    """The rows of which queries rank no items, or fewer than all.

    masks : the rows of which a query ranks no items
    partial : pairs of a query and a row of which it ranks some items, as position * rows + row, ascending, and how
        many items these are
    """

    masks: Masks
    partial: tuple[IntArray, IntArray]

    @classmethod
    def of(cls, space: Space, block: RelevantBlock) -> "LeftOut":
        """The rows of the items that are excluded."""
        count, n_rows = len(block.excluded_pointer) - 1, len(space.items)
        position = np.repeat(np.arange(count), np.diff(block.excluded_pointer))
        pair, excluded = np.unique(position * n_rows + space.items.identity[block.excluded], return_counts=True)
        rest = space.items.weight[pair % n_rows] - excluded
        whole = pair[rest == 0]
        # A run ends where the next row is not left out, or belongs to another query.
        starts = np.flatnonzero((np.diff(whole, prepend=-2) != 1) | (whole % n_rows == 0))
        first, length = whole[starts], np.diff(np.append(starts, len(whole)))
        run = np.stack([first % n_rows, first % n_rows + length], axis=1).astype(np.int32)
        ends = pointers(first // n_rows, count)
        return cls(Masks(ends[:-1], ends[1:], run), (pair[rest > 0], rest[rest > 0]))


def scattered(count: int, width: int) -> Iterator[slice]:
    """Yield slices of all items, in an order in which neighbors are far apart: a gallery may be sorted.

    >>> [tile.start for tile in scattered(9, 2)]
    [0, 6, 2, 8, 4]
    """
    tiles = -(-count // width)
    step = max(1, int(tiles * 0.618))
    while np.gcd(step, tiles) != 1:
        step += 1
    for number in range(tiles):
        start = number * step % tiles * width
        yield slice(start, min(start + width, count))
