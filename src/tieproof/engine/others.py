"""Count the items that are not relevant, by the cheapest kind of tiles; and make the space of a problem."""

from collections.abc import Iterator
from threading import Lock

import numpy as np
import numpy.typing as npt

from tieproof.distances import Distance
from tieproof.distances.space import Space
from tieproof.engine.plan import Plan, cheapest, with_margins
from tieproof.engine.ranked import Ranked
from tieproof.engine.resolve import count_partial, resolve
from tieproof.engine.structures import Undecided
from tieproof.engine.tiles import Area, TileLoop
from tieproof.native.calls import Output, native
from tieproof.native.threads import for_each
from tieproof.problem import Problem, Progress
from tieproof.ties import IntArray, SmallIntArray


def space_of(problem: Problem, plan: Plan, ends: tuple[int, ...] = ()) -> Space:
    """The space of real distances, or of rounded ones; `ends` of parts of the items as in `make_space`."""
    if problem.format is None:
        return problem.space(plan.resources, ends)
    from tieproof.distances.gauge import resources_of_gauge
    from tieproof.engine.rounded import RoundedSpace

    assert isinstance(problem.distance, Distance)
    gauge = problem.distance.gauge(problem.space(resources_of_gauge(plan.resources.keep_bytes), ends))
    return RoundedSpace(gauge, problem.format, plan.undecided)


def count_others(space: Space, ranked: Ranked, plan: Plan, area: Area, progress: Progress) -> None:
    """Count the items of an area, except the relevant ones, for the queries of a block."""
    if len(ranked.partial.query):
        count_partial(space, ranked)
    chosen = cheapest(space, ranked)
    if chosen is None:
        count_pairs(space, ranked, plan, area, progress)
    else:
        TileLoop(chosen, with_margins(ranked, chosen), plan, area, progress).run()


Task = tuple[slice, slice, Lock]
"""Some queries, some items, and the lock to be held while the counts of these queries change."""


def count_pairs(space: Space, ranked: Ranked, plan: Plan, area: Area, progress: Progress) -> None:
    """Count the items of an area for the queries of one block."""
    new_row = np.diff(ranked.targets.row, prepend=-1) > 0

    def count(task: Task) -> None:
        queries, items, lock = task
        resolve(space, ranked, open_pairs(space, ranked, queries, items), lock)
        progress(int(new_row[queries].sum()) * (items.stop - items.start))

    for rows, items in area.sides:
        queries = slice(*np.searchsorted(ranked.targets.row, (rows.start, rows.stop)).tolist())
        for_each(count, tasks(ranked, queries, items, plan), plan.threads)


def tasks(ranked: Ranked, queries: slice, items: slice, plan: Plan) -> Iterator[Task]:
    """Yield tasks with as many items as a tile has, and queries for as many pairs as are resolved at a time.

    A task has at least as many items as a query has thresholds, because their keys are computed for each task.
    """
    most = int((ranked.thresholds.stop - ranked.thresholds.start).max())
    width = min(items.stop - items.start, max(plan.side, most), plan.undecided)
    height = plan.undecided // width
    firsts = range(queries.start, queries.stop, height)
    parts = [(slice(first, min(first + height, queries.stop)), Lock()) for first in firsts]
    for start in range(items.start, items.stop, width):
        for part, lock in parts:
            yield part, slice(start, min(start + width, items.stop)), lock


def open_pairs(space: Space, ranked: Ranked, queries: slice, items: slice) -> Undecided:
    """Pairs of queries and the items that they do not leave out, as undecided among all of their thresholds."""
    targets, thresholds = ranked.targets, ranked.thresholds
    length = thresholds.stop[queries] - thresholds.start[queries]
    nearness = np.zeros((len(length), items.stop - items.start), dtype=np.float32)
    nearness[length == 0] = -np.inf
    hide_in_rows(targets.run, targets.first[queries], targets.last[queries], items.start, nearness)
    query, item = np.nonzero(nearness == 0)
    weight = space.items.weight[items][item]
    return Undecided(queries.start + query, items.start + item, weight, np.zeros_like(item), length[query])


@native
def hide_in_rows(
    run: SmallIntArray, first: IntArray, last: IntArray, start: int, nearness: Output[npt.NDArray[np.float32]]
) -> None:
    """Set the nearness of the items, from `start` on, that each query leaves out to -inf; a row is a query's."""
