"""A part of an evaluation: some queries and some items, counted by themselves; the counts of all parts add up.

Each part ranks the relevant items of its queries, wherever these are, and counts the other items that are its own. So
every pair of a query and an item is counted in one part, and the sum is what a whole evaluation counts: integers, of
exact comparisons, whatever the parts.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.engine.others import count_others, space_of
from tieproof.engine.plan import Plan, cut
from tieproof.engine.ranking import Window, rank
from tieproof.engine.tiles import Area
from tieproof.exact.blas import check_products, single_threaded
from tieproof.inputs.relevance import ranges
from tieproof.problem import Budget, Problem, Progress
from tieproof.ties import IntArray, Ties

Others = npt.NDArray[np.int64]
"""(2, T): how many items that are not relevant are nearer than each tie, and how many belong to it; they add up."""


class Portion(NamedTuple):
    """Some queries, the items that they count, and all that is relevant to them.

    problem : of the queries; its items are those that are counted, and then the further ones that are relevant
    counted : how many items are counted. In leave-one-out the queries are the first items, of one block that counts
        itself or of two blocks that count each other: the sizes of these
    """

    problem: Problem
    counted: tuple[int, ...]


def thresholds_of(portion: Portion) -> Ties:
    """The ties of a block of queries with what is relevant to them alone: k is n, and l is m."""
    return count(portion, lambda _: None, others=False)


def others_of(portion: Portion, progress: Progress) -> list[Others]:
    """What each block of the portion counts, tie after tie in the order of `thresholds_of`."""
    ties = count(portion, progress)
    found = np.stack([ties.k - ties.n, ties.l - ties.m])
    if portion.problem.gallery is None and len(portion.counted) == 2:
        middle = int(ties.starts[portion.counted[0]])
        return [found[:, :middle], found[:, middle:]]
    return [found]


def ties_with_others(ties: Ties, others: Others, n_items: IntArray, budget: Budget) -> Iterator[tuple[slice, Ties]]:
    """Consecutive queries of a block and their ties with all other items, some queries at a time.

    ties : those of `thresholds_of`
    n_items : how many items each query ranks
    """
    ends = np.append(0, np.cumsum(ties.m))
    for part in cut(ties.n_relevant, Plan(budget).part_size):
        own = slice(*ties.starts[[part.start, part.stop]].tolist())
        n, m = ties.n[own], ties.m[own]
        yield (
            part,
            Ties(
                query=ties.query[own] - part.start,
                k=n + others[0, own],
                n=n,
                l=m + others[1, own],
                m=m,
                n_relevant=ties.n_relevant[part],
                n_items=n_items[part],
                grades=None if ties.grades is None else ties.grades[ends[own.start] : ends[own.stop]],
            ),
        )


def count(portion: Portion, progress: Progress, others: bool = True) -> Ties:
    """The ties of the queries with the items that are counted, or with what is relevant alone."""
    problem, plan = portion.problem, Plan(portion.problem.budget)
    ends = np.cumsum(portion.counted)
    space = space_of(problem, plan, tuple(ends.tolist()))
    check_products(max(len(space.queries), len(space.items)))
    in_leave_one_out = problem.gallery is None
    n_queries = int(ends[-1]) if in_leave_one_out else len(problem.queries)
    order = np.argsort(space.queries.identity[:n_queries], kind="stable")
    # Distinct rows are numbered part after part.
    parts = [int(space.items.identity[:end].max()) + 1 for end in ends]
    area = area_of(parts, len(space.queries), in_leave_one_out)
    rows = space.queries.identity[order]
    window = Window(np.zeros_like(rows), np.zeros_like(rows))
    for own, items in area.sides if others else []:
        mine = (own.start <= rows) & (rows < own.stop)
        window.first[mine], window.last[mine] = items.start, items.stop
    pairs = problem.relevance.at_most()[order]
    with single_threaded():
        ranked = rank(space, problem.relevance, [order[part] for part in cut(pairs, plan.part_size)], plan, window)
        if others:
            count_others(space, ranked, plan, area, progress)
    return in_order(ranked.ties(), order)


def in_order(ties: Ties, query: IntArray) -> Ties:
    """The ties of queries that are numbered `query`, in the order of these numbers."""
    number = query[ties.query]
    order = np.argsort(number, kind="stable")
    back = np.argsort(query)
    grades = ties.grades
    if grades is not None:
        grades = grades[ranges((np.cumsum(ties.m) - ties.m)[order], ties.m[order])[1]]
    return Ties(
        query=number[order],
        k=ties.k[order],
        n=ties.n[order],
        l=ties.l[order],
        m=ties.m[order],
        n_relevant=ties.n_relevant[back],
        n_items=ties.n_items[back],
        grades=grades,
    )


def area_of(parts: list[int], queries: int, in_leave_one_out: bool) -> Area:
    """The tiles of distinct rows whose parts end there: one block with itself, two with each other, or with items."""
    first = slice(0, parts[0])
    if not in_leave_one_out:
        return Area(slice(0, queries), first)
    return Area(first, first if len(parts) == 1 else slice(parts[0], parts[1]), both=True)
