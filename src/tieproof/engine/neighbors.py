"""The k nearest items of all queries with the whole tie at rank k: a loop over tiles with one threshold per query."""

from collections.abc import Iterator
from copy import copy
from threading import Event
from typing import NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import FLOAT64, Space
from tieproof.engine.keeping import Candidates, Kept, keep_near, narrow_all, nearer
from tieproof.engine.listed import Admit, Members, NearestLists, TiedRows, joined, listed
from tieproof.engine.nearest import neighbors_of
from tieproof.engine.plan import Plan, cheapest_for_nearest, cut
from tieproof.engine.ranked import Masks, RoomToSort
from tieproof.engine.ranking import exact_order
from tieproof.engine.structures import Targets, Tile
from tieproof.exact.bounds import check_products, single_threaded
from tieproof.inputs.relevance import RelevantBlock, pointers
from tieproof.native.threads import in_order
from tieproof.problem import Problem, Progress, Watch
from tieproof.ties import BoolArray, IntArray

SHARE, ROWS = 0.25, 0.3
"""The shares of the budget for the items that are kept while tiles pass, and for rows that are converted once."""

BYTES_PER_CANDIDATE, FEWEST_CANDIDATES = 300, 2**14
"""The memory for an item while its exact place is found, and how many items are always taken at a time."""

WIDEST = 2**13
"""The most items of a tile; tiles of few queries are wide."""


def nearest_lists(problem: Problem, k: int, watch: Watch, admit: Admit) -> Iterator[NearestLists]:
    """The k nearest items of all queries, with all items that are tied with the last one; each query occurs once."""
    if not isinstance(problem.distance, Distance):
        yield from _by_function(problem, k, watch, admit)
        return
    plan = Plan(problem.budget)
    plan.resources = plan.resources._replace(keep_bytes=int(ROWS * plan.memory))
    space = plan.space_of(problem)
    check_products(max(len(space.queries), len(space.items)))
    with watch(len(space.queries) * len(space.items)) as advance, single_threaded():
        chosen = cheapest_for_nearest(space, k)
        chosen.keep_rows()
        search = Search(chosen, problem, plan, k, advance, admit)
        try:
            yield from in_order(search.lists_of, search.stripes(), plan.threads)
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
        fitting = self.bytes // (entry * (4 * self.rows + 2 * self.side))
        size = max(1, min(self.side, -(-len(order) // self.threads), fitting))
        for start in range(0, len(order), size):
            yield order[start : start + size]

    def lists_of(self, queries: IntArray) -> NearestLists:
        """The lists of some queries; if these do not fit into memory together, they are found in two parts."""
        try:
            return Stripe(self, queries).lists()
        except NoRoomError:
            return joined([self.lists_of(half) for half in np.array_split(queries, 2)])


class Stripe:
    """Some queries, in the order of their rows, and the items that may be among their nearest."""

    def __init__(self, search: Search, queries: IntArray) -> None:
        self.search, self.space, self.k, self.queries = search, search.space, search.rows, queries
        self.rows = self.space.queries.identity[queries]
        self.block = search.relevance.block(queries)
        self.left_out = LeftOut.of(self.space, self.block)
        self.targets = Targets(self.rows, *self.left_out.masks)
        margin, self.relative = self.space.margin(self.rows)
        height = int(self.rows[-1] - self.rows[0]) + 1
        self.width = min(max(search.side, min(search.side**2 // height, WIDEST)), len(self.space.items))
        self.kept = Kept.of(margin, 4 * self.k + 2 * self.width, 2 * self.k, self.space.tile_type)
        self.close = np.empty(self.width + 8, dtype=np.uint32)

    def lists(self) -> NearestLists:
        """The nearest items of the queries, some queries at a time if there are many candidates."""
        self.pass_tiles()
        narrow_all(self.kept, self.k, self.relative)
        most = max(self.search.bytes // BYTES_PER_CANDIDATE, FEWEST_CANDIDATES)
        return joined([self.lists_of(np.arange(part.start, part.stop)) for part in cut(self.kept.size, most)])

    def lists_of(self, places: IntArray) -> NearestLists:
        """The nearest items of the queries at consecutive places."""
        search = self.search
        found = nearer(self.space, self.rows, self.kept.candidates(places), self.k, self.kept.floor)
        found, starts_tie = self.ordered(found)
        weight, excluded = self.ranked_items(found)
        tied = TiedRows(found.query, found.item, starts_tie, weight).within(search.k)
        first = tied.first()
        distance = search.gauge.distances(self.rows[tied.query[first]], tied.row[first])
        if excluded is not None:
            excluded = excluded - places[0] * len(self.space.items.identity)
        tied = tied._replace(query=tied.query - places[0])
        return listed(self.queries[places], tied, distance, search.k, search.members, excluded, search.admit)

    def pass_tiles(self) -> None:
        """Keep the near items of all tiles."""
        space, search = self.space, self.search
        rows = slice(int(self.rows[0]), int(self.rows[-1]) + 1)
        done = 0
        for columns in scattered(len(space.items), self.width):
            if search.stop.is_set():
                return
            entries = space.tile(rows, columns)
            tile = Tile(entries, space.form.part(columns), rows.start, columns.start)
            query = self.keep(tile, 0)
            while query < len(self.queries):
                if not self.has_made_room(query):
                    search.advance(-done)
                    raise NoRoomError
                query = self.keep(tile, query)
            search.advance(entries.size)
            done += entries.size

    def keep(self, tile: Tile, query: int) -> int:
        """Keep the near items of a tile for the queries from `query` on; return the first one without room."""
        plain = self.space.entries_are_nearness
        return keep_near(tile, self.targets, self.kept, query, self.k, self.relative, plain, self.close)

    def has_made_room(self, query: int) -> bool:
        """Make room for as many items of a query as a tile has: more memory, or finer keys of crowded queries."""
        room, several = self.kept.item.shape[1], len(self.queries) > 1
        entry = 4 + self.kept.value.itemsize
        if several and len(self.queries) * 2 * room * entry > self.search.bytes:
            self.sift(np.flatnonzero(self.kept.size > room // 2))
            return bool(self.kept.size[query] + self.width <= room)
        self.kept = self.kept.with_room(2 * room)
        return True

    def sift(self, crowded: IntArray) -> None:
        """Drop what finer or exact keys show not to be among the nearest items of crowded queries so far."""
        floor = np.full(len(self.queries), -np.inf)
        found = nearer(self.space, self.rows, self.kept.candidates(crowded), self.k, floor)
        if (np.bincount(found.query) > 2 * self.k).any():
            found, starts_tie = self.ordered(found)
            near = TiedRows(found.query, np.arange(len(found.query)), starts_tie, np.ones_like(found.query))
            found = found.where(near.within(self.k).row)
        self.kept.keep(crowded, found, floor[crowded])

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
