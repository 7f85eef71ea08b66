"""The nearest items of all queries, part by part, in this process or on a cluster.

A part is a block of queries among a piece of the gallery. The lists of all pieces are merged exactly, so neither the
parts nor their order nor their machine can matter. An interrupted search continues with the parts that are not stored
yet, which is why they are not larger than the blocks of a checkpoint.
"""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from tieproof.analyses.neighbors.certificate import from_stored, stored_arrays
from tieproof.analyses.neighbors.nearest import Admission, gathered, neighbors_of
from tieproof.analyses.neighbors.result import NOBODY, Neighbors
from tieproof.analyses.neighbors.sides import spans_between
from tieproof.engine import NearestLists, merged_lists
from tieproof.engine.problem import Budget, Progress, Search, Sharded, Watch
from tieproof.errors import about
from tieproof.evaluation.cluster.evaluation import Runner
from tieproof.evaluation.cluster.layout import STORED, Span, beside_rows, fits, groups_of
from tieproof.evaluation.cluster.tasks import unseen
from tieproof.inputs.arrays import BLOCK_BYTES
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.inputs.relevance import NOTHING, Unjudged
from tieproof.inputs.shards.source import ArraySource, RankedRows
from tieproof.ties import Array, IntArray
from tieproof.whole_files import PartsFolder

# The fewest queries of a block, unless their rows take too much memory, because preparing the rows of the gallery for
# it takes as long as searching for some hundred queries; and about how many neighbors it has at most.
QUERIES, LISTED = 1000, 2**20
PARTS_EACH = 4  # the approximate number of parts for each worker of a cluster, so that all have work until the end
SMALLEST_BLOCK = 2**7  # the fewest queries of parts that are made for workers, rather than for the memory
SMALLEST_PIECE = 2**11  # the fewest items of such parts
READINGS = 32  # into how many parts of the memory the rows of a piece are read
MERGED = 8  # the most lists of a query that are merged at a time
BYTES_PER_LISTED = 24  # the memory for a listed item
BYTES_PER_COMPARED = 400  # the memory for an item beside its row while it is compared exactly


class Part(NamedTuple):
    """A part of a search: the first and the last query, and the first and the last item, as ends of slices."""

    queries: Span
    items: Span

    @property
    def pairs(self) -> int:
        """The number of pairs of a query and an item."""
        (first, last), (start, stop) = self
        return (last - first) * (stop - start)

    def __str__(self) -> str:
        """The name of the part's file."""
        return "-".join(map(str, (*self.queries, *self.items)))


class SearchInParts(NamedTuple):
    """A whole search, as it is passed to every task."""

    problem: Sharded[Search]
    k: int  # how many items are listed: at most all
    size: int  # the queries of a block, but the last one
    pieces: Sequence[Span]  # the spans of items

    @classmethod
    def of(cls, problem: Sharded[Search], k: int, workers: int = 1) -> "SearchInParts":
        """Blocks and pieces that fit into the memory; a gallery in memory is cut only for workers of a cluster."""
        memory = beside_rows(problem, 0).memory
        of_row = memory - beside_rows(problem, 1).memory
        n_queries, n_items = len(problem.queries), len(problem.items)
        size, most = max(QUERIES, LISTED // k), n_items
        if not is_array(problem.queries):
            size = max(1, min(size, memory // 8 // of_row))
        if not is_array(problem.items) and not fits(problem):
            size = max(1, min(size, memory // 8 // (MERGED * BYTES_PER_LISTED * k)))
            most = max(1, memory // 2 // of_row)
        if workers > 1:
            size, most = for_workers(n_queries, n_items, size, most, PARTS_EACH * workers)
        pieces = list(groups_of(problem.items.source.bounds.tolist(), most))
        longest = max(stop - start for start, stop in pieces)
        size = min(size, max(QUERIES, STORED // (longest * (problem.items.usual or problem.items.shape[1]))))
        return cls(problem, k, size, pieces)

    @property
    def pairs(self) -> int:
        """The number of pairs of a query and an item."""
        return len(self.problem.queries) * len(self.problem.items)

    @property
    def blocks(self) -> list[Span]:
        """The spans of queries."""
        return spans_between(len(self.problem.queries), self.size)

    @property
    def parts(self) -> list[Part]:
        """All parts, piece after piece."""
        return [Part(block, piece) for piece in self.pieces for block in self.blocks]

    def done(self, found: "FoundParts") -> int:
        """The number of pairs of the parts that were searched."""
        return sum(part.pairs for part in self.parts if part in found)

    def among(self, queries: Array, items: Array, budget: Budget, part: Part | None = None) -> Search:
        """The search of some rows: those of a part, or of pairs that are compared."""
        whole = self.problem.whole.excluded
        own = NOTHING if part is None else whole.excluded_among(np.arange(*part.queries), np.arange(*part.items))
        return self.problem.among(queries, items, Unjudged.of(len(queries), len(items), own), budget)

    @property
    def most_compared(self) -> int:
        """About how many items are compared exactly at a time."""
        return max(1, self.problem.whole.budget.memory // 8 // (self.problem.row_bytes + BYTES_PER_COMPARED))

    def compared(self, queries: Array, ids: IntArray) -> Search:
        """The search of some queries and of items that are compared exactly."""
        return self.among(queries, self.problem.items.take(ids), beside_rows(self.problem, len(ids)))


class Parts:
    """The neighbors of the parts of a search, stored in a folder."""

    def __init__(self, stored: PartsFolder, search: SearchInParts) -> None:
        self.stored, self.search = stored, search

    def __contains__(self, part: Part) -> bool:
        return str(part) in self.stored

    def __setitem__(self, part: Part, found: Neighbors) -> None:
        self.stored.write(str(part), **stored_arrays(found))

    def __getitem__(self, part: Part) -> Neighbors:
        start, stop = part.items
        called = self.search.problem.whole.called
        with about("out"), self.stored.opened(str(part)) as arrays:
            return from_stored(
                arrays, {"k": min(self.search.k, stop - start), "n_items": stop - start, "distance": called}
            )


FoundParts = dict[Part, Neighbors] | Parts  # the neighbors of parts that were searched, in memory or in a folder


def is_array(rows: RankedRows) -> bool:
    """Whether rows are in memory already."""
    return isinstance(rows.source, ArraySource)


def for_workers(n_queries: int, n_items: int, size: int, most: int, parts: int) -> Span:
    """Smaller sizes of blocks and of pieces, for so many parts.

    Both are divided by about the same number: small blocks read the gallery more often, and the lists of small pieces
    take longer to merge.
    """
    blocks, pieces = -(-n_queries // size), -(-n_items // most)
    factor = max(1.0, (parts / (blocks * pieces)) ** 0.5)
    size = min(size, max(SMALLEST_BLOCK, round(n_queries / (blocks * factor))))
    factor = max(1.0, parts / (-(-n_queries // size) * pieces))
    return size, min(most, max(SMALLEST_PIECE, round(n_items / (pieces * factor))))


def searched(search: SearchInParts, part: Part, progress: Progress = unseen) -> Neighbors:
    """The nearest items of a part; ids are those of the whole gallery."""
    problem, (start, stop) = search.problem, part.items
    queries = problem.queries.read(*part.queries)
    beside = 0 if is_array(problem.queries) else len(queries)
    if is_array(problem.items):
        items = problem.items.read(start, stop)
    else:
        items = problem.items.held(start, stop, most=min(BLOCK_BYTES, problem.whole.budget.memory // READINGS))
        beside += len(items)
    budget = replace(beside_rows(problem, 0), memory=beside_rows(problem, 0).memory - beside * problem.row_bytes)
    among = search.among(queries, items, budget, part)
    found = neighbors_of(among, min(search.k, stop - start), lambda _: nullcontext(progress), 0)
    ids = np.where(found.ids == NOBODY, NOBODY, found.ids + start)
    return replace(found, ids=ids, tie_ids=found.tie_ids + start)


def budget_of(memory: str | int, threads: int | None, cluster: str | None = None) -> Budget:
    """The budget of this process, or of each worker of a cluster, which has one thread if nothing else is passed."""
    return Budget(parse_memory(memory), 1 if threads is None and cluster is not None else parse_threads(threads))


def find(search: SearchInParts, runner: Runner, found: FoundParts, watch: Watch, duplicates: int) -> Neighbors:
    """The nearest items of all queries; parts in `found` are not searched again, and the others are added to it."""
    shared = runner.share(search)

    def begin(part: Part, progress: Progress) -> Any:
        return runner.submit(searched, shared, part, progress)

    with watch(search.pairs) as advance:
        advance(search.done(found))
        left = [part for part in search.parts if part not in found]
        for part, neighbors in runner.each(begin, left, lambda part: part.pairs, advance):
            found[part] = neighbors
    numbered = (
        (np.arange(*block), _merged(search, block, (found[Part(block, piece)] for piece in search.pieces)))
        for block in search.blocks
    )
    n_queries, n_items = len(search.problem.queries), len(search.problem.items)
    return gathered(numbered, n_queries, search.k, n_items, search.problem.whole.called, duplicates)


def _merged(search: SearchInParts, block: Span, pieces: Iterator[Neighbors]) -> Neighbors:
    """The nearest items of a block in all pieces, some pieces at a time."""
    whole, problem = next(pieces), search.problem
    queries = None
    while more := list(islice(pieces, MERGED - 1)):
        queries = problem.queries.read(*block) if queries is None else queries
        whole = _merged_parts(search, queries, [whole, *more])
    return whole


def _merged_parts(search: SearchInParts, queries: Array, parts: list[Neighbors]) -> Neighbors:
    """The nearest items in all parts together, which have the same queries."""
    n_items = sum(part.n_items for part in parts)
    k = min(search.k, n_items)

    def problem_of(places: IntArray, ids: IntArray) -> Search:
        return search.compared(queries[places], ids)

    several = [NearestLists(np.arange(len(queries)), *(getattr(part, name) for name in LISTS)) for part in parts]
    lists = merged_lists(
        several, k, problem_of, search.most_compared, Admission(search.problem.whole.budget.memory, k)
    )
    return replace(parts[0], **{name: getattr(lists, name) for name in LISTS}, k=k, n_items=n_items)


LISTS = NearestLists._fields[1:]  # the fields that `Neighbors` has, too
