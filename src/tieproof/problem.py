"""`Problem` and `Budget`: all that the engine is told, checked and complete before it starts.

`calls/problems.py` makes both of what people pass. The doors of `engine/` and `pooled/` read them, and hand on to
what stands behind them only what it needs.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tieproof.distances import Distance, DistanceFunction, make_space
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.formats import Format
from tieproof.inputs.relevance import Relevance, RelevantBlock
from tieproof.inputs.shards.ranked import RankedRows
from tieproof.ties import Array, IntArray

if TYPE_CHECKING:
    from tieproof.distances.gauge import Gauge
    from tieproof.distances.space import Resources, Space


@dataclass(frozen=True)
class Budget:
    """What may be used beside the inputs.

    memory : bytes
    threads : at least 1
    """

    memory: int
    threads: int


@dataclass(frozen=True, eq=False)
class Problem:
    """Queries, what they rank, by which distance, and who is relevant; nothing is changed or added later.

    queries : (q, d), in the form that the distance ranks
    gallery : (n, d), likewise; None: leave-one-out
    distance : one of ours, or a function
    called : what results call the distance
    dimensions : of a row as it was passed; for codes, their bits
    relevance : of all queries and items
    judged_by : the arguments that say who is relevant
    budget : for all that is made of this
    format : every distance is rounded to it before it is ranked; None: distances are real numbers
    """

    queries: Embeddings
    gallery: Embeddings | None
    distance: Distance | DistanceFunction
    called: str
    dimensions: int
    relevance: Relevance
    judged_by: tuple[str, ...]
    budget: Budget
    format: Format | None = None

    @property
    def pairs(self) -> int:
        """How many pairs of a query and an item there are."""
        return self.relevance.n_queries * self.relevance.n_items

    def space(self, resources: "Resources", ends: tuple[int, ...] = ()) -> "Space":
        """The space in which a distance of ours is ranked; `ends` of parts of the items, as `make_space` has them."""
        assert isinstance(self.distance, Distance)
        return make_space(self.distance, self.queries, self.gallery, self.relevance.order(), resources, ends)

    def gauge(self) -> "Gauge":
        """All distances on one scale; up to a quarter of the memory is for rows made ready once, of each side."""
        from tieproof.distances.functions import FunctionGauge
        from tieproof.distances.gauge import resources_of_gauge

        if not isinstance(self.distance, Distance):
            return FunctionGauge(self.distance, self.queries, self.queries if self.gallery is None else self.gallery)
        return self.distance.gauge(self.space(resources_of_gauge(self.budget.memory // 4)))


@dataclass(frozen=True, eq=False)
class ShardedProblem:
    """A problem whose rows are read when they are needed.

    whole : the problem, but that its queries, and its gallery where there is one, have no rows
    queries, gallery : the rows; no gallery: leave-one-out
    """

    whole: Problem
    queries: RankedRows
    gallery: RankedRows | None

    @property
    def items(self) -> RankedRows:
        """What is ranked."""
        return self.queries if self.gallery is None else self.gallery

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of either side."""
        return max(self.queries.row_bytes, self.items.row_bytes)

    def among(self, queries: Embeddings, items: Embeddings | None, relevance: Relevance, budget: Budget) -> Problem:
        """The problem of some rows, with the relevance among them; no items: leave-one-out."""
        return replace(self.whole, queries=queries, gallery=items, relevance=relevance, budget=budget)

    def for_function(self) -> Problem:
        """The problem for a function, which is handed slices of rows as it asks for them."""
        return replace(self.whole, queries=cast(Any, self.queries), gallery=cast(Any, self.gallery))

    def in_memory(self, budget: Budget) -> Problem:
        """The problem with all of its rows."""
        gallery = None if self.gallery is None else self.gallery[:]
        return self.among(self.queries[:], gallery, self.whole.relevance, budget)


def accept() -> None:
    """Numbers that are not finite are farthest or nearest, as they compare."""


class GivenLists(NamedTuple):
    """Rankings that are given as numbers: a problem that needs no distance. `calls/list_ties.py` makes it.

    queries : (q,) how they are numbered
    numbers : those of all lists, one after the other, of one of the types that kernels count
    start : (q + 1,); the list of query q is start[q] … start[q+1]-1
    relevant : who is, and who is excluded, of some of the lists; threads ask for it
    small_is_near : the numbers are distances
    threads : how many may count
    refuse : called where a number is not finite
    """

    queries: IntArray
    numbers: Array
    start: IntArray
    relevant: Callable[[slice], RelevantBlock]
    small_is_near: bool = False
    threads: int = 1
    refuse: Callable[[], None] = accept


Progress = Callable[[int], None]
"""Called, by any thread, with the number of pairs done since the last call."""

Watch = Callable[[int], AbstractContextManager[Progress]]
"""Opened with the number of pairs that there are to do, for as long as they are being done."""


def unwatched(pairs: int) -> AbstractContextManager[Progress]:
    """A `Watch` for work that nobody looks at."""
    return nullcontext(lambda _: None)
