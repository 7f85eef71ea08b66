"""The ties in whole rankings: their sizes and places, by kernels where bounds decide and exactly elsewhere."""

from collections import deque
from collections.abc import Generator
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.bounds import check_products, single_threaded
from tieproof.distances.gauge import Curve, Gauge
from tieproof.engine.mirrored import MirroredValues
from tieproof.engine.plan import whole_rankings
from tieproof.engine.problem import Problem, Watch
from tieproof.engine.ranking import nearest_first, spans_of_runs
from tieproof.native.calls import Output, native
from tieproof.native.threads import borrowed, in_order
from tieproof.ties import FloatArray, IntArray, SmallIntArray, WordArray

States = npt.NDArray[np.int8]

APART, CLOSE, OPEN = 0, 1, 2  # the states of the gap between an item and the next one
UNORDERED = 4  # added to the state if float64 cannot decide which of the two neighbors is nearer
TINY = 2.0**-1068  # more than the rounding errors of subnormal numbers, and negligible compared with normal numbers


class DistanceScale(NamedTuple):
    """The curve from values to distances, the errors of values, and the epsilon from which neighbors are apart."""

    curve: Curve
    absolute: float
    relative: float
    epsilon: float
    certain: bool  # values have exactly the order and the ties of distances


class Listing(NamedTuple):
    """Columns of items, possibly repeated: ranking q has items[pointer[q]] … items[pointer[q+1]-1]."""

    pointer: IntArray
    items: IntArray


class CollidingItems(NamedTuple):
    """The ranked items: how many items each column represents, and which of them are excluded and relevant."""

    weight: SmallIntArray
    excluded: Listing
    relevant: Listing


class OrderedItems(NamedTuple):
    """The sorted columns of the items in each ranking."""

    # (q, w) columns, of which the first ranked[q] are ranked; in no order if nothing in the ranking is tied.
    order: SmallIntArray
    states: States  # (q, w) the state of the gap after each position
    ranked: IntArray  # (q,) the number of ranked columns
    open: IntArray  # (q,) the number of open gaps in each ranking

    def first(self, count: int) -> "OrderedItems":
        """The first `count` rankings."""
        return OrderedItems(self.order[:count], self.states[:count], self.ranked[:count], self.open[:count])


class RowRoom(NamedTuple):
    """Working memory for a row of w values."""

    values: FloatArray
    columns: SmallIntArray
    keys: WordArray  # (2, w)
    present: SmallIntArray
    relevant: SmallIntArray


class Written(NamedTuple):
    """The ranking with which writing ties continues, and the number of ties written."""

    next: int
    found: int


@native
def rank_rows(
    values: FloatArray,
    items: CollidingItems,
    scale: DistanceScale,
    rankings: Output[OrderedItems],
    room: Output[RowRoom],
) -> int:
    """Sort rows of values and decide the gap after each; return the number of open gaps.

    A row is not sorted if every column represents one item, epsilon is 0 and no two values can be tied.

    The i-th smallest true distance is between the i-th smallest lower bound and the i-th smallest upper bound, in
    whatever order the items are. So the bounds at neighboring positions bound the gap between them.
    """


@native
def bounds_of_each(
    values: FloatArray,
    errors: FloatArray,
    epsilon: float,
    curve: Curve,
    low: Output[FloatArray],
    high: Output[FloatArray],
) -> None:
    """Write bounds of the distances with these values and errors; for epsilon 0, bounds of the values themselves."""


@native
def judge_each(low: FloatArray, high: FloatArray, epsilon: float, states: Output[States]) -> None:
    """Write the states of the gaps between consecutive numbers with these ascending bounds."""


@native
def write_ties(
    rankings: OrderedItems,
    items: CollidingItems,
    first: int,
    single: bool,  # whether every column represents a single item
    room: Output[RowRoom],
    ties: Output[IntArray],
) -> Written:
    """Write the ties of at least two items as rows query, k, n, l and m, from ranking `first` on, while they fit."""


@native
def paint(
    row: IntArray, start: IntArray, stop: IntArray, column_of: IntArray, edges: IntArray, cells: Output[IntArray]
) -> None:
    """Add to cells[row[i], c] how many of the ranks start[i] … stop[i]-1 (from 0) are in column c of the picture."""
    # column_of: the column of each rank; edges: the first rank of each column, and the end of the last one


class Links(NamedTuple):
    """The items of chains: arrays of the distinct query row, the column, the value and the chain of each item."""

    rows: IntArray
    columns: IntArray
    values: FloatArray
    chain: IntArray


Decided = tuple[IntArray, npt.NDArray[np.integer[Any]]]
"""The order of the items, nearest first within each chain, and the state of the gap after each but the last."""


def decide(gauge: Gauge, rows: IntArray, values: FloatArray, order: IntArray, states: States, epsilon: float) -> None:
    """Decide all open gaps in rankings of the distinct query `rows`, (q, w), and update `order` and `states`."""
    for step in (_by_sharp_values, _by_fractions) if epsilon else (_by_digits,):
        start, stop = chains(states)
        length = stop - start
        number = np.repeat(np.arange(len(start)), length)
        place = np.arange(len(number)) + np.repeat(start - np.cumsum(length) + length, length)
        flat_order, flat_states, flat_values = order.reshape(-1), states.reshape(-1), values.reshape(-1)
        for span in spans_of_runs(length):
            some, chain = place[span], number[span]
            links = Links(rows[some // order.shape[1]], flat_order[some], flat_values[some], chain)
            decided = step(gauge, links, epsilon)
            if decided is not None:
                flat_order[some] = links.columns[decided[0]]
                inside = chain[1:] == chain[:-1]
                flat_states[some[:-1][inside]] = decided[1][inside]


def chains(states: States) -> tuple[IntArray, IntArray]:
    """The first positions, in the flattened arrays, of the chains with an open gap, and the positions after them."""
    linked = np.append(states.ravel() >= OPEN, False)  # the last position of a ranking has no gap after it
    steps = np.diff(linked.astype(np.int8), prepend=0)
    start, stop = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) + 1
    if not len(start):
        return start, stop
    is_open = np.maximum.reduceat((states.ravel() & OPEN).astype(np.int8), start) > 0
    return start[is_open], stop[is_open]


def _by_digits(gauge: Gauge, links: Links, epsilon: float) -> Decided:
    digits = gauge.digits(links.rows, links.columns)
    sorting = nearest_first(digits, links.chain)
    digits = digits[sorting]
    return sorting, np.where((digits[1:] == digits[:-1]).all(axis=1), CLOSE, APART)


def _by_sharp_values(gauge: Gauge, links: Links, epsilon: float) -> Decided | None:
    """Decide which neighbors are close by values whose errors are small even for small distances."""
    sharp = gauge.sharp(links.rows, links.columns)
    if sharp is None:
        return None
    low, high = (np.empty(len(links.chain)) for _ in range(2))
    bounds_of_each(*sharp, epsilon, gauge.sharp_curve(), low, high)
    low, high = (bound[np.lexsort((bound, links.chain))] for bound in (low, high))
    states = np.empty(len(low) - 1, dtype=np.int8)
    judge_each(low, high, epsilon, states)
    return np.lexsort((sharp[0], links.chain)), states


def _by_fractions(gauge: Gauge, links: Links, epsilon: float) -> Decided:
    """Decide which neighbors are close by fractions, which decides all remaining gaps."""
    exact_epsilon, chain = Fraction(epsilon), links.chain.tolist()
    keys = [key * gauge.unit for key in gauge.exact(links.values, links.rows, links.columns)]
    sorting = sorted(range(len(keys)), key=lambda i: (chain[i], keys[i]))
    close = [gauge.is_closer(keys[i], keys[j], exact_epsilon) for i, j in pairwise(sorting)]
    return np.array(sorting), np.where(close, CLOSE, APART)


# The memory for a ranked item while a ranking is computed, and what relevant ones, or open gaps, take beside it.
BYTES_PER_ITEM, BYTES_PER_RELEVANT, BYTES_PER_OPEN = 16, 64, 80
# The shares of the budget for the rankings of all threads, for those of which gaps are decided, and for values that
# are computed once for two rankings, which also take what prepared rows leave.
STRIPES, OPEN_RANKINGS, MIRRORED = 0.125, 0.125, 0.5
TIES = 2**14  # the number of ties that are written at a time


class FoundTies(NamedTuple):
    """The ties of at least two items of some queries: arrays as in `ties.Ties`, but m may be 0."""

    queries: IntArray  # (Q,)
    n_relevant: IntArray  # (Q,) the number of relevant items of each query
    place: IntArray  # (T,) the position of each tie's query in `queries`, ascending
    k: IntArray  # k, n, l, m: (T,), nearest first within a query
    n: IntArray
    l: IntArray
    m: IntArray


def collisions_of(problem: Problem, epsilon: float, watch: Watch) -> Generator[FoundTies, None, None]:
    """Yield the ties of all queries, with or without a relevant item."""
    # With epsilon 0, a tie is a set of items at exactly the same distance. Otherwise it is a run of neighbors in the
    # ranking whose distances each differ from the next by less than epsilon, as real numbers.
    gauge = problem.gauge()
    scale = DistanceScale(gauge.curve(), *gauge.errors(), epsilon, gauge.certain)
    weight = gauge.weight[1].astype(np.int32)
    order = np.argsort(gauge.identity[0], kind="stable")
    threads = 1 if gauge.stripe_rows else problem.budget.threads  # a function need not be safe in threads

    of_relevant = BYTES_PER_RELEVANT * problem.relevance.at_most()[order]
    memory = problem.budget.memory
    spans = list(whole_rankings(gauge, BYTES_PER_ITEM * len(weight), of_relevant, int(STRIPES * memory) // threads))
    at_a_time = max(1, int(OPEN_RANKINGS * memory) // threads // (BYTES_PER_OPEN * len(weight)))
    rows_of = gauge.identity[0][order]
    row_spans = [slice(int(rows_of[span.start]), int(rows_of[span.stop - 1]) + 1) for span in spans]
    mirrored = MirroredValues(gauge, row_spans, int(MIRRORED * memory) + gauge.spare_bytes, threads)

    highest = max((span.stop - span.start for span in spans), default=0)
    desks = deque(CollisionDesk.of(highest, len(weight)) for _ in range(min(threads, len(spans))))

    @single_threaded()
    def ties_of(stripe: int) -> FoundTies:
        span = spans[stripe]
        queries, rows = order[span], rows_of[span]
        block = problem.relevance.block(queries)
        items = CollidingItems(
            weight,
            Listing(block.excluded_pointer, gauge.identity[1][block.excluded]),
            Listing(block.pointer, gauge.identity[1][block.items]),
        )
        with borrowed(desks) as desk:
            values = desk.values[: int(rows[-1]) + 1 - int(rows[0])]
            mirrored.write(stripe, values)
            if len(rows) > len(values):
                values = values[rows - rows[0]]
            rankings, room = desk.rankings.first(len(rows)), desk.room
            if rank_rows(values, items, scale, rankings, room):
                is_open = np.flatnonzero(rankings.open)
                for start in range(0, len(is_open), at_a_time):
                    some = is_open[start : start + at_a_time]
                    ranked, states = rankings.order[some].astype(np.int64), rankings.states[some]
                    decide(gauge, rows[some], values[some], ranked, states, epsilon)
                    rankings.order[some], rankings.states[some] = ranked, states
            advance(values.size)
            return FoundTies(queries, np.diff(block.pointer), *written_down(rankings, items, room))

    check_products()
    with watch(problem.pairs) as advance:
        yield from in_order(ties_of, range(len(spans)), threads)


class CollisionDesk(NamedTuple):
    """The working memory of a thread, used again for each stripe, so that its pages are cleared only once."""

    values: FloatArray
    rankings: OrderedItems
    room: RowRoom

    @classmethod
    def of(cls, queries: int, width: int) -> "CollisionDesk":
        """Working memory for at most so many rankings."""
        rankings = OrderedItems(
            np.empty((queries, width), dtype=np.int32),
            np.empty((queries, width), dtype=np.int8),
            *np.empty((2, queries), dtype=np.int64),
        )
        room = RowRoom(
            np.empty(width),
            np.empty(width, dtype=np.int32),
            np.empty((2, width), dtype=np.uint64),
            *np.empty((2, width), dtype=np.int32),
        )
        return cls(np.empty((queries, width)), rankings, room)


def written_down(rankings: OrderedItems, items: CollidingItems, room: RowRoom) -> IntArray:
    """The ties of rankings as rows query, k, n, l and m."""
    count, width = rankings.order.shape
    single = bool(items.weight.max() == 1)
    ties = np.empty((5, max(width, TIES)), dtype=np.int64)
    parts, query = [ties[:, :0]], 0
    while query < count:
        query, written = write_ties(rankings, items, query, single, room, ties)
        parts.append(ties[:, :written].copy())
    return np.concatenate(parts, axis=1)
