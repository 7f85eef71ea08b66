"""`Search`, `Problem` and `Budget`: the whole input of the engine, checked and complete before it starts.

`evaluation/problems.py` makes them from the arguments of users. The entry points of `engine/` and `analyses/rates/`
read them, and pass on to their own modules only the parts that these need.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from tieproof.distances import Distance, DistanceFunction, make_space
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.options import BinaryFormat
from tieproof.inputs.relevance import Exclusions, Relevance, RelevantBlock
from tieproof.inputs.shards.source import RankedRows
from tieproof.ties import Array, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from tieproof.distances.gauge import Gauge


@dataclass(frozen=True)
class Budget:
    """The memory and threads that an evaluation may use."""

    memory: int  # bytes, in addition to the inputs
    threads: int  # at least 1


# At most one in so many items is counted apart: if it moved more than FAR times as far as all others.
FEW_MOVED, FAR = 32, 2.0


class Noise(NamedTuple):
    """By how much distances may be off: that of query q and item i by the sum of of_query[q] * of_item[i]."""

    of_query: FloatArray  # (q, 2)
    of_item: FloatArray  # (n, 2), whose second column is how far items moved; (1, 2): the same for all items
    # The distance that the radii are about, which has the same order as the problem's; None: a function's.
    distance: Distance | None
    extent: float  # a number that no distance exceeds

    def radius(self, queries: IntArray, of_items: FloatArray) -> FloatArray:
        """The radii of pairs of these queries and of items with these two numbers, (Q,)."""
        with np.errstate(over="ignore"):  # beyond all floats, any order is possible
            return np.asarray((self.of_query[queries] * of_items).sum(axis=1))

    def moved_far(self) -> BoolArray:
        """Which items moved far more than most, (n,): a small share at most, which is counted apart."""
        moves = self.of_item[:, 1]
        usual = float(np.partition(moves, -1 - len(moves) // FEW_MOVED)[-1 - len(moves) // FEW_MOVED])
        return moves > FAR * usual


@dataclass(frozen=True, eq=False)
class Search:
    """Queries, and the items among which a distance ranks their nearest ones; nothing is changed or added later."""

    queries: Embeddings  # (q, d), in the form that the distance ranks
    gallery: Embeddings | None  # (n, d), in the same form; None: leave-one-out
    distance: Distance | DistanceFunction  # one of tieproof's distances, or a function
    called: str  # the name of the distance in results
    dimensions: int  # the dimensions of a row as it was passed; for codes, their bits
    excluded: Exclusions  # the items that queries do not rank
    budget: Budget  # for the whole search
    # Every distance is rounded to this format before it is ranked; None: distances are real numbers.
    format: BinaryFormat | None = None

    @property
    def pairs(self) -> int:
        """The number of pairs of a query and an item."""
        return self.excluded.n_queries * self.excluded.n_items

    def gauge(self) -> "Gauge":
        """Return the gauge of all distances; prepared rows of each side may take up to a quarter of the memory."""
        from tieproof.distances.gauge import FunctionGauge, resources_of_gauge

        if not isinstance(self.distance, Distance):
            return FunctionGauge(self.distance, self.queries, self.queries if self.gallery is None else self.gallery)
        resources, order = resources_of_gauge(self.budget.memory // 4), self.excluded.order()
        return self.distance.gauge(make_space(self.distance, self.queries, self.gallery, order, resources))


@dataclass(frozen=True, eq=False)
class Problem(Search):
    """A search in which some items are relevant: the whole input of an evaluation."""

    excluded: Relevance  # the relevance of all queries and items, which says what is excluded, too
    judged_by: tuple[str, ...] = ()  # the names of the arguments that define the relevance
    noise: Noise | None = None  # by how much distances may be off; None: the ranking under noise is not asked for

    @property
    def relevance(self) -> Relevance:
        """The relevance of all queries and items."""
        return self.excluded


AnySearch = TypeVar("AnySearch", bound=Search)


@dataclass(frozen=True, eq=False)
class Sharded(Generic[AnySearch]):
    """A search or a problem whose rows are read when they are needed."""

    whole: AnySearch  # the problem; its queries, and its gallery if it has one, have no rows
    queries: RankedRows  # queries, gallery: the rows; no gallery: leave-one-out
    gallery: RankedRows | None = None

    @property
    def items(self) -> RankedRows:
        """The rows of the items that are ranked."""
        return self.queries if self.gallery is None else self.gallery

    @property
    def row_bytes(self) -> int:
        """The bytes of a row, the larger number of the two sides."""
        return max(self.queries.row_bytes, self.items.row_bytes)

    def among(self, queries: Embeddings, items: Embeddings | None, excluded: Exclusions, budget: Budget) -> AnySearch:
        """Return the problem of some rows, with the exclusions among them; no items: leave-one-out."""
        return replace(self.whole, queries=queries, gallery=items, excluded=excluded, budget=budget)

    def for_function(self) -> AnySearch:
        """Return the problem for a distance function; its rows are read slice by slice."""
        return replace(self.whole, queries=cast(Any, self.queries), gallery=cast(Any, self.gallery))

    def in_memory(self, budget: Budget) -> AnySearch:
        """Return the problem with all of its rows in memory."""
        gallery = None if self.gallery is None else self.gallery[:]
        return self.among(self.queries[:], gallery, self.whole.excluded, budget)


ShardedProblem = Sharded[Problem]


def accept() -> None:
    """Accept numbers that are not finite: they rank as they compare."""


class GivenLists(NamedTuple):
    """Rankings that are given as numbers: a problem without a distance. `evaluation/given_lists.py` makes it."""

    queries: IntArray  # (q,) the numbers of the queries
    numbers: Array  # the numbers of all lists, list after list, in one of the types that kernels count
    start: IntArray  # (q + 1,); the list of query q is numbers[start[q]:start[q+1]]
    # Returns the relevant and the excluded items of some of the lists; called by threads.
    relevant: Callable[[slice], RelevantBlock]
    small_is_near: bool = False  # whether the numbers are distances
    threads: int = 1  # how many threads may count
    refuse: Callable[[], None] = accept  # called if a number is not finite


Progress = Callable[[int], None]  # is told how many pairs were done since the last call, by any thread
# Called with the total number of pairs; the context lasts while they are done.
Watch = Callable[[int], AbstractContextManager[Progress]]
