"""How an evaluation is divided: into blocks of queries, and groups of items that blocks are counted against.

In leave-one-out the queries are the items: blocks are counted against blocks, each pair of blocks once for both.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tieproof.engine.problem import Budget, Sharded, ShardedProblem
from tieproof.errors import InputError
from tieproof.inputs.relevance import Relevance
from tieproof.ties import IntArray

BYTES_BESIDE = 160  # the bytes of a row besides its numbers: its computed properties, label and index (measured)
BYTES_PER_PAIR = 60  # the bytes of a pair of a query and a relevant item during counting: its rank and its counts
SMALLEST_BUDGET = 16 * 2**20  # the smallest budget in bytes; smaller ones are raised to it
SMALLEST_BLOCK = 2**11  # the fewest queries of a block if a number is requested; smaller ones cost more per query
STORED = 2**41  # the most products of numbers for a block of a checkpoint, unless it is the smallest: about a minute

Span = tuple[int, int]  # the first and the last row of several, as ends of a slice


class Sizes(NamedTuple):
    """How much fits into memory at the same time."""

    rows: int  # the most rows of a block together with its relevant items, or of a group
    pairs: int  # the most pairs of a query of a block and a relevant item

    @classmethod
    def of(cls, problem: ShardedProblem, memory: int) -> "Sizes":
        """The sizes for a memory, half of which is for rows: of two blocks, or a block and a group, and joined."""
        whole = max(memory, SMALLEST_BUDGET)
        rows = whole // 8 // (problem.row_bytes + BYTES_BESIDE)
        return cls(max(1, rows), max(1, whole // 4 // BYTES_PER_PAIR))


def share_of_engine(budget: Budget) -> Budget:
    """The budget of the engine if rows take half of the memory."""
    return Budget(max(budget.memory, SMALLEST_BUDGET) // 2, budget.threads)


def beside_rows(problem: Sharded[Any], rows: int) -> Budget:
    """The budget of the engine if a number of rows is in memory (rows that are there twice count twice)."""
    memory, threads = max(problem.whole.budget.memory, SMALLEST_BUDGET), problem.whole.budget.threads
    return Budget(memory - rows * (problem.row_bytes + BYTES_BESIDE), threads)


def fits(problem: Sharded[Any]) -> bool:
    """Whether all rows fit into half of the memory."""
    return beside_all_rows(problem).memory >= share_of_engine(problem.whole.budget).memory


def beside_all_rows(problem: Sharded[Any]) -> Budget:
    """The budget of the engine if all rows are in memory."""
    return beside_rows(problem, len(problem.queries) + (0 if problem.gallery is None else len(problem.gallery)))


class Unit(NamedTuple):
    """What is counted and stored together: a block against all groups or, in leave-one-out, two blocks."""

    block: int
    other: int | None = None

    @property
    def blocks(self) -> list[int]:
        """The blocks whose queries get counts; one block if it is counted against itself."""
        return [self.block] if self.other in (None, self.block) else [self.block, int(self.other or 0)]

    def __str__(self) -> str:
        """The name of the unit's file."""
        return f"{self.block:06d}" if self.other is None else f"{self.block:06d}-{self.other:06d}"


class BlockLayout(NamedTuple):
    """Blocks of query indices, and groups of items as (start, stop) of their rows; no groups in leave-one-out."""

    blocks: list[IntArray]
    groups: list[Span]

    def units(self) -> list[Unit]:
        """All units that must be counted."""
        count = len(self.blocks)
        if self.groups:
            return [Unit(block) for block in range(count)]
        return [Unit(block, other) for block in range(count) for other in range(block, count)]

    def pairs_of(self, unit: Unit) -> int:
        """The number of pairs of a query and an item that a unit counts."""
        own = len(self.blocks[unit.block])
        if unit.other is None:
            return own * self.groups[-1][1]
        return own * len(self.blocks[unit.other]) * len(unit.blocks)


def make_layout(problem: ShardedProblem, at_least: int = 1, stored: bool = False) -> BlockLayout:
    """Blocks and groups that fit into the memory; at least `at_least` of each, unless they would become too small."""
    sizes = Sizes.of(problem, problem.whole.budget.memory)
    few = -(-len(problem.queries) // at_least)
    if stored and problem.gallery is not None:  # an interrupted evaluation continues from finished blocks
        few = min(few, STORED // math.prod(problem.gallery.shape))
    few = max(SMALLEST_BLOCK, few)
    relevance = problem.whole.relevance
    order = relevance.query_order()  # queries with common relevant items are in the same block as far as possible
    number = max(-(-len(order) // min(sizes.rows, few)), -(-int(relevance.at_most().sum()) // sizes.pairs))
    parts = np.array_split(order, min(number, len(order)))
    blocks = [block for part in parts for block in halved(relevance, part, sizes)]
    if problem.gallery is None:
        return BlockLayout(blocks, [])
    few = max(SMALLEST_BLOCK, -(-len(problem.gallery) // at_least))
    return BlockLayout(blocks, list(groups_of(problem.gallery.source.bounds.tolist(), min(sizes.rows, few))))


def groups_of(bounds: list[int], most: int) -> Iterator[Span]:
    """Groups of at most `most` consecutive rows: whole shards if they fit, otherwise parts of one shard."""
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


def halved(relevance: Relevance, queries: IntArray, most: Sizes) -> Iterator[IntArray]:
    """The queries, halved until each part fits into memory with all its relevant items."""
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
            f"The memory has room for {most.rows:,} rows and {most.pairs:,} relevant items of a block, but query "
            f"{queries[0]} has {len(related):,} relevant items, which must be ranked together. "
            f"Let memory be {factor:.1f} times as large.",
            "memory",
        )
