"""The tasks of an evaluation, for any process on any machine: the first pass over all rows, and counting."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.engine import Others, Portion, RankedQueries, others_of, ranked_of
from tieproof.engine.problem import Problem, Progress, ShardedProblem
from tieproof.evaluation.cluster.layout import Layout, Unit, beside_rows
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.identities import Words, rows_digests
from tieproof.inputs.relevance import Relevance
from tieproof.inputs.shards.source import RankedRows
from tieproof.native.threads import in_order
from tieproof.ties import IntArray


class SurveyedRows(NamedTuple):
    """The survey of some rows: their digests (n, 2), and how many rows are all zero."""

    digests: Words
    zero_vectors: int


def look(whole: Problem, rows: RankedRows, words: Words, start: int, stop: int) -> SurveyedRows:
    """Survey the rows start … stop-1, to which `words` belong."""
    digests = np.empty((stop - start, 2), dtype=np.uint64)
    zero = 0
    # Zeros are not special as a binary code, and their meaning to a distance function is unknown.
    has_zeros = isinstance(whole.distance, Distance) and not whole.distance.bits
    for first, piece in rows.pieces(start, stop):
        span = slice(first - start, first - start + len(piece))
        digests[span] = rows_digests(piece, words[span])
        zero += int(np.count_nonzero(~piece.any(axis=1))) if has_zeros else 0
    return SurveyedRows(digests, zero)


class Job(NamedTuple):
    """The whole evaluation, as it is passed to every task."""

    problem: ShardedProblem
    layout: Layout

    @property
    def relevance(self) -> Relevance:
        """The relevance of all items to all queries."""
        return self.problem.whole.relevance


class QueryBlock(NamedTuple):
    """A block of queries with their rows, and their relevant items with theirs.

    In leave-one-out, where queries are items, `related` does not include items of the block itself.
    """

    queries: IntArray
    rows: Embeddings
    related: IntArray
    related_rows: Embeddings


def gather(job: Job, number: int) -> QueryBlock:
    """Read the rows of a block and of its relevant items from all shards."""
    queries = job.layout.blocks[number]
    related = job.relevance.related(queries)
    if job.problem.gallery is None:
        related = np.setdiff1d(related, queries)
    return QueryBlock(queries, taken(job, queries, of_queries=True), related, taken(job, related))


def taken(job: Job, rows: IntArray, of_queries: bool = False) -> Embeddings:
    """Rows in the given order; they are read in ascending order."""
    order = np.argsort(rows)
    ascending = (job.problem.queries if of_queries else job.problem.items).take(rows[order])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return ascending if (place == np.arange(len(place))).all() else ascending[place]


def rank(job: Job, block: QueryBlock) -> RankedQueries:
    """The thresholds of a block."""
    in_leave_one_out = job.problem.gallery is None
    items = np.concatenate([block.queries, block.related]) if in_leave_one_out else block.related
    rows = np.concatenate([block.rows, block.related_rows]) if in_leave_one_out else block.related_rows
    if not len(items):  # no query has relevant items: any item will do
        items, rows = np.zeros(1, dtype=np.int64), job.problem.items.read(0, 1)
    problem = among(job, block.queries, block.rows, items, rows)
    return ranked_of(Portion(problem, (len(block.queries),) if in_leave_one_out else (len(items),)))


def count_group(
    job: Job, block: QueryBlock, ranked: RankedQueries, group: tuple[int, int], progress: Progress = lambda _: None
) -> Others:
    """The counts of a group of items for a block of queries."""
    start, stop = group
    own = (block.related >= start) & (block.related < stop)
    items = np.concatenate([np.arange(start, stop), block.related[~own]])
    rows = np.empty((len(items), job.problem.items.shape[1]), dtype=job.problem.items.dtype)
    job.problem.items.fill(start, stop, rows[: stop - start])
    rows[stop - start :] = block.related_rows[~own]
    portion = Portion(among(job, block.queries, block.rows, items, rows), (stop - start,))
    [counts] = others_of(portion, [ranked], progress)
    return counts


def count_blocks(
    job: Job,
    block: QueryBlock,
    ranked: RankedQueries,
    other: QueryBlock | None = None,
    other_ranked: RankedQueries | None = None,
    progress: Progress = lambda _: None,
) -> list[Others]:
    """The counts, in leave-one-out, of a block for itself, or of two blocks for each other."""
    blocks = [block] if other is None else [block, other]
    known = [ranked] if other_ranked is None else [ranked, other_ranked]
    queries = np.concatenate([each.queries for each in blocks])
    related, place = np.unique(np.concatenate([each.related for each in blocks]), return_index=True)
    further = ~np.isin(related, queries)
    related, place = related[further], place[further]
    items = np.concatenate([queries, related])
    rows = np.empty((len(items), block.rows.shape[1]), dtype=block.rows.dtype)
    np.concatenate([each.rows for each in blocks], out=rows[: len(queries)])
    first = place < len(block.related)
    rows[len(queries) :][first] = block.related_rows[place[first]]
    if other is not None:
        rows[len(queries) :][~first] = other.related_rows[place[~first] - len(block.related)]
    problem = among(job, queries, rows, items, rows)
    return others_of(Portion(problem, tuple(len(each.queries) for each in blocks)), known, progress)


def among(job: Job, queries: IntArray, query_rows: Embeddings, items: IntArray, item_rows: Embeddings) -> Problem:
    """The problem of some queries and some items, which are the same in leave-one-out.

    Their rows are in memory twice: in their blocks, and joined.
    """
    if job.problem.gallery is None:
        budget = beside_rows(job.problem, 2 * len(items))
        return job.problem.among(item_rows, None, job.relevance.among(items, items), budget)
    budget = beside_rows(job.problem, len(queries) + 2 * len(items))
    return job.problem.among(query_rows, item_rows, job.relevance.among(queries, items), budget)


Task = Callable[..., Any]
"""Called with what all units share, a unit, and on this machine a function that takes the number of pairs done."""

KEPT = 16
"""One part in this many of the memory is for thresholds; further blocks are ranked again when they are needed."""


class Local:
    """Runs tasks in this process."""

    workers = 1

    def __init__(self) -> None:
        self.ranked: dict[int, RankedQueries] = {}
        self.kept = 0

    def each(
        self, task: Task, given: Any, units: Sequence[Any], pairs: Callable[[Any], int], progress: Progress
    ) -> Iterator[tuple[Any, Any]]:
        """The answer of a task for each unit, as units end; `pairs` returns the number of pairs of a unit."""
        for unit in units:
            step = Step(pairs(unit), progress)
            answer = task(given, unit, step)
            step.end()
            yield unit, answer

    def look(
        self, whole: Problem, rows: RankedRows, words: Words, spans: list[tuple[int, int]]
    ) -> Iterator[SurveyedRows]:
        """Survey the rows of each span; yields in order."""
        yield from in_order(lambda span: look(whole, rows, words[slice(*span)], *span), spans, whole.budget.threads)

    def count(self, job: Job, units: Iterable[Unit], progress: Progress) -> Iterator[tuple[Unit, list[Others]]]:
        """The counts of each unit; a block stays in memory while the following units have it, too."""
        kept: tuple[int, QueryBlock, RankedQueries] | None = None
        for unit in units:
            if kept is None or kept[0] != unit.block:
                kept = None  # otherwise two would be in memory
                kept = unit.block, *self.gathered(job, unit.block)
            _, block, ranked = kept
            step = Step(job.layout.pairs_of(unit), progress)
            if unit.other is None:
                of_groups = (count_group(job, block, ranked, group, step) for group in job.layout.groups)
                total = next(of_groups)
                for more in of_groups:
                    total += more
                counts = [total]
            else:
                alone = unit.other == unit.block
                other, other_ranked = (None, None) if alone else self.gathered(job, unit.other)
                counts = count_blocks(job, block, ranked, other, other_ranked, step)
            step.end()
            yield unit, counts

    def thresholds(self, job: Job) -> Iterator[tuple[int, RankedQueries]]:
        """Each block with its thresholds."""
        for number in range(len(job.layout.blocks)):
            yield number, self.ranked.pop(number) if number in self.ranked else self.gathered(job, number)[1]

    def gathered(self, job: Job, number: int) -> tuple[QueryBlock, RankedQueries]:
        """The rows of a block, and its thresholds, which are kept if there is room."""
        block = gather(job, number)
        ranked = self.ranked.get(number)
        if ranked is None:
            ranked = rank(job, block)
            size = sum(array.nbytes for array in ranked[1:] if array is not None)
            if KEPT * (self.kept + size) <= job.problem.whole.budget.memory:
                self.ranked[number] = ranked
                self.kept += size
        return block, ranked


class Step:
    """The progress of a unit, in pairs of items.

    Pairs of equal rows are reported once; the end of the unit reports the remaining pairs.
    """

    def __init__(self, pairs: int, progress: Callable[[int], None]) -> None:
        self.left, self.progress = pairs, progress

    def __call__(self, pairs: int) -> None:
        """Report a number of finished pairs of different rows; threads may call it."""
        self.left -= pairs
        self.progress(pairs)

    def end(self) -> None:
        """Report the remaining pairs."""
        self.progress(self.left)
