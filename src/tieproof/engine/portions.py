"""A portion of an evaluation: some queries and some items, counted separately; the counts of all portions add up.

The relevant items of a block of queries are ranked once, wherever they are stored. Each portion gets the ranked items
of its queries, and counts its own other items against them. So every pair of a query and an item is counted in
exactly one portion. The sums are integers from exact comparisons, the same as in a whole evaluation for any division.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Space
from tieproof.engine.counting import Area, count_others
from tieproof.engine.plan import Plan, cut
from tieproof.engine.ranked import Known, Ranked, RankedQueries
from tieproof.engine.ranking import Window, rank
from tieproof.exact.bounds import check_products, single_threaded
from tieproof.inputs.relevance import ranges
from tieproof.problem import Budget, Problem, Progress
from tieproof.ties import IntArray, Ties

Others = npt.NDArray[np.int64]
"""(2, T): how many non-relevant items are nearer than each tie, and how many belong to it; portions are added."""


class Portion(NamedTuple):
    """Some queries, the items that are counted for them, and all their relevant items.

    problem : the problem of these queries; its items are the counted ones, followed by further relevant items
    counted : the number of counted items. In leave-one-out the queries are the first items, in one block that is
        counted against itself or in two blocks that are counted against each other; `counted` has the blocks' sizes
    """

    problem: Problem
    counted: tuple[int, ...]

    @property
    def blocks(self) -> list[int]:
        """The number of queries in each block."""
        return list(self.counted) if self.problem.gallery is None else [len(self.problem.queries)]


def ranked_of(portion: Portion) -> RankedQueries:
    """The relevant items of a block of queries in exact order."""
    order, space, ranked = count(portion, None, lambda _: None)
    return RankedQueries.of(space.scale, ranked, order)


def others_of(portion: Portion, known: Sequence[RankedQueries], progress: Progress) -> list[Others]:
    """The counts of each block of the portion, tie by tie, in the order of the queries in `known`."""
    order, _, ranked = count(portion, known, progress)
    number = np.zeros(len(order), dtype=np.int64)
    counts_of_parts = []
    for part in cut(portion.problem.relevance.at_most()[order], Plan(portion.problem.budget).part_size):
        ties = ranked.ties(part.start, part.stop)
        number[order[part]] = np.diff(ties.starts)
        counts_of_parts.append(np.stack([ties.k - ties.n, ties.l - ties.m]))
    # The counts are in the order of rows, and are moved to the positions of their queries.
    ends = np.cumsum(number)
    place = ranges((ends - number)[order], number[order])[1]
    others = np.empty((2, int(ends[-1])), dtype=np.int64)
    start = 0
    for counts in counts_of_parts:
        others[:, place[start : start + counts.shape[1]]] = counts
        start += counts.shape[1]
    last = np.cumsum(portion.blocks)
    return np.split(others, ends[last[:-1] - 1], axis=1)


def ties_with_others(
    ranked: RankedQueries, others: Others, n_items: IntArray, budget: Budget
) -> Iterator[tuple[slice, Ties]]:
    """Yield batches of consecutive queries of a block with their ties, including all other items.

    n_items : the number of items that each query ranks
    """
    n_relevant = np.diff(ranked.start)
    ties_before = np.append(0, np.cumsum(ranked.leads))
    for part in cut(n_relevant, Plan(budget).part_size):
        first, last = ranked.start[[part.start, part.stop]].tolist()
        own = slice(*ties_before[[first, last]].tolist())
        leads = np.flatnonzero(ranked.leads[first:last])
        query = np.searchsorted(ranked.start[part.start : part.stop + 1] - first, leads, side="right") - 1
        n = leads + first - ranked.start[part][query]
        m = np.diff(np.append(leads, last - first))
        yield (
            part,
            Ties(
                query=query,
                k=n + others[0, own],
                n=n,
                l=m + others[1, own],
                m=m,
                n_relevant=n_relevant[part],
                n_items=n_items[part],
                grades=None if ranked.grades is None else ranked.grades[first:last],
            ),
        )


def count(
    portion: Portion, known: Sequence[RankedQueries] | None, progress: Progress
) -> tuple[IntArray, Space, Ranked]:
    """The queries in the order of their rows, the space, and the counts in it for the queries in that order.

    known : the ranked items of each block; None if relevant items are only ranked, and nothing is counted
    """
    problem, plan = portion.problem, Plan(portion.problem.budget)
    ends = np.cumsum(portion.counted)
    space = plan.space_of(problem, tuple(ends.tolist()))
    check_products(max(len(space.queries), len(space.items)))
    order = np.argsort(space.queries.identity[: sum(portion.blocks)], kind="stable")
    # Distinct rows are numbered one part after the other.
    parts = [int(space.items.identity[:end].max()) + 1 for end in ends]
    area = _area_of(parts, len(space.queries), problem.gallery is None)
    rows = space.queries.identity[order]
    window = Window(np.zeros_like(rows), np.zeros_like(rows))
    for own, items in [] if known is None else area.sides:
        mine = (own.start <= rows) & (rows < own.stop)
        window.first[mine], window.last[mine] = items.start, items.stop
    spans = [order[part] for part in cut(problem.relevance.at_most()[order], plan.part_size)]
    converted = None if known is None else Known.of(known, space.scale)
    with single_threaded():
        ranked = rank(space, problem.relevance, spans, plan, window, converted)
        if known is not None:
            count_others(space, ranked, plan, area, progress)
    return order, space, ranked


def _area_of(parts: list[int], queries: int, in_leave_one_out: bool) -> Area:
    """The area of tiles for parts of rows: one block with itself, two with each other, or queries with items."""
    first = slice(0, parts[0])
    if not in_leave_one_out:
        return Area(slice(0, queries), first)
    return Area(first, first if len(parts) == 1 else slice(parts[0], parts[1]), both=True)
