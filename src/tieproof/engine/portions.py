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

    @property
    def blocks(self) -> list[int]:
        """How many queries each block has."""
        return list(self.counted) if self.problem.gallery is None else [len(self.problem.queries)]


def thresholds_of(portion: Portion) -> Ties:
    """The ties of a block of queries with what is relevant to them alone: k is n, and l is m."""
    order, parts = count(portion, lambda _: None, others=False)
    found = [part for _, part in parts]
    starts = np.cumsum([0, *(part.n_queries for part in found)])
    grades = [part.grades for part in found if part.grades is not None]
    query = np.concatenate([part.query + start for part, start in zip(found, starts, strict=False)])
    k, n, l, m, n_relevant, n_items = (
        np.concatenate([getattr(part, column) for part in found])
        for column in ("k", "n", "l", "m", "n_relevant", "n_items")
    )
    ties = Ties(query, k, n, l, m, n_relevant, n_items, np.concatenate(grades) if grades else None)
    return in_order(ties, order)


def others_of(portion: Portion, progress: Progress) -> list[Others]:
    """What each block of the portion counts, tie after tie in the order of `thresholds_of`."""
    order, parts = count(portion, progress)
    number = np.zeros(len(order), dtype=np.int64)
    found = []
    for queries, ties in parts:
        number[queries] = np.diff(ties.starts)
        found.append(np.stack([ties.k - ties.n, ties.l - ties.m]))
    # They come in the order of rows, and go to the places of their queries.
    ends = np.cumsum(number)
    place = ranges((ends - number)[order], number[order])[1]
    others = np.empty((2, int(ends[-1])), dtype=np.int64)
    start = 0
    for part in found:
        others[:, place[start : start + part.shape[1]]] = part
        start += part.shape[1]
    last = np.cumsum(portion.blocks)
    return np.split(others, ends[last[:-1] - 1], axis=1)


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


def count(
    portion: Portion, progress: Progress, others: bool = True
) -> tuple[IntArray, Iterator[tuple[IntArray, Ties]]]:
    """The queries in the order of their rows; and their ties with the items that are counted, some queries at a time.

    others : whether any are, or what is relevant alone
    """
    problem, plan = portion.problem, Plan(portion.problem.budget)
    ends = np.cumsum(portion.counted)
    space = space_of(problem, plan, tuple(ends.tolist()))
    check_products(max(len(space.queries), len(space.items)))
    order = np.argsort(space.queries.identity[: sum(portion.blocks)], kind="stable")
    # Distinct rows are numbered part after part.
    parts = [int(space.items.identity[:end].max()) + 1 for end in ends]
    area = area_of(parts, len(space.queries), problem.gallery is None)
    rows = space.queries.identity[order]
    window = Window(np.zeros_like(rows), np.zeros_like(rows))
    for own, items in area.sides if others else []:
        mine = (own.start <= rows) & (rows < own.stop)
        window.first[mine], window.last[mine] = items.start, items.stop
    cuts = list(cut(problem.relevance.at_most()[order], plan.part_size))
    with single_threaded():
        ranked = rank(space, problem.relevance, [order[part] for part in cuts], plan, window)
        if others:
            count_others(space, ranked, plan, area, progress)
    return order, ((order[part], ranked.ties(part.start, part.stop)) for part in cuts)


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
