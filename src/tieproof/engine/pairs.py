"""Counting without tiles: every pair goes to the ladder.

For near-duplicates, of which tiles decide next to nothing, and for items that tiles cannot weigh.
"""

from collections.abc import Iterator
from threading import Lock

import numpy as np
import numpy.typing as npt

from tieproof.engine.plan import Plan
from tieproof.engine.ranked import Ranked
from tieproof.engine.resolve import resolve
from tieproof.engine.structures import Targets, Undecided
from tieproof.engine.tiles import Progress
from tieproof.exact.space import Space
from tieproof.relevance import ranges
from tieproof.threads import in_order

Task = tuple[slice, slice, Lock]
"""Some queries, some items, and the lock to hold while counts of these queries change."""


def count_partial(space: Space, ranked: Ranked) -> None:
    """Count the distinct items of which a query excludes only some."""
    resolve(space, ranked, ranked.partial, Lock())


def count_pairs(space: Space, ranked: Ranked, plan: Plan, progress: Progress) -> None:
    """Count all items for the queries of one block."""

    def count(task: Task) -> None:
        queries, items, lock = task
        resolve(space, ranked, open_pairs(space, ranked, queries, items), lock)
        progress((queries.stop - queries.start) * (items.stop - items.start))

    for _ in in_order(count, tasks(len(ranked.targets.row), len(space.items), plan), plan.threads):
        pass


def tasks(queries: int, items: int, plan: Plan) -> Iterator[Task]:
    """As many items as a tile has, with queries for as many pairs as are resolved at a time."""
    width = min(items, plan.side, plan.undecided)
    height = plan.undecided // width
    parts = [(slice(first, min(first + height, queries)), Lock()) for first in range(0, queries, height)]
    for start in range(0, items, width):
        for part, lock in parts:
            yield part, slice(start, min(start + width, items)), lock


def open_pairs(space: Space, ranked: Ranked, queries: slice, items: slice) -> Undecided:
    """Pairs of some queries and of the items that they do not leave out, which may meet all of their thresholds."""
    length = (ranked.thresholds.stop - ranked.thresholds.start)[queries]
    counted = ~left_out(ranked.targets, queries, items)
    counted[length == 0] = False
    query, item = np.nonzero(counted)
    weight = space.items.weight[items][item]
    return Undecided(queries.start + query, items.start + item, weight, np.zeros_like(item), length[query])


def left_out(targets: Targets, queries: slice, items: slice) -> npt.NDArray[np.bool_]:
    """Which of some items each query leaves out."""
    shape = (queries.stop - queries.start, items.stop - items.start + 1)
    query, place = ranges(targets.first[queries], (targets.last - targets.first)[queries])
    change = np.zeros(shape[0] * shape[1], dtype=np.int64)
    for end, step in zip(targets.run[place].T, (1, -1), strict=True):
        at = query * shape[1] + np.clip(end.astype(np.int64) - items.start, 0, shape[1] - 1)
        change += step * np.bincount(at, minlength=len(change))
    return np.asarray(np.cumsum(change.reshape(shape), axis=1)[:, :-1] > 0)
