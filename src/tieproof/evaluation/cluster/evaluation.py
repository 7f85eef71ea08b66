"""The whole evaluation: a survey of all rows, the counts of all parts, and the ties of each query from the counts."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from math import ceil, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.engine import TiesByPart, ties_with_others
from tieproof.engine.problem import ShardedProblem, Watch
from tieproof.evaluation.cluster.layout import make_layout, share_of_engine
from tieproof.evaluation.cluster.ledger import FolderLedger, Ledger, MemoryLedger, digest, open_checkpoint
from tieproof.evaluation.cluster.on_ray import OnRay
from tieproof.evaluation.cluster.tasks import Job, Local, SurveyedRows
from tieproof.inputs.identities import Words
from tieproof.inputs.shards.source import RankedRows
from tieproof.installed import __version__
from tieproof.ties import IntArray, Ties
from tieproof.whole_files import continued

SURVEYED = 2**26
"""The most bytes of rows that are surveyed by one task."""

RESUMED = 8
"""The fewest blocks of a checkpoint, if there are enough queries, so that finished blocks are not counted again."""

BYTES_PER_COUNT = 16
"""The bytes that are kept for each tie: two numbers."""

PARTS_EACH = 4
"""The approximate number of parts for each worker, so that all workers have work until the end."""

Runner = Local | OnRay
"""Runs tasks in this process, or on the workers of a cluster; each answer is returned when its task has ended."""


class Surveyed(NamedTuple):
    """The survey of the queries and of the gallery, which are the same in leave-one-out."""

    queries: SurveyedRows
    items: SurveyedRows


def survey(problem: ShardedProblem, words: tuple[Words, Words], runner: Runner) -> Surveyed:
    """Survey all rows; `words` belong to the queries and to the items."""
    queries = items = _look_at(problem, problem.queries, words[0], runner)
    if problem.gallery is not None:
        items = _look_at(problem, problem.gallery, words[1], runner)
    return Surveyed(queries, items)


def _look_at(problem: ShardedProblem, rows: RankedRows, words: Words, runner: Runner) -> SurveyedRows:
    """Survey the rows of queries or gallery, some megabytes at a time, and never across two shards."""
    size = max(1, SURVEYED // rows.row_bytes)
    bounds = rows.source.bounds.tolist()
    spans = [
        (start, min(start + size, last)) for first, last in pairwise(bounds) for start in range(first, last, size)
    ]
    digests = np.empty((len(rows), 2), dtype=np.uint64)
    zero = 0
    for (start, stop), of_span in zip(spans, runner.look(problem.whole, rows, words, spans), strict=True):
        digests[start:stop] = of_span.digests
        zero += of_span.zero_vectors
    return SurveyedRows(digests, zero)


def count_all(
    problem: ShardedProblem,
    surveyed: Surveyed,
    relevant: Words,
    watch: Watch,
    runner: Runner,
    checkpoint: Path | None,
) -> TiesByPart:
    """The ties of all queries, counted in parts.

    relevant : a word for each query, computed from its relevant and excluded items
    checkpoint : the folder where counts are stored and found again; None for no checkpoint
    """
    # Pairs of blocks are half the square of their number.
    at_least = 1 if runner.workers == 1 else ceil(sqrt(2 * PARTS_EACH * runner.workers))
    at_least = at_least if checkpoint is None else max(at_least, RESUMED)
    layout = make_layout(problem, at_least, stored=checkpoint is not None)
    job = Job(problem, layout)
    kept = (
        None
        if checkpoint is None
        else open_checkpoint(checkpoint, _title_of(job, surveyed, relevant), layout.units())
    )
    zero = surveyed.queries.zero_vectors + (0 if problem.gallery is None else surveyed.items.zero_vectors)
    return TiesByPart(counted(job, watch, runner, kept), zero)


def _title_of(job: Job, surveyed: Surveyed, relevant: Words) -> dict[str, str]:
    """The properties by which a checkpoint is recognized; the order of the items is one of them."""
    whole, layout = job.problem.whole, job.layout
    data = digest(*(words.tobytes() for words in (surveyed.queries.digests, surveyed.items.digests, relevant)))
    parts = digest(*(block.tobytes() for block in layout.blocks), repr(layout.groups).encode())
    kind = f"{whole.called}, {whole.format}, {'gallery' if layout.groups else 'leave-one-out'}"
    return {"tieproof": __version__, "data": data, "distance": kind, "memory": parts}


def counted(job: Job, watch: Watch, runner: Runner, kept: FolderLedger | None) -> Iterator[tuple[IntArray, Ties]]:
    """The ties of all queries, part by part, after everything has been counted."""
    problem, layout = job.problem, job.layout
    units = layout.units()
    budget = share_of_engine(problem.whole.budget)
    with ExitStack() as stack:
        ledger: Ledger = kept or _room_for_counts(job, stack)
        with watch(sum(map(layout.pairs_of, units))) as advance:
            done = [unit for unit in units if unit in ledger]
            advance(sum(map(layout.pairs_of, done)))
            left = set(units).difference(done)
            if kept is not None:
                stack.enter_context(continued(kept.folder, lambda: sum(unit in kept for unit in units), len(units)))
            for unit, counts in runner.count(job, [unit for unit in units if unit in left], advance):
                ledger.keep(unit, counts)
        for number, thresholds in runner.thresholds(job):
            queries = layout.blocks[number]
            # The excluded items of 256 queries are listed at the same time.
            parts = np.array_split(queries, -(-len(queries) // 256))
            n_items = np.concatenate([problem.whole.relevance.ranked(part) for part in parts])
            for part, ties in ties_with_others(thresholds, ledger.of_block(number), n_items, budget):
                yield queries[part], ties


def _room_for_counts(job: Job, stack: ExitStack) -> Ledger:
    """A ledger in memory if the counts of all blocks fit, otherwise in a folder that is removed with the stack."""
    whole = job.problem.whole
    if BYTES_PER_COUNT * int(whole.relevance.at_most().sum()) <= share_of_engine(whole.budget).memory // 4:
        return MemoryLedger()
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tieproof-"))
    return FolderLedger(Path(folder), job.layout.units())
