"""How much is computed at a time, so that memory stays within its budget; and which kind of tiles is cheapest."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances import Distance, codes, long_codes, make_space
from tieproof.distances.codes import MATRIX_UNIT
from tieproof.distances.gauge import LARGEST_STRIPE, Gauge, resources_of_gauge
from tieproof.distances.short_sums import SUMMED, sums_by_vectors
from tieproof.distances.space import Resources, Space
from tieproof.engine.problem import Budget, Problem, Search
from tieproof.engine.ranked import Ranked, fill_guides, room_for_guides
from tieproof.engine.structures import Thresholds
from tieproof.inputs.relevance import ranges
from tieproof.native.threads import cut, stripes
from tieproof.ties import FloatArray, IntArray

LONG, SHORT = 2**16, 2**7
"""How many dimensions a product of BLAS sums at once: all of them (unless the error bound gets too large), or few."""

BYTES_PER_PAIR_RANKED = 20.5
"""The memory for a (query, relevant item) pair during counting: key, item, two counts, a share of the guide."""

UNDECIDED = (2**12, 2**17)
"""The limits of the number of undecided items that a thread collects before it resolves them together."""

BYTES_PER_UNDECIDED = 300  # the memory for an undecided item while it is collected and resolved (measured)

LISTS = 2 * 2**20
"""The memory of a thread for near items and the smallest number of undecided items, for every budget."""

BLOCK = 0.77  # the share of the budget for a block of queries
BYTES_PER_PAIR_RANKING = 320  # the memory for a pair while it is ranked or its measures are computed

LARGEST_SIDE, SMALLEST_SIDE = 1008, 64
"""The limits of the rows of a tile; not a power of two, because rows 4,096 bytes apart conflict in the cache."""

SMALLEST_BUDGET = 8 * 2**20  # smaller budgets are treated as this one, below which no memory can be saved


BYTES_PER_COMPARED, SMALLEST_BATCH = 8, 2**16
"""The memory for an entry of rows that are compared exactly, and the fewest entries that are compared at a time."""


class Plan:
    """Sizes of blocks, parts and tiles for a budget, all computed when the plan is made.

    threads : the number of threads that work at a time
    memory : the bytes that are distributed: the budget without each thread's lists of items
    undecided : the number of undecided items of a thread; all threads together use a tenth of the budget for them
    side : the number of rows and columns of a tile; all threads together use a ninth of the budget for tiles
    part_size : the number of pairs that are ranked or measured at a time, in a ninth of the budget
    resources : those of a space: up to a twelfth of the budget for converted rows, of each side and tile dtype; all
        threads together use a sixteenth for entries of rows that are compared exactly
    """

    def __init__(self, budget: Budget) -> None:
        self.threads = budget.threads
        whole = max(budget.memory, SMALLEST_BUDGET)
        self.memory = whole - min(self.threads * LISTS, whole // 4)
        fewest, most = UNDECIDED
        self.undecided = min(max(self.memory // 10 // self.threads // BYTES_PER_UNDECIDED, fewest), most)
        entries = self.memory / 9 / self.threads / 24
        self.side = min(max(int(entries**0.5), SMALLEST_SIDE), LARGEST_SIDE)
        self.part_size = self.memory // 9 // BYTES_PER_PAIR_RANKING // self.threads
        batch = max(self.memory // BYTES_PER_COMPARED // 16 // self.threads, SMALLEST_BATCH)
        self.resources = Resources(self.memory // 12, np.dtype(np.float32), LONG, self.threads, batch)

    def side_of(self, space: Space) -> int:
        """Return the number of rows and columns of a tile of a space, less if a pair takes long."""
        return max(1, int(self.side * space.pair_cost**0.5))

    def space_of(self, problem: Search, ends: tuple[int, ...] = ()) -> Space:
        """Return the space of real distances, or of rounded ones; `ends` of parts of the items as in `make_space`."""
        assert isinstance(problem.distance, Distance)
        resources = self.resources
        if problem.format is not None:
            resources = resources_of_gauge(resources.keep_bytes)
        sides = problem.queries, problem.gallery
        orders, noise = problem.excluded.order(), problem.noise if isinstance(problem, Problem) else None
        if noise is not None and len(noise.of_item) > 1:
            last = noise.moved_far()
            of_items = orders[1][np.argsort(last[orders[1]], kind="stable")]
            orders = of_items if problem.gallery is None else orders[0], of_items
        space = make_space(problem.distance, *sides, orders, resources, ends)
        if problem.format is None:
            space = space.of_near_duplicates()
            return space if noise is None else space.as_passed  # noise shifts the distances of rows as passed
        from tieproof.engine.rounded import RoundedSpace

        return RoundedSpace(problem.distance.gauge(space), problem.format, self.undecided)

    def blocks(self, pairs: npt.NDArray[np.int64]) -> Iterator[list[slice]]:
        """Yield blocks of consecutive queries, each a list of parts, from the queries' numbers of relevant items.

        About three quarters of the budget are for a block, and a ninth for the parts that are ranked or measured at a
        time.
        """
        block_size = BLOCK * self.memory / BYTES_PER_PAIR_RANKED
        block: list[slice] = []
        in_block = 0
        for part in cut(pairs, self.part_size):
            size = int(pairs[part].sum())
            if block and in_block + size > block_size:
                yield block
                block, in_block = [], 0
            block.append(part)
            in_block += size
        yield block


def whole_rankings(gauge: Gauge, of_items: int, of_relevant: IntArray, memory: int) -> Iterator[slice]:
    """Slices of consecutive queries whose whole rankings fit into `memory` bytes.

    of_items, of_relevant : the bytes for all items, and for each query's relevant items
    """
    if gauge.stripe_rows:
        yield from stripes(0, len(of_relevant), gauge.stripe_rows)
    else:
        yield from cut(max(of_items, memory // LARGEST_STRIPE) + of_relevant, memory)


class TileChoice(NamedTuple):
    """A kind of tile, and the cost of its product, in units of float32 products; `by_unit`: that by a matrix unit."""

    dtype: npt.DTypeLike
    chunk: int
    cost: float
    by_unit: float | None = None

    @property
    def cost_here(self) -> float:
        """The cost on this processor."""
        return self.cost if self.by_unit is None or codes.fastest_way() != MATRIX_UNIT else self.by_unit


CHOICES: tuple[TileChoice, ...] = (
    TileChoice(np.int8, LONG, 0.25, 0.1),
    TileChoice(np.int16, LONG, math.inf, 0.2),
    TileChoice(np.int32, LONG, math.inf, 0.4),
    TileChoice(np.float32, LONG, 1.0),
    TileChoice(np.float32, SUMMED, 1.15),
    TileChoice(np.float32, SHORT, 1.35),
    TileChoice(np.float64, LONG, 2.05),
)
"""Measured at 64 to 1,024 dimensions. With a matrix unit: of a prototype at 512 dimensions (0.07, 0.18, 0.36), and an
estimate of what encoding adds."""

ROUNDED = 2.3  # the cost of a tile of rounded distances, in units of float32 products (measured)
LEFT_OPEN = 45.0  # the cost of an item that a tile cannot decide, in units of float32 products of one pair (measured)

LEFT_TO_FINER_CODES = 15.0
"""The cost of an item that codes cannot decide until finer codes do, in the same unit (measured)."""

FEWEST_ENCODED = 2000, 64  # the numbers of items and dimensions below which encoding takes longer than it saves
QUERIES, ITEMS = 32, 512  # the size of the sample that estimates how many items a kind of tile cannot decide
ITEMS_NEAR = 4096  # the number of items in the sample for the nearest items, of which only the nearest ones count
SAMPLED = 2**17  # how many numbers of the rows of this sample are converted to float64 at a time
FEW_PAIRS = QUERIES * ITEMS  # up to this many pairs no sample is taken, because it would contain all of them


def cheapest(space: Space, ranked: Ranked) -> Space | None:
    """The space with the tiles that should cost least, or None for no tiles; the choice affects only the time."""
    asking = np.flatnonzero(ranked.thresholds.stop > ranked.thresholds.start)
    before_rounding = space.unrounded
    if (space.integers and before_rounding is None) or len(asking) * len(space.items) <= FEW_PAIRS:
        return space
    rows, thresholds = _sample(ranked, asking[evenly(len(asking), QUERIES)])
    best: Space | None = None
    least = LEFT_OPEN * space.pair_cost  # without tiles, every item has the cost of an undecided one
    if before_rounding is not None:
        best, least, space = space, ROUNDED / (2 if space.symmetric else 1), before_rounding
        to_intervals(space, rows, thresholds)
    nearest, most = _nearest_threshold(space, rows, thresholds), largest(thresholds)

    def left_open(variant: Space) -> float:
        return float((nearest <= (variant.margins(rows, most) + thresholds.reach)[:, None]).mean())

    return _cheapest_variant(space, 2 if space.symmetric else 1, left_open, least) or best


def _cheapest_variant(space: Space, times: int, left_open: Callable[[Space], float], least: float) -> Space | None:
    """The space with the tiles that cost least; None if all cost at least `least`.

    times : how many pairs an entry of a tile serves
    left_open : estimates the share of pairs that tiles cannot decide
    """
    best: Space | None = None
    for choice in CHOICES:
        if not _is_possible(choice, space):
            continue
        variant = space.variant(np.dtype(choice.dtype), choice.chunk)
        cost = choice.cost_here / times + LEFT_OPEN * space.pair_cost * left_open(variant.finer or variant)
        if variant.finer is not None:
            cost += LEFT_TO_FINER_CODES * space.pair_cost * left_open(variant)
        if cost < least:
            best, least = variant, cost
    return best


def to_intervals(space: Space, rows: IntArray, thresholds: Thresholds) -> None:
    """Replace thresholds of rounded distances, of queries with these rows, by intervals of the distances before."""
    from tieproof.engine.rounded import Unrounded

    assert isinstance(space, Unrounded)
    start, stop, key, reach, _, guide, scale = thresholds
    for part in cut(stop - start, UNDECIDED[1]):
        space.write_intervals(rows[part], start[part], stop[part], key, reach[part])
    guide[:], scale[:] = 0, 0.0
    fill_guides(np.arange(len(reach)), start, stop, key, guide, scale)


def _sample(ranked: Ranked, queries: IntArray) -> tuple[IntArray, Thresholds]:
    """The rows of some queries, and copies of their thresholds."""
    start, stop, key, reach, margin, *_ = ranked.thresholds
    length = stop[queries] - start[queries]
    ends = np.cumsum(length)
    keys = key[ranges(start[queries], length)[1]]
    guides = room_for_guides(len(keys), len(queries))
    return ranked.targets.row[queries], Thresholds(
        ends - length, ends, keys, reach[queries], margin[queries], *guides
    )


def cheapest_for_nearest(space: Space, k: int) -> Space:
    """The space with the tiles that should cost least for the k nearest items; the choice affects only the time."""
    rows = evenly(len(space.queries), QUERIES)
    columns = evenly(len(space.items), int(ITEMS_NEAR * space.pair_cost))
    if space.integers or len(space.queries) * len(space.items) <= FEW_PAIRS:
        return space
    precise = space.variant(np.dtype(np.float64), LONG)
    keys = np.empty((len(rows), len(columns)))
    step = max(1, SAMPLED // space.items.dimensions)
    for start in range(0, len(columns), step):
        keys[:, start : start + step], _ = precise.key_block(rows, columns[start : start + step])
    place = min(len(columns), -(-k * len(columns) // len(space.items))) - 1
    last = -np.sort(-keys, axis=1)[:, place : place + 1]

    def left_open(variant: Space) -> float:
        margin = variant.margins(rows, np.abs(last[:, 0]))[:, None]
        return float((keys >= last - 2 * margin).mean()) - (place + 1) / len(columns)

    del precise
    return _cheapest_variant(space, 1, left_open, np.inf) or space


def _is_possible(choice: TileChoice, space: Space) -> bool:
    """Whether this processor is fast at such tiles, and there are enough items and dimensions for codes."""
    kind, own = np.dtype(choice.dtype), space.items.dimensions
    if kind.kind == "i":
        items, dimensions = FEWEST_ENCODED
        slices, _ = long_codes.SLICES.get(kind, (1, None))
        are_fast = slices == 1 or long_codes.multiplies(own, slices)
        return space.has_codes and are_fast and len(space.items) >= items and own >= dimensions
    return choice.chunk != SUMMED or sums_by_vectors()


def _nearest_threshold(space: Space, rows: IntArray, thresholds: Thresholds) -> FloatArray:
    """The differences between the keys of a sample of items and the nearest threshold of each query."""
    precise = space.variant(np.dtype(np.float64), LONG)
    keys, _ = precise.key_block(rows, evenly(len(space.items), int(ITEMS * space.pair_cost**0.5)))
    distances = np.empty_like(keys)
    for i, (start, stop) in enumerate(zip(thresholds.start, thresholds.stop, strict=True)):
        rising = thresholds.key[start:stop][::-1]
        place = np.searchsorted(rising, keys[i])
        above, below = rising[np.minimum(place, len(rising) - 1)], rising[np.maximum(place - 1, 0)]
        distances[i] = np.minimum(np.abs(above - keys[i]), np.abs(keys[i] - below))
    if space.zeros_tie:
        distances[keys == 0] = np.inf
    return distances


def evenly(length: int, count: int) -> IntArray:
    """At most `count` of the indices 0 … length-1, evenly spaced."""
    return np.unique(np.linspace(0, length - 1, min(length, count)).astype(np.int64))


def largest(thresholds: Thresholds) -> FloatArray:
    """The largest absolute nearness among the thresholds of queries that all have some."""
    first, last = thresholds.key[thresholds.start], thresholds.key[thresholds.stop - 1]
    return np.asarray(np.maximum(np.abs(first), np.abs(last)) + thresholds.reach)


def with_margins(ranked: Ranked, space: Space) -> Ranked:
    """The ranked queries with the margins for counting tiles of this space; before rounding, thresholds change."""
    row = ranked.targets.row
    thresholds = ranked.thresholds
    if space.before_rounding:
        to_intervals(space, row, thresholds)
    margin = np.zeros(len(thresholds.start))
    asking = np.flatnonzero(thresholds.stop > thresholds.start)
    some = thresholds._replace(
        start=thresholds.start[asking], stop=thresholds.stop[asking], reach=thresholds.reach[asking]
    )
    margin[asking] = space.margins(row[asking], largest(some))
    return replace(ranked, thresholds=thresholds._replace(margin=margin))
