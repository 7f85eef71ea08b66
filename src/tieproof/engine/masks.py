"""Which distinct items a query leaves out of the count, as runs of consecutive rows."""

from typing import NamedTuple

import numpy as np

from tieproof.engine.structures import Int, Places, Row
from tieproof.native.compiled import part
from tieproof.ties import IntArray, SmallIntArray


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
def counted(run: SmallIntArray, first: Int, last: Int, start: Int, stop: Int) -> tuple[Int, Int]:
    """Places of the items `start` … `stop`-1 but those at both ends that a query with these runs leaves out."""
    left, right = np.int64(0), np.int64(stop - start)
    place = first_run(run, first, last, start)
    if place < last and run[place, 0] <= start:
        left = np.int64(run[place, 1] - start)
        left = left if left < right else right
    place = first_run(run, first, last, stop - 1)
    if place < last and run[place, 0] < stop <= run[place, 1]:
        right = np.int64(run[place, 0] - start)
        right = right if right > left else left
    return left, right


@part
def hide(run: SmallIntArray, first: Int, last: Int, column: int, value: Row) -> None:
    """Send the items that a query with these runs leaves out of the count infinitely far away."""
    width = value.shape[0]
    place = first_run(run, first, last, column)
    while place < last and run[place, 0] < column + width:
        start, stop = np.int64(run[place, 0] - column), np.int64(run[place, 1] - column)
        for c in range(start if start > 0 else 0, stop if stop < width else width):
            value[c] = -np.inf
        place += 1


@part
def leave_out(run: SmallIntArray, first: Int, last: Int, column: int, found: Int, close: Places) -> Int:
    """Drop the items that a query with these runs leaves out of the ascending list; return how many remain."""
    if not found:
        return found
    place = first_run(run, first, last, column + np.int64(close[0]))
    if place == last or run[place, 0] > column + np.int64(close[found - 1]):
        return found
    kept = np.int64(0)
    for i in range(found):
        item = column + np.int64(close[i])
        while place < last and run[place, 1] <= item:
            place += 1
        close[kept] = close[i]
        kept += place == last or item < run[place, 0]
    return kept


@part
def first_run(runs: SmallIntArray, start: Int, stop: Int, item: Int) -> Int:
    """The first of the runs start … stop-1 of left-out items that ends beyond `item`."""
    while start < stop:
        middle = (start + stop) >> 1
        if runs[middle, 1] <= item:
            start = middle + 1
        else:
            stop = middle
    return start
