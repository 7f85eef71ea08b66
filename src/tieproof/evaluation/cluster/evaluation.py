"""The whole evaluation: a survey of all rows, the counts of all parts, and the ties of each query from the counts."""

import hashlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.distances import Distance
from tieproof.engine import Others, TiesByPart, ties_with_others
from tieproof.engine.problem import Progress, ShardedProblem, Watch
from tieproof.errors import about
from tieproof.evaluation.cluster import tasks
from tieproof.evaluation.cluster.layout import Unit, make_layout, share_of_engine
from tieproof.evaluation.cluster.on_ray import OnRay
from tieproof.evaluation.cluster.tasks import Job, Local, Survey, SurveyedRows, look
from tieproof.inputs.identities import Words
from tieproof.installed import __version__
from tieproof.ties import IntArray, Ties
from tieproof.whole_files import PartsFolder, continued

TITLE = "tieproof.json"  # the file of a checkpoint that says which evaluation it is of
SURVEYED = 2**26  # the most bytes of rows that are surveyed by one task
RESUMED = 8  # the fewest blocks of a checkpoint, for enough queries, so that finished ones are not counted again
BYTES_PER_COUNT = 16  # the bytes that are kept for each tie: two numbers
KEPT = 16  # one part in this many of the memory is for thresholds; further blocks are ranked again if needed
PARTS_EACH = 4  # the approximate number of parts for each worker, so that all workers have work until the end
Runner = Local | OnRay  # runs tasks in this process, or on the workers of a cluster, and returns answers as tasks end
Surveyed = tuple[SurveyedRows, SurveyedRows]  # of the queries and of the gallery, which are the same in leave-one-out


def survey(problem: ShardedProblem, words: tuple[Words, Words], runner: Runner) -> Surveyed:
    """Survey all rows; `words` belong to the queries and to the items."""
    distance, threads = problem.whole.distance, problem.whole.budget.threads
    # Zeros are not special as a binary code, and their meaning to a distance function is unknown.
    has_zeros = isinstance(distance, Distance) and not distance.bits
    queries = items = survey_rows(Survey(problem.queries, threads, has_zeros), words[0], runner)
    if problem.gallery is not None:
        items = survey_rows(Survey(problem.gallery, threads, has_zeros), words[1], runner)
    return queries, items


def survey_rows(rows: Survey, words: Words, runner: Runner) -> SurveyedRows:
    """Survey all rows, some megabytes at a time, and never across two shards."""
    size, bounds = tasks.rows_in(SURVEYED, rows.source), rows.source.bounds.tolist()
    spans = [
        (start, min(start + size, last)) for first, last in pairwise(bounds) for start in range(first, last, size)
    ]
    digests, zero = np.empty((rows.source.shape[0], 2), dtype=np.uint64), 0
    shared = runner.share(rows)
    for span, found in runner.each(lambda span, _: runner.submit(look, shared, words[slice(*span)], span), spans):
        digests[slice(*span)] = found.digests
        zero += found.zero_vectors
    return SurveyedRows(digests, zero)


class MemoryLedger:
    """A ledger in memory, which keeps the sums of blocks."""

    def __init__(self) -> None:
        self.sums: dict[int, Others] = {}

    def __contains__(self, unit: Unit) -> bool:
        """Always False: nothing is stored from an earlier evaluation."""
        return False

    def keep(self, unit: Unit, counts: list[Others]) -> None:
        """Add the counts of a unit to the sums of its blocks."""
        for block, added in zip(unit.blocks, counts, strict=True):
            self.sums[block] = self.sums[block] + added if block in self.sums else added

    def of_block(self, block: int) -> Others:
        """The sum of all counts of a block, which is then removed."""
        return self.sums.pop(block)


class FolderLedger:
    """A ledger in a folder, with a part for each unit."""

    def __init__(self, parts: PartsFolder, units: Iterable[Unit]) -> None:
        self.parts, self.of = parts, defaultdict[int, list[Unit]](list)
        for unit in units:
            for block in unit.blocks:
                self.of[block].append(unit)

    def __contains__(self, unit: Unit) -> bool:
        return str(unit) in self.parts

    def keep(self, unit: Unit, counts: list[Others]) -> None:
        """Write the counts of a unit."""
        self.parts.write(str(unit), *counts)

    def of_block(self, block: int) -> Others:
        """The sum of the counts of a block in all parts."""
        total: Any = 0
        for unit in self.of[block]:
            with about("checkpoint"), self.parts.opened(str(unit)) as arrays:
                total = total + np.asarray(arrays[f"arr_{unit.blocks.index(block)}"], dtype=np.int64)
        return np.asarray(total)


Ledger = MemoryLedger | FolderLedger  # the counts of units, each of which is stored once


def count_all(
    problem: ShardedProblem,
    surveyed: Surveyed,
    relevant: Words,  # a word for each query, computed from its relevant and excluded items
    watch: Watch,
    runner: Runner,
    checkpoint: Path | None,
) -> TiesByPart:
    """The ties of all queries, counted in parts, which a folder `checkpoint` stores."""
    # Pairs of blocks are half the square of their number.
    at_least = 1 if runner.workers == 1 else ceil(sqrt(2 * PARTS_EACH * runner.workers))
    at_least = at_least if checkpoint is None else max(at_least, RESUMED)
    layout = make_layout(problem, at_least, stored=checkpoint is not None)
    job = Job(problem, layout)
    kept = None
    if checkpoint is not None:
        kept = PartsFolder(checkpoint, "evaluation", _title_of(job, surveyed, relevant), TITLE, "checkpoint")
        kept.begin()  # a folder that cannot be made is refused before anything is counted
    zero = sum(rows.zero_vectors for rows in surveyed[: 1 if problem.gallery is None else 2])
    return TiesByPart(counted(job, watch, runner, kept), zero)


def _title_of(job: Job, surveyed: Surveyed, relevant: Words) -> dict[str, str]:
    """The properties by which a checkpoint is recognized; the order of the items is one of them."""
    whole, layout = job.problem.whole, job.layout
    data = digest(*(words.tobytes() for words in (*(rows.digests for rows in surveyed), relevant)))
    parts = digest(*(block.tobytes() for block in layout.blocks), repr(layout.groups).encode())
    kind = f"{whole.called}, {whole.format}, {'gallery' if layout.groups else 'leave-one-out'}"
    return {"tieproof": __version__, "data": data, "distance": kind, "memory": parts}


def digest(*parts: bytes) -> str:
    """The SHA-256 digest of several parts, as 64 hexadecimal digits."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.hexdigest()


def counted(job: Job, watch: Watch, runner: Runner, kept: PartsFolder | None) -> Iterator[tuple[IntArray, Ties]]:
    """The ties of all queries, part by part, after everything has been counted."""
    problem, layout = job.problem, job.layout
    units = layout.units()
    budget = share_of_engine(problem.whole.budget)
    with ExitStack() as stack:
        ledger = _room_for_counts(job, stack) if kept is None else FolderLedger(kept, units)
        todo = [unit for unit in units if unit not in ledger]
        blocks, total = Blocks(job, runner, todo), sum(map(layout.pairs_of, units))
        with watch(total) as advance:
            advance(total - sum(map(layout.pairs_of, todo)))
            if kept is not None:
                stack.enter_context(continued(kept.folder, lambda: sum(unit in ledger for unit in units), len(units)))
            for unit, counts in runner.each(blocks.count, todo, layout.pairs_of, advance):
                blocks.forget(unit)
                ledger.keep(unit, counts)
        for number, thresholds in runner.each(blocks.rank, range(len(layout.blocks))):
            blocks.rows.clear()
            queries = layout.blocks[number]
            # The excluded items of 256 queries are listed at the same time.
            parts = np.array_split(queries, -(-len(queries) // 256))
            n_items = np.concatenate([problem.whole.relevance.ranked(part) for part in parts])
            for part, ties in ties_with_others(thresholds, ledger.of_block(number), n_items, budget):
                yield queries[part], ties


class Blocks:
    """What the tasks of several units share: the rows of blocks, and their thresholds.

    A cluster keeps the rows of a block until the last unit that has it, and all thresholds; what is here in their
    place takes no memory. This process keeps the rows of one block, while the following units have it, too, and the
    thresholds for which there is room; others are computed again.
    """

    def __init__(self, job: Job, runner: Runner, units: list[Unit]) -> None:
        self.job, self.runner, self.shared = job, runner, runner.share(job)
        self.here = isinstance(runner, Local)
        self.rows, self.thresholds = dict[int, Any](), dict[int, Any]()
        self.uses = Counter(block for unit in units for block in unit.blocks)
        self.room = job.problem.whole.budget.memory // KEPT

    def count(self, unit: Unit, progress: Progress) -> Any:
        """Submit the tasks of a unit; the last one returns its counts."""
        of_blocks = [part for block in unit.blocks for part in (self.rows_of(block), self.rank(block, progress))]
        if unit.other is not None:
            return self.runner.submit(tasks.count_blocks, self.shared, progress, *of_blocks)
        total = None
        for group in self.job.layout.groups:
            counts = self.runner.submit(tasks.count_group, self.shared, group, progress, *of_blocks)
            total = counts if total is None else self.runner.submit(tasks.add, total, counts)
        return total

    def rank(self, block: int, _: Progress) -> Any:
        """The thresholds of a block."""
        if block in self.thresholds:
            return self.thresholds[block]
        ranked = self.runner.submit(tasks.rank, self.shared, self.rows_of(block))
        size = sum(array.nbytes for array in ranked[1:] if array is not None) if self.here else 0
        if size <= self.room:
            self.thresholds[block] = ranked
            self.room -= size
        return ranked

    def rows_of(self, block: int) -> Any:
        """The rows of a block and of its relevant items."""
        if block not in self.rows:
            self.rows[block] = self.runner.submit(tasks.gather, self.shared, block)
        return self.rows[block]

    def forget(self, unit: Unit) -> None:
        """Forget the rows that no further unit needs, or that are not kept."""
        self.uses.subtract(unit.blocks)
        for block in unit.blocks:
            if not self.uses[block] or (self.here and block != unit.block):
                self.rows.pop(block, None)


def _room_for_counts(job: Job, stack: ExitStack) -> Ledger:
    """A ledger in memory if the counts of all blocks fit, otherwise in a folder that is removed with the stack."""
    whole = job.problem.whole
    if BYTES_PER_COUNT * int(whole.relevance.at_most().sum()) <= share_of_engine(whole.budget).memory // 4:
        return MemoryLedger()
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tieproof-"))
    return FolderLedger(PartsFolder(Path(folder), "evaluation", {}, TITLE, "memory"), job.layout.units())
