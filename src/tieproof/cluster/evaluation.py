"""The whole evaluation: a survey of all rows, counts of all parts, and from these the ties of each query."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from math import ceil, sqrt
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from tieproof.cluster.layout import Unit, make_layout, share_of_engine
from tieproof.cluster.ledger import FolderLedger, Ledger, MemoryLedger, digest, open_checkpoint
from tieproof.cluster.seen import Seen
from tieproof.cluster.tasks import Job
from tieproof.engine import Others, RankedQueries, TiesByPart, ties_with_others
from tieproof.inputs.digests import Words
from tieproof.inputs.shards.ranked import RankedRows
from tieproof.installed import __version__
from tieproof.problem import Problem, Progress, ShardedProblem, Watch
from tieproof.ties import IntArray, Ties

SURVEYED = 2**26
"""Bytes of rows that are looked at as one."""

RESUMED = 8
"""Blocks that a checkpoint has at least, where there are enough queries: more than one, to go on with the others."""


BYTES_PER_COUNT = 16
"""What is kept of a tie: two numbers."""


PARTS_EACH = 4
"""Parts for each worker, about, so that all have work to the end."""


class Runner(Protocol):
    """Where tasks are done; each answer comes when its task is done.

    workers : how many tasks are done at a time
    """

    workers: int

    def look(self, whole: Problem, rows: RankedRows, words: Words, spans: list[tuple[int, int]]) -> Iterator[Seen]:
        """What is known of the rows of each span, in order."""
        ...

    def count(self, job: Job, units: Sequence[Unit], progress: Progress) -> Iterator[tuple[Unit, list[Others]]]:
        """What each unit counts, in any order."""
        ...

    def thresholds(self, job: Job) -> Iterator[tuple[int, RankedQueries]]:
        """Each block with its thresholds, in any order."""
        ...


class Surveyed(NamedTuple):
    """What is known of the queries and of the gallery, which is the same in leave-one-out."""

    queries: Seen
    items: Seen


def survey(problem: ShardedProblem, words: tuple[Words, Words], runner: Runner) -> Surveyed:
    """Look at all rows; `words` belong to the queries and to the items."""
    queries = look_at(problem, problem.queries, words[0], runner)
    return Surveyed(
        queries, queries if problem.gallery is None else look_at(problem, problem.gallery, words[1], runner)
    )


def look_at(problem: ShardedProblem, rows: RankedRows, words: Words, runner: Runner) -> Seen:
    """Look at the rows of one side, some megabytes at a time, and never at two shards as one."""
    size = max(1, SURVEYED // rows.row_bytes)
    bounds = rows.source.bounds.tolist()
    spans = [
        (start, min(start + size, last)) for first, last in pairwise(bounds) for start in range(first, last, size)
    ]
    digests = np.empty((len(rows), 2), dtype=np.uint64)
    zero = 0
    for (start, stop), seen in zip(spans, runner.look(problem.whole, rows, words, spans), strict=True):
        digests[start:stop] = seen.digests
        zero += seen.zero_vectors
    return Seen(digests, zero)


def count_all(
    problem: ShardedProblem,
    seen: Surveyed,
    relevant: Words,
    watch: Watch,
    runner: Runner,
    checkpoint: Path | None,
) -> TiesByPart:
    """The ties of all queries, counted in parts.

    relevant : a word for each query, of what is relevant to it and what it leaves out
    checkpoint : where counts are written down, and found again
    """
    # Pairs of blocks are half the square of their number.
    at_least = 1 if runner.workers == 1 else ceil(sqrt(2 * PARTS_EACH * runner.workers))
    layout = make_layout(problem, at_least if checkpoint is None else max(at_least, RESUMED))
    job = Job(problem, layout)
    kept = None if checkpoint is None else open_checkpoint(checkpoint, title_of(job, seen, relevant), layout.units())
    zero = seen.queries.zero_vectors + (0 if problem.gallery is None else seen.items.zero_vectors)
    return TiesByPart(counted(job, watch, runner, kept), zero)


def title_of(job: Job, seen: Surveyed, relevant: Words) -> dict[str, str]:
    """What a checkpoint is known by; the order of the items counts."""
    whole, layout = job.problem.whole, job.layout
    data = digest(*(words.tobytes() for words in (seen.queries.digests, seen.items.digests, relevant)))
    parts = digest(*(block.tobytes() for block in layout.blocks), repr(layout.groups).encode())
    kind = f"{whole.called}, {whole.format}, {'gallery' if layout.groups else 'leave-one-out'}"
    return {"tieproof": __version__, "data": data, "distance": kind, "memory": parts}


def counted(job: Job, watch: Watch, runner: Runner, kept: FolderLedger | None) -> Iterator[tuple[IntArray, Ties]]:
    """The ties of all queries, part after part, once all is counted."""
    problem, layout = job.problem, job.layout
    units = layout.units()
    budget = share_of_engine(problem.whole.budget)
    with ExitStack() as stack:
        ledger: Ledger = kept or room_for_counts(job, stack)
        with watch(sum(map(layout.pairs_of, units))) as advance:
            done = [unit for unit in units if unit in ledger]
            advance(sum(map(layout.pairs_of, done)))
            left = set(units).difference(done)
            for unit, counts in runner.count(job, [unit for unit in units if unit in left], advance):
                ledger.keep(unit, counts)
        for number, thresholds in runner.thresholds(job):
            queries = layout.blocks[number]
            n_items = np.concatenate([problem.whole.relevance.ranked(part) for part in few(queries)])
            for part, ties in ties_with_others(thresholds, ledger.of_block(number), n_items, budget):
                yield queries[part], ties


def few(queries: IntArray) -> list[IntArray]:
    """Some queries at a time, whose excluded items are listed."""
    return np.array_split(queries, -(-len(queries) // 256))


def room_for_counts(job: Job, stack: ExitStack) -> Ledger:
    """Memory for the counts of all blocks, or a folder that is gone when the stack is."""
    whole = job.problem.whole
    if BYTES_PER_COUNT * int(whole.relevance.at_most().sum()) <= share_of_engine(whole.budget).memory // 4:
        return MemoryLedger()
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tieproof-"))
    return FolderLedger(Path(folder), job.layout.units())
