"""The tasks of an evaluation, for any process on any machine: pure functions of their arguments.

    gather ──► the rows of a block, and of all its relevant items
      │ rank ─► its relevant items in exact order: the thresholds for all later counts
      └──┴───► count_group: a block against a group of items, which this task reads
               count_blocks: in leave-one-out, a block against itself or against another one, for both

Each task can be repeated anywhere and gives the same integers.
"""

from typing import NamedTuple

import numpy as np

from tieproof.cluster.layout import Layout, beside_rows
from tieproof.engine import Others, Portion, RankedQueries, others_of, ranked_of
from tieproof.inputs.arrays import Embeddings
from tieproof.inputs.relevance import Relevance
from tieproof.problem import Problem, Progress, ShardedProblem
from tieproof.ties import IntArray


class Job(NamedTuple):
    """The whole evaluation, as it is passed to every task."""

    problem: ShardedProblem
    layout: Layout

    @property
    def relevance(self) -> Relevance:
        """The relevance of all items to all queries."""
        return self.problem.whole.relevance


class Block(NamedTuple):
    """A block of queries with their rows, and their relevant items with theirs.

    In leave-one-out, where queries are items, `related` does not include items of the block itself.
    """

    queries: IntArray
    rows: Embeddings
    related: IntArray
    related_rows: Embeddings


def gather(job: Job, number: int) -> Block:
    """Read the rows of a block and of its relevant items from all shards."""
    queries = job.layout.blocks[number]
    related = job.relevance.related(queries)
    if job.problem.gallery is None:
        related = np.setdiff1d(related, queries)
    return Block(queries, taken(job, queries, of_queries=True), related, taken(job, related))


def taken(job: Job, rows: IntArray, of_queries: bool = False) -> Embeddings:
    """Rows in the given order; they are read in ascending order."""
    order = np.argsort(rows)
    found = (job.problem.queries if of_queries else job.problem.items).take(rows[order])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return found if (place == np.arange(len(place))).all() else found[place]


def rank(job: Job, block: Block) -> RankedQueries:
    """The thresholds of a block."""
    in_leave_one_out = job.problem.gallery is None
    items = np.concatenate([block.queries, block.related]) if in_leave_one_out else block.related
    rows = np.concatenate([block.rows, block.related_rows]) if in_leave_one_out else block.related_rows
    if not len(items):  # no query has relevant items: any item will do
        items, rows = np.zeros(1, dtype=np.int64), job.problem.items.read(0, 1)
    problem = among(job, block.queries, block.rows, items, rows)
    return ranked_of(Portion(problem, (len(block.queries),) if in_leave_one_out else (len(items),)))


def count_group(
    job: Job, block: Block, ranked: RankedQueries, group: tuple[int, int], progress: Progress = lambda _: None
) -> Others:
    """The counts of a group of items for a block of queries."""
    start, stop = group
    own = (block.related >= start) & (block.related < stop)
    items = np.concatenate([np.arange(start, stop), block.related[~own]])
    rows = np.empty((len(items), job.problem.items.shape[1]), dtype=job.problem.items.dtype)
    job.problem.items.fill(start, stop, rows[: stop - start])
    rows[stop - start :] = block.related_rows[~own]
    portion = Portion(among(job, block.queries, block.rows, items, rows), (stop - start,))
    [found] = others_of(portion, [ranked], progress)
    return found


def count_blocks(
    job: Job,
    block: Block,
    ranked: RankedQueries,
    other: Block | None = None,
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
