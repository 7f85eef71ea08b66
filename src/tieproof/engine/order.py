"""Sort pairs of a query and an item in the exact order of nearness."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Space
from tieproof.native.calls import Output, native
from tieproof.ties import BoolArray, FloatArray, IntArray, SmallIntArray

PAIRS = 2**16
"""How many pairs are ranked by exact keys together."""

FEW_DIGITS = 4
"""How many digits of exact keys are sorted first: near-duplicates mostly differ in the third or fourth (measured)."""


class RoomToSort(NamedTuple):
    """Working memory for sorting lists of at most n numbers with their positions; only kernels read it."""

    value: FloatArray  # (3, n)
    place: SmallIntArray  # (3, n)
    key: npt.NDArray[np.uint64]  # (2, n)

    @classmethod
    def of(cls, longest: int) -> "RoomToSort":
        """Working memory for lists of at most `longest` numbers."""
        return cls(
            np.empty((3, longest)), np.empty((3, longest), dtype=np.int32), np.empty((2, longest), dtype=np.uint64)
        )


class Ordered(NamedTuple):
    """Pairs, nearest first within each query.

    order : the index of the pair at each position
    key, error : its nearness, and a bound on the error of the nearness
    starts_tie : whether a new tie starts at each position
    """

    order: IntArray
    key: FloatArray
    error: FloatArray
    starts_tie: BoolArray


def exact_order(space: Space, rows: IntArray, query: IntArray, item: IntArray, room: RoomToSort) -> Ordered:
    """Sort pairs (query ascending, item) by exact nearness within each query; `room` fits the pairs of any query."""
    keys, errors = space.keys(rows[query], item)
    count = len(query)
    found = Ordered(np.empty_like(query), np.empty(count), np.empty(count), np.empty(count, dtype=np.bool_))
    if sort_by_key(query, keys, errors, room, found):
        rank_runs(space, rows, query, item, found)
    return found


@native
def sort_by_key(
    query: IntArray, key: FloatArray, error: FloatArray, room: Output[RoomToSort], found: Output[Ordered]
) -> bool:
    """Write the pairs of each query by descending key; a tie starts where a key is surely below the one before.

    Returns whether a tie of several pairs has a pair with an error.
    """


def rank_runs(space: Space, rows: IntArray, query: IntArray, item: IntArray, found: Ordered) -> None:
    """Rank the pairs of each run of overlapping intervals by exact keys, unless no pair in it has an error."""
    order, keys, errors, starts_tie = found
    run = np.flatnonzero(starts_tie)
    length = np.diff(np.append(run, len(query)))
    is_open = (length > 1) & (np.add.reduceat(errors > 0, run, dtype=np.int64) > 0)
    number = np.repeat(np.arange(len(run)), length)
    place = np.flatnonzero(is_open[number])
    for span in spans_of_runs(number[place]):
        chosen = place[span]
        exact = space.exact_keys(rows[query[chosen]], item[order[chosen]])
        sorting = nearest_first(exact, number[chosen])
        for column in (order, keys, errors):
            column[chosen] = column[chosen[sorting]]
        exact = exact[sorting]
        new_run = number[chosen[1:]] != number[chosen[:-1]]
        starts_tie[chosen[1:]] = (exact[1:] != exact[:-1]).any(axis=1) | new_run


def nearest_first(exact: IntArray, number: IntArray) -> IntArray:
    """Indices that sort exact keys in descending order within each run, by a few digits if these all differ."""
    # The complement of every digit reverses the lexicographic order.
    varying = [~digit for digit in exact.T if (digit != digit[0]).any()]
    few = varying[:FEW_DIGITS]
    sorting = np.lexsort((*few[::-1], number))
    if len(few) < len(varying) and not told_apart(few, number, sorting):
        sorting = np.lexsort((*varying[::-1], number))
    return sorting


def told_apart(digits: list[IntArray], number: IntArray, sorting: IntArray) -> bool:
    """Whether no two neighbours of a run have the same digits."""
    same = np.ones(len(sorting) - 1, dtype=np.bool_)
    for column in (number, *digits):
        in_order = column[sorting]
        same &= in_order[1:] == in_order[:-1]
    return not same.any()


def spans_of_runs(number: IntArray) -> Iterator[slice]:
    """Slices of whole runs with about `PAIRS` pairs each; `number` is the run of each pair, ascending."""
    start = 0
    while start < len(number):
        last = number[min(start + PAIRS, len(number)) - 1]
        begin, end = np.searchsorted(number, last), np.searchsorted(number, last, side="right")
        stop = int(begin if end > start + PAIRS and begin > start else end)
        yield slice(start, stop)
        start = stop


@native
def make_falling(low: Output[FloatArray], high: Output[FloatArray], query: IntArray) -> None:
    """Narrow overlapping intervals of neighbouring thresholds: each is below the one before it."""
