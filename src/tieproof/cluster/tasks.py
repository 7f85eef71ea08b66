"""What a process does for an evaluation, on whatever machine: functions of what they are given, and of nothing else.

    gather ──► a block's rows, and those of all that is relevant to it
      │ rank ─► its relevant items in exact order: the thresholds, which all that follow take over
      └──┴───► count_group: a block against a group of items, which is read here
               count_blocks: in leave-one-out, a block against itself or against another one, for both

Each can be done again anywhere, and comes to the same integers.
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
    """The whole evaluation as every task knows it."""

    problem: ShardedProblem
    layout: Layout

    @property
    def relevance(self) -> Relevance:
        """Of all queries and items."""
        return self.problem.whole.relevance


class Block(NamedTuple):
    """A block of queries with their rows, and the items that are relevant to them, with theirs.

    In leave-one-out, where queries are items, `related` has none of the block itself.
    """

    queries: IntArray
    rows: Embeddings
    related: IntArray
    related_rows: Embeddings


def gather(job: Job, number: int) -> Block:
    """Look up the rows of a block, and of what is relevant to it, across all shards."""
    queries = job.layout.blocks[number]
    related = job.relevance.related(queries)
    if job.problem.gallery is None:
        related = np.setdiff1d(related, queries)
    return Block(queries, taken(job, queries, of_queries=True), related, taken(job, related))


def taken(job: Job, rows: IntArray, of_queries: bool = False) -> Embeddings:
    """Rows in any order, read in ascending order."""
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
    if not len(items):  # nothing is relevant to anybody: any item will do
        items, rows = np.zeros(1, dtype=np.int64), job.problem.items.read(0, 1)
    problem = among(job, block.queries, block.rows, items, rows)
    return ranked_of(Portion(problem, (len(block.queries),) if in_leave_one_out else (len(items),)))


def count_group(
    job: Job, block: Block, ranked: RankedQueries, group: tuple[int, int], progress: Progress = lambda _: None
) -> Others:
    """Count a group of items for a block of queries."""
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
    """Count, in leave-one-out, a block for itself, or two blocks for each other."""
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
    """The problem of some queries and some items; in leave-one-out they are the same items.

    Their rows are in memory twice: in blocks, and joined.
    """
    if job.problem.gallery is None:
        budget = beside_rows(job.problem, 2 * len(items))
        return job.problem.among(item_rows, None, job.relevance.among(items, items), budget)
    budget = beside_rows(job.problem, len(queries) + 2 * len(items))
    return job.problem.among(query_rows, item_rows, job.relevance.among(queries, items), budget)
