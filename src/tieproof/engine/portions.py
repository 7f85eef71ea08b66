"""A portion of an evaluation: some queries and some items, counted separately; the counts of all portions add up.

The relevant items of a block of queries are ranked once, wherever they are stored. Each portion gets the ranked items
of its queries, and counts its own other items against them. So every pair of a query and an item is counted in
exactly one portion. The sums are integers from exact comparisons, the same as in a whole evaluation for any division.
`RankedQueries` is the form in which ranked items travel between portions; a portion makes `KnownItems` of them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.bounds import check_products, single_threaded
from tieproof.distances.space import KeyScale, Space
from tieproof.engine.counting import Area, count_others
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Budget, Problem, Progress
from tieproof.engine.ranked import Block, Ranked
from tieproof.engine.ranking import rank
from tieproof.engine.structures import CONTINUED
from tieproof.inputs.relevance import ranges
from tieproof.native.threads import cut
from tieproof.ties import BoolArray, FloatArray, IntArray, Ties

Others = npt.NDArray[np.int64]
"""(2, T): how many non-relevant items are nearer than each tie, and how many belong to it; portions are added."""

FARTHEST = 60  # the largest exponent of two between two scales for which keys are converted; none overflows
TINIEST = 2.0**-1022  # the error of a key that becomes subnormal when it is converted


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


class CountedWindow(NamedTuple):
    """The distinct items that each query counts: first[q] … last[q]-1. Other items are only ranked if relevant."""

    first: IntArray
    last: IntArray

    def holds(self, query: IntArray, item: IntArray) -> BoolArray:
        """Whether each item is counted by its query."""
        return (self.first[query] <= item) & (item < self.last[query])


class RankedQueries(NamedTuple):
    """The relevant items of some queries in exact order: query q has start[q] … start[q+1]-1, nearest first.

    scale : the scale of the keys (`Space.scale`)
    key : the key of each item, descending within a query
    reach : for each query, how far the exact nearness may be from the key
    leads : whether each item is the first of its tie
    grades : the grade of each item, descending within a tie; None if all grades are 1
    """

    scale: KeyScale | None
    start: IntArray
    key: FloatArray
    reach: FloatArray
    leads: BoolArray
    grades: FloatArray | None

    @classmethod
    def of(cls, scale: KeyScale | None, ranked: Ranked, order: IntArray) -> "RankedQueries":
        """The ranked items of the queries `order`, sorted by the queries' numbers."""
        back = np.argsort(order)
        first, last = ranked.thresholds.start[back], ranked.thresholds.stop[back]
        place = ranges(first, last - first)[1]
        return cls(
            scale,
            np.append(0, np.cumsum(last - first)),
            ranked.thresholds.key[place],
            ranked.thresholds.reach[back],
            ranked.counts.gap[place] != CONTINUED,
            None if ranked.grades is None else ranked.grades[place],
        )


class KnownItems(NamedTuple):
    """The ranked items of a portion's queries: the fields of `RankedQueries`, converted to the scale of its space."""

    usable: BoolArray  # whether the keys of each query could be converted to that scale
    start: IntArray
    key: FloatArray
    reach: FloatArray
    leads: BoolArray

    @classmethod
    def of(cls, parts: Sequence[RankedQueries], scale: KeyScale | None) -> "KnownItems":
        """The converted items of the queries of all parts, one part after the other."""
        usable, keys, reaches = [], [], []
        for part in parts:
            steps = steps_between(part.scale, scale)
            usable.append(np.full(len(part.reach), steps is not None))
            keys.append(np.ldexp(part.key, steps) if steps else part.key)
            reaches.append(np.ldexp(part.reach, steps) + TINIEST if steps else part.reach)
        return cls(
            np.concatenate(usable),
            np.append(0, np.cumsum(np.concatenate([np.diff(part.start) for part in parts]))),
            np.concatenate(keys),
            np.concatenate(reaches),
            np.concatenate([part.leads for part in parts]),
        )

    def hand_over(self, queries: IntArray, block: Block, places: IntArray) -> None:
        """Write the entries of queries, whose relevant items are equal to no other item, to `places` of a block."""
        length = self.start[queries + 1] - self.start[queries]
        block.stop[places] = block.start[places] + length
        own, theirs = ranges(block.start[places], length)[1], ranges(self.start[queries], length)[1]
        block.key[own] = self.key[theirs]
        block.gap[own] = np.where(self.leads[theirs], 0, CONTINUED)
        block.reach[places] = self.reach[queries]
        block.make_guide(places)


def steps_between(own: KeyScale | None, other: KeyScale | None) -> int | None:
    """The exponent of two that converts keys to another scale; None for a scale of another kind or too far away.

    >>> steps_between(KeyScale(("floats",), 3), KeyScale(("floats",), 1)), steps_between(KeyScale(("bits",)), None)
    (2, None)
    """
    if own is None or other is None or own.kind != other.kind:
        return None
    steps = own.exponent - other.exponent
    return steps if abs(steps) <= FARTHEST else None


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
    window = CountedWindow(np.zeros_like(rows), np.zeros_like(rows))
    for own, items in [] if known is None else area.sides:
        mine = (own.start <= rows) & (rows < own.stop)
        window.first[mine], window.last[mine] = items.start, items.stop
    spans = [order[part] for part in cut(problem.relevance.at_most()[order], plan.part_size)]
    converted = None if known is None else KnownItems.of(known, space.scale)
    with single_threaded():
        ranked = rank(space, problem.relevance, spans, plan, window, converted)
        if known is not None:
            count_others(space, ranked, plan, [area], progress)
    return order, space, ranked


def _area_of(parts: list[int], queries: int, in_leave_one_out: bool) -> Area:
    """The area of tiles for parts of rows: one block with itself, two with each other, or queries with items."""
    first = slice(0, parts[0])
    if not in_leave_one_out:
        return Area(slice(0, queries), first)
    return Area(first, first if len(parts) == 1 else slice(parts[0], parts[1]), both=True)
