"""Sort pairs of a query and an item in the exact order of nearness."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Space
from tieproof.engine.structures import Undecided
from tieproof.inputs.relevance import RelevantBlock
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
    ordered = Ordered(np.empty_like(query), np.empty(count), np.empty(count), np.empty(count, dtype=np.bool_))
    if sort_by_key(query, keys, errors, room, ordered):
        _rank_runs(space, rows, query, item, ordered)
    return ordered


@native
def sort_by_key(
    query: IntArray, key: FloatArray, error: FloatArray, room: Output[RoomToSort], found: Output[Ordered]
) -> bool:
    """Write the pairs of each query by descending key; a tie starts where a key is surely below the one before.

    Returns whether a tie of several pairs has a pair with an error.
    """


def _rank_runs(space: Space, rows: IntArray, query: IntArray, item: IntArray, ordered: Ordered) -> None:
    """Rank the pairs of each run of overlapping intervals by exact keys, unless no pair in it has an error."""
    order, keys, errors, starts_tie = ordered
    run = np.flatnonzero(starts_tie)
    length = np.diff(np.append(run, len(query)))
    is_open = (length > 1) & (np.add.reduceat(errors > 0, run, dtype=np.int64) > 0)
    number = np.repeat(np.arange(len(run)), length)
    place = np.flatnonzero(is_open[number])
    for span in spans_of_runs(number[place]):
        chosen = place[span]
        exact = space.exact_keys(rows[query[chosen]], item[order[chosen]])
        sorting = _nearest_first(exact, number[chosen])
        for column in (order, keys, errors):
            column[chosen] = column[chosen[sorting]]
        exact = exact[sorting]
        new_run = number[chosen[1:]] != number[chosen[:-1]]
        starts_tie[chosen[1:]] = (exact[1:] != exact[:-1]).any(axis=1) | new_run


def _nearest_first(exact: IntArray, number: IntArray) -> IntArray:
    """Indices that sort exact keys in descending order within each run, by a few digits if these all differ."""
    # The complement of every digit reverses the lexicographic order.
    varying = [~digit for digit in exact.T if (digit != digit[0]).any()]
    few = varying[:FEW_DIGITS]
    sorting = np.lexsort((*few[::-1], number))
    if len(few) < len(varying) and not _told_apart(few, number, sorting):
        sorting = np.lexsort((*varying[::-1], number))
    return sorting


def _told_apart(digits: list[IntArray], number: IntArray, sorting: IntArray) -> bool:
    """Whether no two neighbors of a run have the same digits."""
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
    """Narrow overlapping intervals of neighboring thresholds: each is below the one before it."""


class Masks(NamedTuple):
    """The distinct items that queries leave out of the count, as runs of consecutive rows.

    Query q leaves out run[i, 0] … run[i, 1]-1 for i = first[q] … last[q]-1.
    """

    first: IntArray
    last: IntArray
    run: SmallIntArray


class Pairs(NamedTuple):
    """Pairs of a query and a distinct item that represents at least one relevant item, in ascending order.

    relevant : how many of the represented items are relevant to the query
    others : how many are neither relevant nor excluded; they are tied with the relevant ones at every distance
    """

    query: IntArray
    item: IntArray
    relevant: IntArray
    others: IntArray


class Paired(NamedTuple):
    """The items that queries rank and that they leave out of the count.

    of_item : the pair to which each relevant item belongs; empty if no grades are needed
    partial : distinct items of which a query excludes some, and of which none is relevant
    """

    pairs: Pairs
    of_item: IntArray
    masks: Masks
    partial: Undecided


class PairedUp(NamedTuple):
    """The numbers of pairs, partial items and runs written."""

    pairs: int
    partial: int
    runs: int


def of_queries(pairs: Pairs, chosen: BoolArray) -> Pairs:
    """The pairs of the chosen queries, with the queries renumbered."""
    if chosen.all():
        return pairs
    kept = chosen[pairs.query]
    number = np.cumsum(chosen) - 1
    query, *others = (column[kept] for column in pairs)
    return Pairs(number[query], *others)


def room_for(relevant: RelevantBlock) -> RoomToSort:
    """Working memory for the longest list of relevant or excluded items."""
    pointers = (relevant.pointer, relevant.excluded_pointer)
    return RoomToSort.of(max(int(np.diff(pointer).max(initial=0)) for pointer in pointers))


def paired_rows(space: Space, relevant: RelevantBlock, room: RoomToSort) -> Paired:
    """The distinct items that queries rank and leave out."""
    n_relevant, n_left_out, count = len(relevant.items), len(relevant.excluded), len(relevant.pointer) - 1
    pairs, partial = np.empty((4, n_relevant), dtype=np.int64), np.empty((5, n_left_out), dtype=np.int64)
    of_item = np.empty(0 if relevant.grades is None else n_relevant, dtype=np.int64)
    ends, run = np.zeros(count + 1, dtype=np.int64), np.empty((n_relevant + n_left_out, 2), dtype=np.int32)
    identity, weight = space.items.identity, space.items.weight
    written = pair_up(relevant, identity, weight, room, pairs, of_item, partial, ends[1:], run)
    return Paired(
        Pairs(*pairs[:, : written.pairs]),
        of_item,
        Masks(ends[:-1], ends[1:], run[: written.runs]),
        Undecided(*partial[:, : written.partial]),
    )


@native
def pair_up(
    relevant: RelevantBlock,
    identity: IntArray,
    weight: IntArray,
    room: Output[RoomToSort],
    pairs: Output[IntArray],
    of_item: Output[IntArray],
    partial: Output[IntArray],
    last: Output[IntArray],
    run: Output[SmallIntArray],
) -> PairedUp:
    """Write the contents of `Paired`: pairs, the pair of each item, partial items, and runs that end at `last`.

    The rows of `pairs` and of `partial` are the fields of `Pairs` and of `Undecided`.
    """


def join(parts: list[Masks]) -> Masks:
    """The masks of consecutive queries as one."""
    before = np.cumsum([0, *(len(part.run) for part in parts)])
    return Masks(
        np.concatenate([part.first + shift for part, shift in zip(parts, before, strict=False)]),
        np.concatenate([part.last + shift for part, shift in zip(parts, before, strict=False)]),
        np.concatenate([part.run for part in parts]),
    )
