"""The tasks of an evaluation, for any process on any machine: the first pass over all rows, and counting."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tieproof.engine import Others, Portion, RankedQueries, others_of, ranked_of
from tieproof.engine.problem import Problem, Progress, ShardedProblem
from tieproof.evaluation.cluster.layout import BlockLayout, Span, beside_rows
from tieproof.inputs.arrays import BLOCK_BYTES, Embeddings
from tieproof.inputs.identities import Words, rows_digests
from tieproof.inputs.multi_vectors import joined
from tieproof.inputs.shards.source import RankedRows, RowSource, bytes_of_row
from tieproof.native.threads import in_order
from tieproof.ties import IntArray


def unseen(_: int) -> None:
    """Show no progress."""


class SurveyedRows(NamedTuple):
    """The survey of some rows: their digests (n, 2), and how many rows are all zero."""

    digests: Words
    zero_vectors: int


class Survey(NamedTuple):
    """Rows that are surveyed: by how many threads, and whether rows of zeros are counted."""

    source: RowSource | RankedRows
    threads: int
    has_zeros: bool = False


def look(rows: Survey, words: Words, span: Span) -> SurveyedRows:
    """Survey a span of rows, to which `words` belong, some megabytes at a time."""
    start, stop = span
    digests, size = np.empty((stop - start, 2), dtype=np.uint64), rows_in(BLOCK_BYTES, rows.source)

    def zeros_from(first: int) -> int:
        piece = rows.source.read(first, min(first + size, stop))
        own = slice(first - start, first - start + len(piece))
        digests[own] = rows_digests(piece, words[own])
        return int(np.count_nonzero(~piece.any(axis=1))) if rows.has_zeros else 0

    return SurveyedRows(digests, sum(in_order(zeros_from, range(start, stop, size), rows.threads)))


def rows_in(size: int, rows: RowSource | RankedRows) -> int:
    """How many rows have at most so many bytes; at least one."""
    return max(1, size // max(1, bytes_of_row(rows)))


class Job(NamedTuple):
    """The whole evaluation, as it is passed to every task."""

    problem: ShardedProblem
    layout: BlockLayout


class QueryBlock(NamedTuple):
    """A block of queries and their relevant items (in leave-one-out, those that are not in the block), with rows."""

    queries: IntArray
    rows: Embeddings
    related: IntArray
    related_rows: Embeddings


def gather(job: Job, number: int) -> QueryBlock:
    """Read the rows of a block and of its relevant items from all shards."""
    queries = job.layout.blocks[number]
    related = job.problem.whole.relevance.related(queries)
    if job.problem.gallery is None:
        related = np.setdiff1d(related, queries)
    return QueryBlock(queries, taken(job, queries, of_queries=True), related, taken(job, related))


def taken(job: Job, rows: IntArray, of_queries: bool = False) -> Embeddings:
    """Rows in the given order; they are read in ascending order."""
    order = np.argsort(rows)
    ascending: Embeddings = (job.problem.queries if of_queries else job.problem.items).take(rows[order])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return ascending if (place == np.arange(len(place))).all() else ascending[place]


def rank(job: Job, block: QueryBlock) -> RankedQueries:
    """The thresholds of a block."""
    in_leave_one_out = job.problem.gallery is None
    items = np.concatenate([block.queries, block.related]) if in_leave_one_out else block.related
    rows = joined([block.rows, block.related_rows]) if in_leave_one_out else block.related_rows
    if not len(items):  # no query has relevant items: any item will do
        items, rows = np.zeros(1, dtype=np.int64), job.problem.items.read(0, 1)
    problem = among(job, block.queries, block.rows, items, rows)
    return ranked_of(Portion(problem, (len(block.queries),) if in_leave_one_out else (len(items),)))


def count_group(job: Job, group: Span, progress: Progress, block: QueryBlock, ranked: RankedQueries) -> list[Others]:
    """The counts of a group of items for a block of queries."""
    start, stop = group
    own = (block.related >= start) & (block.related < stop)
    items = np.concatenate([np.arange(start, stop), block.related[~own]])
    rows = job.problem.items.held(start, stop, block.related_rows[~own])
    portion = Portion(among(job, block.queries, block.rows, items, rows), (stop - start,))
    return others_of(portion, [ranked], progress)


def add(some: list[Others], more: list[Others]) -> list[Others]:
    """The sum of the counts of two groups."""
    return [first + second for first, second in zip(some, more, strict=True)]


def count_blocks(
    job: Job,
    progress: Progress,
    block: QueryBlock,
    ranked: RankedQueries,
    other: QueryBlock | None = None,
    other_ranked: RankedQueries | None = None,
) -> list[Others]:
    """The counts, in leave-one-out, of a block for itself, or of two blocks for each other."""
    blocks = [block] if other is None else [block, other]
    known = [ranked] if other_ranked is None else [ranked, other_ranked]
    queries = np.concatenate([each.queries for each in blocks])
    related, place = np.unique(np.concatenate([each.related for each in blocks]), return_index=True)
    place = place[~np.isin(related, queries)]
    of_first, of_other = place[place < len(block.related)], place[place >= len(block.related)] - len(block.related)
    items, rows = [queries, block.related[of_first]], [*(each.rows for each in blocks), block.related_rows[of_first]]
    if other is not None:
        items, rows = [*items, other.related[of_other]], [*rows, other.related_rows[of_other]]
    everything, numbers = joined(rows), np.concatenate(items)
    problem = among(job, queries, everything, numbers, everything)
    return others_of(Portion(problem, tuple(len(each.queries) for each in blocks)), known, progress)


def among(job: Job, queries: IntArray, query_rows: Embeddings, items: IntArray, item_rows: Embeddings) -> Problem:
    """The problem of some queries and items (the same in leave-one-out), whose rows are in memory twice."""
    if job.problem.gallery is None:
        budget = beside_rows(job.problem, 2 * len(items))
        return job.problem.among(item_rows, None, job.problem.whole.relevance.among(items, items), budget)
    budget = beside_rows(job.problem, len(queries) + 2 * len(items))
    return job.problem.among(query_rows, item_rows, job.problem.whole.relevance.among(queries, items), budget)


# A function of this file, or another that can be imported, as a cluster runs it in another process.
Task = Callable[..., Any]
Pairs = Callable[[Any], int]  # returns how many pairs a unit has, if units have pairs and may take long

Begin = Callable[[Any, Progress], Any]
"""Called with a unit and with a function that takes the number of pairs done: submits the tasks of the unit, and
returns the answer of the last one, or what a cluster has in its place until it is there."""


class Local:
    """Runs tasks in this process."""

    workers = 1

    def share(self, value: Any) -> Any:
        """What several tasks are given."""
        return value

    def submit(self, task: Task, *given: Any) -> Any:
        """The answer of a task."""
        return task(*given)

    def each(
        self, begin: Begin, units: Iterable[Any], pairs: Pairs | None = None, progress: Progress = unseen
    ) -> Iterator[tuple[Any, Any]]:
        """The answer of each unit, as units end; `pairs` returns the number of pairs of a unit."""
        for unit in units:
            done = list[int]()  # to which threads may add

            def step(pairs: int, done: list[int] = done) -> None:
                done.append(pairs)
                progress(pairs)

            yield unit, begin(unit, step)
            progress((pairs(unit) if pairs else 0) - sum(done))  # of equal rows, which are counted once
