"""Which distinct items a query leaves out of the count, as runs of consecutive rows."""

from typing import NamedTuple

import numpy as np

from tieproof.compiled import part
from tieproof.engine.structures import Int, IntArray, Places, Row, SmallIntArray, Targets


class Masks(NamedTuple):
    """Query q leaves out the distinct items run[i, 0] … run[i, 1]-1 for i = first[q] … last[q]-1."""

    first: IntArray
    last: IntArray
    run: SmallIntArray


def runs_of(items: IntArray) -> SmallIntArray:
    """Ascending items as runs (r, 2) of consecutive ones: each its first item, and the one past its last."""
    starts = np.flatnonzero(np.diff(items, prepend=-2) != 1)
    ends = np.append(starts, len(items))[1:] - 1
    return np.stack([items[starts], items[ends] + 1], axis=1).astype(np.int32)


def masks_of(query: IntArray, item: IntArray, count: int) -> Masks:
    """The masks of `count` queries, from pairs (query, item) in ascending order."""
    starts = np.flatnonzero((np.diff(item, prepend=-2) != 1) | (np.diff(query, prepend=-1) != 0))
    ends = np.append(starts, len(item))[1:] - 1
    run = np.stack([item[starts], item[ends] + 1], axis=1).astype(np.int32)
    last = np.cumsum(np.bincount(query[starts], minlength=count))
    return Masks(np.append(0, last[:-1]), last, run)


def join(parts: list[Masks]) -> Masks:
    """The masks of consecutive queries as one."""
    before = np.cumsum([0, *(len(part.run) for part in parts)])
    return Masks(
        np.concatenate([part.first + shift for part, shift in zip(parts, before, strict=False)]),
        np.concatenate([part.last + shift for part, shift in zip(parts, before, strict=False)]),
        np.concatenate([part.run for part in parts]),
    )


@part
def counted(targets: Targets, query: int, start: int, stop: int) -> tuple[Int, Int]:
    """Places of the items `start` … `stop`-1 but those at both ends that the query leaves out."""
    runs, first, end = targets.run, targets.first[query], targets.last[query]
    left, right = np.int64(start), np.int64(stop)
    run = first_run(runs, first, end, start)
    if run < end and runs[run, 0] <= start:
        left = np.int64(min(runs[run, 1], stop))
    run = first_run(runs, first, end, stop - 1)
    if run < end and runs[run, 0] < stop <= runs[run, 1]:
        right = max(np.int64(runs[run, 0]), left)
    return left - start, right - start


@part
def hide(targets: Targets, query: int, column: int, value: Row) -> None:
    """Send the items that the query leaves out of the count infinitely far away."""
    width, runs, end = value.shape[0], targets.run, targets.last[query]
    run = first_run(runs, targets.first[query], end, column)
    while run < end and runs[run, 0] < column + width:
        value[max(runs[run, 0] - column, 0) : min(runs[run, 1] - column, width)] = -np.inf
        run += 1


@part
def leave_out(targets: Targets, query: int, column: int, found: Int, close: Places) -> Int:
    """Drop the items that the query leaves out of the count from the ascending list; return how many remain."""
    if not found:
        return 0
    runs, end = targets.run, targets.last[query]
    run = first_run(runs, targets.first[query], end, column + np.int64(close[0]))
    if run == end or runs[run, 0] > column + np.int64(close[found - 1]):
        return found
    kept = 0
    for i in range(found):
        item = column + np.int64(close[i])
        while run < end and runs[run, 1] <= item:
            run += 1
        close[kept] = close[i]
        kept += run == end or item < runs[run, 0]
    return kept


@part
def first_run(runs: SmallIntArray, start: int, stop: int, item: Int) -> int:
    """The first of the runs start … stop-1 of left-out items that ends beyond `item`."""
    while start < stop:
        middle = (start + stop) >> 1
        if runs[middle, 1] <= item:
            start = middle + 1
        else:
            stop = middle
    return start
