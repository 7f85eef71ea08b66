"""All tasks in this process, one after the other; each task uses threads."""

from collections.abc import Callable, Iterable, Iterator

from tieproof.cluster.layout import Unit
from tieproof.cluster.seen import Seen, look
from tieproof.cluster.tasks import Block, Job, count_blocks, count_group, gather, rank
from tieproof.engine import Others, RankedQueries
from tieproof.inputs.digests import Words
from tieproof.inputs.shards.ranked import RankedRows
from tieproof.native.threads import in_order
from tieproof.problem import Problem, Progress

KEPT = 16
"""One part in this many of the memory is for thresholds; further blocks are ranked again when they are needed."""


class Local:
    """Runs tasks in this process."""

    workers = 1

    def __init__(self) -> None:
        self.ranked: dict[int, RankedQueries] = {}
        self.kept = 0

    def look(self, whole: Problem, rows: RankedRows, words: Words, spans: list[tuple[int, int]]) -> Iterator[Seen]:
        """Survey the rows of each span; yields in order."""
        yield from in_order(lambda span: look(whole, rows, words[slice(*span)], *span), spans, whole.budget.threads)

    def count(self, job: Job, units: Iterable[Unit], progress: Progress) -> Iterator[tuple[Unit, list[Others]]]:
        """The counts of each unit; a block stays in memory while the following units have it, too."""
        kept: tuple[int, Block, RankedQueries] | None = None
        for unit in units:
            if kept is None or kept[0] != unit.block:
                kept = None  # otherwise two would be in memory
                kept = unit.block, *self.gathered(job, unit.block)
            _, block, ranked = kept
            step = Step(job.layout.pairs_of(unit), progress)
            if unit.other is None:
                counts = sum_of(count_group(job, block, ranked, group, step) for group in job.layout.groups)
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

    def gathered(self, job: Job, number: int) -> tuple[Block, RankedQueries]:
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


def sum_of(counts: Iterable[Others]) -> list[Others]:
    """The sum of the counts of groups."""
    found = iter(counts)
    total = next(found)
    for more in found:
        total += more
    return [total]


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
