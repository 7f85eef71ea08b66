"""The k nearest items of all queries with the whole tie at rank k: a loop over tiles with one threshold per query."""

from collections.abc import Callable, Iterator
from copy import copy
from threading import Event, Lock

import numpy as np

from tieproof.distances import Distance
from tieproof.distances.exact.bounds import check_products, single_threaded
from tieproof.distances.space import FLOAT64, Entries, Space
from tieproof.engine.counting import transposed
from tieproof.engine.keeping import Candidates, Kept, keep_near, keep_near_of_codes, narrow_all, nearer
from tieproof.engine.listed import Admit, NearestLists, RowMembers, TiedRows, listed
from tieproof.engine.plan import SMALLEST_SIDE, Plan, cheapest_for_nearest
from tieproof.engine.problem import Progress, Search, Watch
from tieproof.engine.ranked import left_out
from tieproof.engine.ranking import exact_order
from tieproof.engine.rounded import RoundedSpace
from tieproof.engine.structures import Tile
from tieproof.engine.zeros import compared_ones, hide_zeros
from tieproof.inputs.relevance import Unjudged
from tieproof.native.threads import cut, for_each, in_order
from tieproof.ties import BoolArray, FloatArray, IntArray

SHARE = 0.15  # the share of the budget for the items that are kept while tiles pass, and for those that are listed

BYTES_PER_CANDIDATE, FEWEST_CANDIDATES, MOST_CANDIDATES = 300, 2**14, 2**17
"""The memory for an item while its exact place is found, and the limits of how many items are taken at a time."""

ROOM, FEWEST = 8, 64  # there is room for so many times k items of a query, and so many more, before it is enlarged

BYTES_PER_LISTED, FEWEST_LISTED = 100, 2**14
"""The memory for an item while it is listed, and how many items are always listed at a time."""

CROWDED, SHARPENED = 4, 64
"""If queries have more than so many times k items, finer keys raise their floors: the first time after so many."""

WIDEST, BYTES_PER_NUMBER = 2**13, 20
"""The most items of a tile, because tiles of few queries are wide; and the memory for a number of their rows, which
may be converted for each tile."""

FEWEST_DIMENSIONS = 32  # with fewer dimensions, computing a tile twice takes less time than transposing it (measured)


def lists_by_tiles(
    problem: Search, space: Space, k: int, watch: Watch, admit: Admit, queries: IntArray | None
) -> Iterator[NearestLists]:
    """The k nearest items of all queries, or of some; arguments as in `nearest_lists`."""
    plan = Plan(problem.budget)
    check_products(max(len(space.queries), len(space.items)))
    with watch(len(space.queries) * len(space.items)) as advance, single_threaded():
        chosen = cheapest_for_nearest(space, k)
        chosen.keep_rows()
        search = NearestLoop(chosen, problem, plan, k, advance, admit)
        if queries is not None:  # whose rows may be far apart
            stripes: Iterator[QueryStripe | IntArray] = iter(queries[:, None])
        else:
            stripes = search.stripes_of_both() if search.can_show_to_both() else search.stripes()
        for lists in in_order(search.lists_of, stripes, plan.threads, search.stop):
            yield from lists


def distances_in(space: Space, distance: Distance) -> Callable[[IntArray, IntArray], FloatArray]:
    """The function that returns the distances of pairs of rows of a space, each rounded once; it keeps no rows."""
    if isinstance(space, RoundedSpace):
        return space.distances
    lean = copy(space.as_passed)
    lean.choose_tiles(space.resources._replace(keep_bytes=0, dtype=FLOAT64))
    return distance.gauge(lean).distances


class NoRoomError(Exception):
    """The items that may be near do not fit into the memory of a stripe of several queries."""


class NearestLoop:
    """What all threads read while they find the nearest items of one stripe of queries each.

    rows : so many distinct rows have at least k items, if the gallery has so many
    """

    def __init__(self, space: Space, problem: Search, plan: Plan, k: int, advance: Progress, admit: Admit) -> None:
        assert isinstance(problem.distance, Distance)
        self.space, self.excluded, self.k, self.advance, self.admit = space, problem.excluded, k, advance, admit
        self.rows, self.threads, self.side = min(k, len(space.items)), plan.threads, plan.side_of(space)
        self.distances = distances_in(space, problem.distance)
        self.members = RowMembers.of(space.items.identity, len(space.items))
        self.memory = int(SHARE * plan.memory)
        self.bytes = self.memory // plan.threads
        self.room = min(ROOM * self.rows + FEWEST, len(space.items))
        self.bytes_of_query = (4 + space.tile_type.itemsize) * self.room
        self.stop = Event()

    def stripes(self) -> Iterator[IntArray]:
        """Yield queries in the order of their rows."""
        order = np.argsort(self.space.queries.identity, kind="stable")
        size = max(1, min(self.side, -(-len(order) // self.threads), self.bytes // self.bytes_of_query))
        for start in range(0, len(order), size):
            yield order[start : start + size]

    def can_show_to_both(self) -> bool:
        """Whether it pays to show a tile to the queries of its rows and of its columns, whose items all have room."""
        space, few = self.space, slice(0, 1)
        if not space.symmetric or space.items.dimensions < FEWEST_DIMENSIONS:
            return False
        if space.bits is not None or space.coded_tile(few, few) is not None:
            return False
        without_groups = isinstance(self.excluded, Unjudged) and self.excluded.of_groups is None
        return without_groups and len(space.items.identity) * self.bytes_of_query <= self.memory

    def stripes_of_both(self) -> "Iterator[QueryStripe | IntArray]":
        """Yield stripes that have seen all tiles, each of which is computed once; or queries that had no room."""
        stripes = [QueryStripe(self, queries) for queries in self.stripes()]
        for number, stripe in enumerate(stripes):
            stripe.bytes = self.memory // len(stripes)
            if number:  # whose last row may be the first one here
                stripe.own = slice(stripes[number - 1].span.stop, stripe.span.stop)
        count = len(stripes)
        pairs = ((stripes[i], stripes[i + step]) for step in range(count) for i in range(count - step))
        for_each(self.show_to_both, pairs, self.threads, self.stop)
        while stripes:
            stripe = stripes.pop()
            yield stripe.queries if stripe.without_room else stripe

    def show_to_both(self, pair: "tuple[QueryStripe, QueryStripe]") -> None:
        """Compute the tile of two stripes, and show it to both."""
        if self.stop.is_set():
            return
        first, second = pair
        tile = first.tile(second.span)
        first.look_at(tile[:, second.own.start - second.span.start :], second.own)
        if first is not second:
            second.look_at(transposed(tile[first.own.start - first.span.start :]), first.own)

    def lists_of(self, queries: "QueryStripe | IntArray") -> list[NearestLists]:
        """The lists of a stripe, or of queries; if those do not fit into memory together, they are divided."""
        if isinstance(queries, QueryStripe):
            return list(queries.lists())
        try:
            stripe = QueryStripe(self, queries)
            stripe.pass_tiles()
            return list(stripe.lists())
        except NoRoomError:
            first, second = np.array_split(queries, 2)
        return self.lists_of(first) + self.lists_of(second)

    def lists_with_zeros(self, queries: IntArray) -> Iterator[NearestLists]:
        """The lists of queries that need the items that share no term with them, all of which get room."""
        size = max(1, self.bytes // ((4 + self.space.tile_type.itemsize) * len(self.space.items)))
        for start in range(0, len(queries), size):
            stripe = QueryStripe(self, queries[start : start + size], hides=False)
            stripe.pass_tiles()
            self.advance(-stripe.done)  # these pairs were looked at before
            yield from stripe.lists()


class QueryStripe:
    """Some queries, in the order of their rows, and the items that may be among their nearest.

    span : the rows of the queries; own : those that no stripe before has
    bytes : the memory for the items that are kept
    hides : whether items that share no term with a query are left out, until it turns out that they are needed
    done : how many pairs were looked at
    without_room : whether an item found no room, so that the stripe is of no use
    """

    def __init__(self, search: NearestLoop, queries: IntArray, hides: bool = True) -> None:
        self.hides = hides and search.space.zeros_tie
        self.search, self.space, self.k, self.queries = search, search.space, search.rows, queries
        self.rows = self.space.queries.identity[queries]
        self.block = search.excluded.block(queries)
        self.targets, self.partial = left_out(self.space, self.rows, self.block)
        self.span = self.own = slice(int(self.rows[0]), int(self.rows[-1]) + 1)
        height = self.span.stop - self.span.start
        fitting = max(search.bytes // BYTES_PER_NUMBER // self.space.items.dimensions, SMALLEST_SIDE)
        widest = max(search.side, min(search.side**2 // height, WIDEST))
        self.width = min(widest, fitting, len(self.space.items))
        room = search.room if hides else len(self.space.items)
        self.kept = Kept.of(*self.space.margin(self.rows), room, 2 * self.k, self.space.tile_type)
        if self.hides:
            self.kept.lowest[:] = np.finfo(self.space.tile_type).min
        self.close = np.empty(max(self.width, search.side) + 8, dtype=np.uint32)
        self.bytes, self.done, self.without_room, self.lock = search.bytes, 0, False, Lock()

    def lists(self) -> Iterator[NearestLists]:
        """Yield the nearest items of the queries, some queries at a time if there are many candidates."""
        narrow_all(self.kept, self.k)
        complete = self.kept.floor > 0  # k items are nearer than those that share no term
        if self.hides and not complete.all():
            yield from self.search.lists_with_zeros(self.queries[~complete])
            if complete.any():
                rest = QueryStripe(self.search, self.queries[complete])
                rest.kept = self.kept.of_queries(complete)
                yield from rest.lists()
            return
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
            distance = search.distances(self.rows[some[of_some.query[first]]], of_some.row[first])
            left_out = None if excluded is None else excluded - some[0] * len(self.space.items.identity)
            yield listed(self.queries[some], of_some, distance, search.k, search.members, left_out, search.admit)

    def pass_tiles(self) -> None:
        """Keep the near items of all tiles; NoRoomError if there is no room for them."""
        space, search = self.space, self.search
        crowded = CROWDED * self.k * len(self.queries)
        sharper = SHARPENED * self.k * (self.span.stop - self.span.start)
        for tile in scattered(len(space.items), self.width):
            for columns in self.in_steps(tile):
                if search.stop.is_set():
                    return
                if not self.keep(self.keeper(columns), columns):
                    raise NoRoomError
                if self.done >= sharper:
                    sharper = 4 * self.done
                    if self.kept.size.sum() > crowded:
                        self.kept.sharpen(space, self.rows, self.k)

    def look_at(self, entries: Entries, columns: slice) -> None:
        """Keep the near items of a tile, unless there was no room before."""
        with self.lock:
            for some in self.in_steps(columns):
                part = entries[:, some.start - columns.start : some.stop - columns.start]
                if self.without_room or not self.keep(self.keeper_of(part, some), some):
                    self.without_room = True
                    return

    def in_steps(self, columns: slice) -> Iterator[slice]:
        """The columns of a tile; while there are no floors, at first only as many as there is room for."""
        middle = min(columns.start + self.search.room, columns.stop) if not self.done else columns.start
        for start, stop in ((columns.start, middle), (middle, columns.stop)):
            if start < stop:
                yield slice(start, stop)

    def keep(self, keep: Callable[[Kept], int], columns: slice) -> bool:
        """Keep the near items of a tile of some columns, and return whether there is room for them."""
        tries = 0
        while keep(self.kept) < len(self.queries):
            tries += 1
            if not self.has_made_room(tries):
                self.search.advance(-self.done)
                return False
        pairs = (self.span.stop - self.span.start) * (columns.stop - columns.start)
        self.search.advance(pairs)
        self.done += pairs
        return True

    def keeper(self, columns: slice) -> Callable[[Kept], int]:
        """A function that keeps the near items of a tile; it returns a query without room, if there is one."""
        coded = self.space.coded_tile(self.span, columns)
        if coded is None:
            return self.keeper_of(self.tile(columns), columns)
        form = self.space.form.part(columns)
        return lambda kept: keep_near_of_codes(coded, form, self.targets, kept, self.k)

    def tile(self, columns: slice) -> Entries:
        """The entries of the rows and some items, of which those are hidden that are left out."""
        entries = self.space.tile(self.span, columns)
        if self.hides:
            hide_zeros(entries)
        return entries

    def keeper_of(self, entries: Entries, columns: slice) -> Callable[[Kept], int]:
        """Such a function for a tile that was computed."""
        tile = Tile(entries, self.space.form.part(columns), self.span.start, columns.start)
        return lambda kept: keep_near(tile, self.targets, kept, self.k, self.space.entries_are_nearness, self.close)

    def has_made_room(self, tries: int) -> bool:
        """Make room for the items of a tile: more memory or, the first time, by finer keys of crowded queries."""
        room, several = self.kept.item.shape[1], len(self.queries) > 1
        entry = 4 + self.kept.value.itemsize
        if several and len(self.queries) * 3 * room * entry > self.bytes:
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
        compared, number = compared_ones(self.space, found.query, found.value)
        ordered = exact_order(self.space, self.rows, found.query[compared], found.item[compared])
        place = np.empty_like(ordered.order)
        place[ordered.order] = np.arange(len(place))
        order = np.argsort(place[number], kind="stable")
        first = np.diff(number[order], prepend=-1) != 0
        starts_tie = np.diff(found.query, prepend=-1) > 0
        starts_tie[first] |= ordered.starts_tie
        return found.where(order), starts_tie

    def ranked_items(self, found: Candidates) -> tuple[IntArray, IntArray | None]:
        """How many items each row has that its query ranks, and the excluded items if some row has fewer than all.

        An excluded item is given as position of the query * number of items + item.
        """
        count = self.space.items.weight[found.item]
        pair, rest = self.partial
        if not len(pair):
            return count, None
        sought = found.query * len(self.space.items) + found.item
        place = np.minimum(np.searchsorted(pair, sought), len(pair) - 1)
        position = np.repeat(np.arange(len(self.queries)), np.diff(self.block.excluded_pointer))
        excluded = position * len(self.space.items.identity) + self.block.excluded
        return np.where(pair[place] == sought, rest[place], count), excluded


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
