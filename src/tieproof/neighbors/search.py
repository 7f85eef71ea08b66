"""The nearest items of all queries, part by part, in this process or on a cluster.

A part is a block of queries among a piece of the gallery. The lists of all pieces are merged exactly, so neither the
parts nor their order nor their machine can matter.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from tieproof.cluster import Local, Runner, beside_rows, connected, fits, groups_of
from tieproof.engine import NearestLists, merged_lists
from tieproof.errors import InputError
from tieproof.evaluation.problems import Side, as_sharded, check_self_matches, make_problem
from tieproof.inputs.arrays import as_finite_embeddings, is_source
from tieproof.inputs.identities import Words, rows_digests
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.inputs.relevance import NOTHING
from tieproof.inputs.shards.source import ArraySource, RankedRows, RowSource
from tieproof.inputs.unjudged import UNJUDGED, Unjudged
from tieproof.neighbors.nearest import Admission, calling_queries, neighbors_of, room_for
from tieproof.neighbors.result import Neighbors
from tieproof.problem import Budget, Problem, Progress, ShardedProblem, Watch
from tieproof.ties import Array, IntArray

QUERIES, LISTED = 1000, 2**20
"""The fewest queries of a block, unless their rows take too much memory, and about how many neighbors it has."""

PARTS_EACH = 4
"""The approximate number of parts for each worker of a cluster, so that all have work until the end."""

SMALLEST_BLOCK, SMALLEST_PIECE = 2**7, 2**11
"""The fewest queries and items of parts that are made for workers of a cluster, rather than for the memory."""

READ = 2**22
"""The most bytes of rows that are read at a time to be digested, compared or written."""

READINGS = 32
"""Into how many parts of the memory the rows of a piece are read."""

DIGESTED = 2**26
"""The most bytes of rows that one task digests."""

MERGED = 8
"""The most lists of a query that are merged at a time."""

BYTES_PER_LISTED, BYTES_PER_COMPARED = 24, 400
"""The memory for a listed item, and for an item beside its row while it is compared exactly."""

Span = tuple[int, int]


class Part(NamedTuple):
    """A part of a search: the first and the last query, and the first and the last item, as ends of slices."""

    queries: Span
    items: Span

    def __str__(self) -> str:
        """The name of the part's file."""
        return "-".join(map(str, (*self.queries, *self.items)))


class Found(Protocol):
    """The neighbors of parts that were searched: a dictionary, or files."""

    def __contains__(self, part: object, /) -> bool:
        """Whether a part was searched."""
        ...

    def __getitem__(self, part: Part, /) -> Neighbors:
        """The neighbors of a part."""
        ...

    def __setitem__(self, part: Part, found: Neighbors, /) -> None:
        """Store the neighbors of a part."""
        ...


class Search(NamedTuple):
    """A whole search, as it is passed to every task.

    k : how many items are listed: at most all
    blocks, pieces : the spans of queries and of items
    """

    problem: ShardedProblem
    k: int
    blocks: Sequence[Span]
    pieces: Sequence[Span]

    @classmethod
    def of(cls, problem: ShardedProblem, k: int, workers: int = 1) -> "Search":
        """Blocks and pieces that fit into the memory; arrays are cut only for workers of a cluster."""
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
        pieces = groups_of(problem.items.source.bounds.tolist(), most)
        return cls(problem, k, _spans(n_queries, size), list(pieces))

    def parts(self) -> list[Part]:
        """All parts, piece after piece."""
        return [Part(block, piece) for piece in self.pieces for block in self.blocks]

    @staticmethod
    def pairs_of(part: Part) -> int:
        """The number of pairs of a query and an item of a part."""
        (first, last), (start, stop) = part
        return (last - first) * (stop - start)

    def among(self, queries: Array, items: Array, budget: Budget) -> Problem:
        """The problem of some rows."""
        relevance = Unjudged(len(queries), len(items), False, False, NOTHING, None)
        return self.problem.among(queries, items, relevance, budget)

    @property
    def most_compared(self) -> int:
        """About how many items are compared exactly at a time."""
        return max(1, self.problem.whole.budget.memory // 8 // (self.problem.row_bytes + BYTES_PER_COMPARED))

    def compared(self, queries: Array, ids: IntArray) -> Problem:
        """The problem of some queries and of items that are compared exactly."""
        return self.among(queries, self.problem.items.take(ids), beside_rows(self.problem, len(ids)))


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


def _spans(count: int, size: int) -> list[Span]:
    return list(pairwise([*range(0, count, size), count]))


ORDER = "The queries come first, and then the gallery; before version 2.0.0 the gallery came first."
"""What to say if both sides are probably swapped."""


class Sides(NamedTuple):
    """Both sides of a search as they were passed, which digests and files contain."""

    queries: RowSource
    gallery: RowSource

    @classmethod
    def of(cls, queries: Any, gallery: Any) -> "Sides":
        """Check both sides, which are arrays of finite numbers or shards."""
        items = _as_source(gallery, "gallery")
        return cls(_as_source(queries, "queries"), items)

    def problem(self, distance: Any, bits: int | None, budget: Budget) -> ShardedProblem:
        """The problem of all queries among all items."""
        with calling_queries():
            rows, items = (Side(side.array if type(side) is ArraySource else side) for side in self)
            return as_sharded(make_problem(rows, items, distance, budget, relevance=UNJUDGED, bits=bits))

    def check_self_matches(self, problem: ShardedProblem, digests: tuple[Words, Words]) -> None:
        """Warn if a gallery in files probably contains the queries; of arrays, this was checked already."""
        if not all(type(side) is ArraySource for side in self):
            check_self_matches(problem.whole, digests)

    def digests(self, runner: Runner, threads: int) -> tuple[Words, Words]:
        """The digests (n, 2) of the rows of the queries, and of those of the gallery."""
        return digests_of(self.queries, runner, threads), digests_of(self.gallery, runner, threads)


def _as_source(values: Any, name: str) -> RowSource:
    """The rows of the gallery or of the queries, called so in errors."""
    if not isinstance(values, np.ndarray) and is_source(values):
        rows: RowSource = getattr(values, "rows", values)
        return rows
    try:
        return ArraySource.of(as_finite_embeddings(values, name))
    except InputError as error:
        error.argument = name
        raise


class Rows(NamedTuple):
    """The rows of a side, and by how many threads they are digested."""

    source: RowSource
    threads: int


def spans_of(source: RowSource, most: int = READ) -> list[Span]:
    """Spans of rows of at most so many bytes."""
    return _spans(source.shape[0], _rows_in(most, source))


def _rows_in(size: int, source: RowSource) -> int:
    return max(1, size // (source.shape[1] * source.dtype.itemsize))


def digests_of(source: RowSource, runner: Runner, threads: int) -> Words:
    """The digests (n, 2) of all rows."""
    digests = np.empty((source.shape[0], 2), dtype=np.uint64)
    shared = Rows(source, threads)
    runner = Local() if isinstance(source, ArraySource) else runner  # sending rows takes longer than digesting them
    for (start, stop), words in runner.each(digested, shared, spans_of(source, DIGESTED), lambda _: 0, _unseen):
        digests[start:stop] = words
    return digests


def digested(rows: Rows, span: Span, progress: Progress | None = None) -> Words:
    """The digests of a span of rows."""
    digests = np.empty((span[1] - span[0], 2), dtype=np.uint64)
    size = _rows_in(READ * rows.threads, rows.source)
    for start in range(*span, size):
        piece = rows.source.read(start, min(start + size, span[1]))
        own = slice(start - span[0], start - span[0] + len(piece))
        digests[own] = rows_digests(piece, np.zeros(len(piece), dtype=np.uint64), rows.threads)
    return digests


def _unseen(pairs: int) -> None:
    """Show no progress."""


def searched(search: Search, part: Part, progress: Progress = _unseen) -> Neighbors:
    """The nearest items of a part; ids are those of the whole gallery."""
    problem, (start, stop) = search.problem, part.items
    queries = problem.queries.read(*part.queries)
    beside = 0 if is_array(problem.queries) else len(queries)
    if is_array(problem.items):
        items = problem.items.read(start, stop)
    else:
        items = np.empty((stop - start, problem.items.shape[1]), dtype=problem.items.dtype)
        problem.items.fill(start, stop, items, min(READ, problem.whole.budget.memory // READINGS))
        beside += len(items)
    budget = replace(beside_rows(problem, 0), memory=beside_rows(problem, 0).memory - beside * problem.row_bytes)
    among = search.among(queries, items, budget)
    found = neighbors_of(among, min(search.k, stop - start), lambda _: nullcontext(progress), 0)
    return replace(found, ids=found.ids + start, tie_ids=found.tie_ids + start)


@contextmanager
def runner_of(cluster: str | None, budget: Budget) -> Iterator[Runner]:
    """Runs tasks here, or on a cluster."""
    with nullcontext(Local()) if cluster is None else connected(cluster, budget) as runner:
        yield runner


def budget_of(memory: str | int, threads: int | None, cluster: str | None = None) -> Budget:
    """The budget of this process, or of each worker of a cluster, which has one thread if nothing else is passed."""
    return Budget(parse_memory(memory), 1 if threads is None and cluster is not None else parse_threads(threads))


def find(search: Search, runner: Runner, found: Found, watch: Watch, duplicates: int) -> Neighbors:
    """The nearest items of all queries; parts in `found` are not searched again, and the others are added to it."""
    parts = search.parts()
    with watch(sum(map(search.pairs_of, parts))) as advance:
        left = [part for part in parts if part not in found]
        advance(sum(map(search.pairs_of, parts)) - sum(map(search.pairs_of, left)))
        for part, neighbors in runner.each(searched, search, left, search.pairs_of, advance):
            found[part] = neighbors
    arrays, indptr = room_for(len(search.problem.queries), search.k), [np.zeros(1, dtype=np.int64)]
    ties: list[IntArray] = []
    for block in search.blocks:
        merged = _merged(search, block, (found[Part(block, piece)] for piece in search.pieces))
        for name, array in arrays.items():
            array[slice(*block)] = getattr(merged, name)
        indptr.append(merged.tie_indptr[1:] + indptr[-1][-1])
        ties.append(merged.tie_ids)
    return Neighbors(
        **arrays,
        tie_indptr=np.concatenate(indptr),
        tie_ids=np.concatenate(ties),
        duplicates=duplicates,
        k=search.k,
        n_items=len(search.problem.items),
        distance=search.problem.whole.called,
    )


def _merged(search: Search, block: Span, pieces: Iterator[Neighbors]) -> Neighbors:
    """The nearest items of a block in all pieces, some pieces at a time."""
    whole, problem = next(pieces), search.problem
    queries = None
    while more := list(islice(pieces, MERGED - 1)):
        queries = problem.queries.read(*block) if queries is None else queries
        whole = _merged_parts(search, queries, [whole, *more])
    return whole


def _merged_parts(search: Search, queries: Array, parts: list[Neighbors]) -> Neighbors:
    """The nearest items in all parts together, which have the same queries."""
    n_items = sum(part.n_items for part in parts)
    k = min(search.k, n_items)

    def problem_of(places: IntArray, ids: IntArray) -> Problem:
        return search.compared(queries[places], ids)

    several = [NearestLists(np.arange(len(queries)), *(getattr(part, name) for name in LISTS)) for part in parts]
    lists = merged_lists(
        several, k, problem_of, search.most_compared, Admission(search.problem.whole.budget.memory, k)
    )
    return replace(parts[0], **{name: getattr(lists, name) for name in LISTS}, k=k, n_items=n_items)


LISTS = NearestLists._fields[1:]
"""The fields that `Neighbors` has, too."""


def duplicates_of(source: RowSource, digests: Words) -> int:
    """How many rows are equal to an earlier one. Rows of equal digests are read, and compared number by number."""
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    ranked = digests[order]
    group = np.cumsum(np.append(True, (ranked[1:] != ranked[:-1]).any(axis=1)))
    duplicates = 0
    while len(order):
        first = np.append(True, group[1:] != group[:-1])
        leader = order[np.flatnonzero(first)[np.cumsum(first) - 1]]
        order, group, leader = order[~first], group[~first], leader[~first]
        equal = np.zeros(len(order), dtype=np.bool_)
        for start, stop in _spans(len(order), _rows_in(READ, source)):
            rows, leaders = source.take(order[start:stop]), source.take(leader[start:stop])
            equal[start:stop] = (rows == leaders).all(axis=1)
        duplicates += int(equal.sum())
        # What is left has the digest of another row by chance; of each digest, the first one leads now.
        order, group = order[~equal], group[~equal]
    return duplicates
