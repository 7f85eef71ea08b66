"""How an evaluation is cut: blocks of queries, and groups of items that these are counted against.

In leave-one-out the queries are the items: blocks are counted against blocks, each pair of them once for both.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.relevance import Relevance
from tieproof.problem import Budget, ShardedProblem
from tieproof.ties import IntArray

BYTES_BESIDE = 160
"""What a row takes beside its numbers: what is known of it, its label, its place (measured)."""

BYTES_PER_PAIR = 60
"""What a pair of a query and a relevant item takes while it is counted, with its rank and its counts, handed on."""

SMALLEST_BUDGET = 16 * 2**20
"""Smaller budgets are treated as this."""

SMALLEST_BLOCK = 2**11
"""Queries of a block, at least, where a number of blocks is asked for: fewer are counted at a higher price each."""


class Sizes(NamedTuple):
    """How much fits into memory together.

    rows : of a block, with the further items that are relevant to it, or of a group
    pairs : of queries of a block and items that are relevant to them
    """

    rows: int
    pairs: int

    @classmethod
    def of(cls, problem: ShardedProblem, memory: int) -> "Sizes":
        """Half of the memory is for rows: those of two blocks, or of a block and a group, and again joined."""
        whole = max(memory, SMALLEST_BUDGET)
        rows = whole // 8 // (problem.row_bytes + BYTES_BESIDE)
        return cls(max(1, rows), max(1, whole // 4 // BYTES_PER_PAIR))


def share_of_engine(budget: Budget) -> Budget:
    """The budget of the engine where rows take their half of it."""
    return Budget(max(budget.memory, SMALLEST_BUDGET) // 2, budget.threads)


def beside_rows(problem: ShardedProblem, rows: int) -> Budget:
    """The budget of the engine where so many rows are in memory, some of them twice."""
    memory, threads = max(problem.whole.budget.memory, SMALLEST_BUDGET), problem.whole.budget.threads
    return Budget(memory - rows * (problem.row_bytes + BYTES_BESIDE), threads)


def fits(problem: ShardedProblem) -> bool:
    """Whether all rows fit into half of the memory."""
    return beside_all_rows(problem).memory >= share_of_engine(problem.whole.budget).memory


def beside_all_rows(problem: ShardedProblem) -> Budget:
    """The budget of the engine where all rows are in memory."""
    return beside_rows(problem, len(problem.queries) + (0 if problem.gallery is None else len(problem.gallery)))


class Unit(NamedTuple):
    """What is counted, and written down, as one: a block against all groups, or in leave-one-out two blocks."""

    block: int
    other: int | None = None

    @property
    def blocks(self) -> list[int]:
        """The blocks whose queries are counted for; a block with itself is one."""
        return [self.block] if self.other in (None, self.block) else [self.block, int(self.other or 0)]

    def __str__(self) -> str:
        """A name for files."""
        return f"{self.block:06d}" if self.other is None else f"{self.block:06d}-{self.other:06d}"


class Layout(NamedTuple):
    """Blocks of queries (their numbers), and groups of items, the rows start … stop-1 each; none in leave-one-out."""

    blocks: list[IntArray]
    groups: list[tuple[int, int]]

    def units(self) -> list[Unit]:
        """All that is to be counted."""
        count = len(self.blocks)
        if self.groups:
            return [Unit(block) for block in range(count)]
        return [Unit(block, other) for block in range(count) for other in range(block, count)]

    def pairs_of(self, unit: Unit) -> int:
        """How many pairs of a query and an item a unit counts."""
        own = len(self.blocks[unit.block])
        if unit.other is None:
            return own * self.groups[-1][1]
        return own * len(self.blocks[unit.other]) * len(unit.blocks)


def make_layout(problem: ShardedProblem, at_least: int = 1) -> Layout:
    """Blocks and groups that fit into the memory; at least so many of either, as far as that pays.

    Groups end where shards end, where these are small enough.
    """
    sizes = Sizes.of(problem, problem.whole.budget.memory)
    few = max(SMALLEST_BLOCK, -(-len(problem.queries) // at_least))
    blocks = list(blocks_of(problem, sizes._replace(rows=min(sizes.rows, few)), sizes))
    if problem.gallery is None:
        return Layout(blocks, [])
    few = max(SMALLEST_BLOCK, -(-len(problem.gallery) // at_least))
    return Layout(blocks, list(groups_of(problem.gallery.source.bounds.tolist(), min(sizes.rows, few))))


def groups_of(bounds: list[int], most: int) -> Iterator[tuple[int, int]]:
    """Consecutive rows, at most so many: whole shards where several fit, else parts of one."""
    start = 0
    for first, last in pairwise(bounds):
        if last - start <= most:
            continue
        if first > start:
            yield start, first
            start = first
        while last - start > most:
            yield start, start + most
            start += most
    if bounds[-1] > start:
        yield start, bounds[-1]


def blocks_of(problem: ShardedProblem, wanted: Sizes, most: Sizes) -> Iterator[IntArray]:
    """Queries whose relevant items are common ones, as far as there are such, in blocks of the wanted size."""
    relevance = problem.whole.relevance
    order, pairs = relevance.order()[0], np.cumsum(relevance.at_most()[relevance.order()[0]])
    number = -(-len(order) // wanted.rows)
    number = max(number, -(-int(pairs[-1]) // wanted.pairs))
    for part in np.array_split(order, min(number, len(order))):
        yield from halved(relevance, part, most)


def halved(relevance: Relevance, queries: IntArray, most: Sizes) -> Iterator[IntArray]:
    """The queries, or halves of them until each fits, with all that is relevant to it."""
    related = relevance.related(queries)
    own = np.setdiff1d(queries, related) if relevance.leave_one_out else queries
    rows, pairs = len(own) + len(related), int(relevance.at_most()[queries].sum())
    if rows <= most.rows and pairs <= most.pairs:
        yield queries
    elif len(queries) > 1:
        for half in np.array_split(queries, 2):
            yield from halved(relevance, half, most)
    else:
        factor = math.ceil(10 * max(rows / most.rows, pairs / most.pairs)) / 10
        raise InputError(
            f"The memory holds {most.rows:,} rows and {most.pairs:,} relevant items beside what they are counted "
            f"against, and query {queries[0]} has {len(related):,} relevant items, which are ranked together. "
            f"Let memory be {factor:.1f} times as large.",
            "memory",
        )
