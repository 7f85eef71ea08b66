"""Which distinct items a query leaves out of the count, as runs of consecutive rows."""

from typing import NamedTuple

import numpy as np

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
    breaks = np.ones(len(item) + 1, dtype=np.bool_)  # also where the last one ends
    breaks[1:-1] = (item[1:] != item[:-1] + 1) | (query[1:] != query[:-1])
    bounds = np.flatnonzero(breaks) if len(item) else np.zeros(1, dtype=np.int64)
    starts, ends = bounds[:-1], bounds[1:] - 1
    run = np.empty((len(starts), 2), dtype=np.int32)
    run[:, 0], run[:, 1] = item[starts], item[ends] + 1
    number = np.bincount(query[starts], minlength=count)
    last = number.cumsum()
    return Masks(last - number, last, run)


def join(parts: list[Masks]) -> Masks:
    """The masks of consecutive queries as one."""
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.run) for part in parts)])
    return Masks(
        np.concatenate([part.first + shift for part, shift in zip(parts, before, strict=False)]),
        np.concatenate([part.last + shift for part, shift in zip(parts, before, strict=False)]),
        np.concatenate([part.run for part in parts]),
    )
