"""Pair queries with the distinct items that are relevant to them, and find the items that are not counted."""

from typing import NamedTuple

import numpy as np

from tieproof.distances.space import Space
from tieproof.engine.order import RoomToSort
from tieproof.engine.structures import Undecided
from tieproof.inputs.relevance import RelevantBlock
from tieproof.native.calls import Output, native
from tieproof.ties import BoolArray, IntArray, SmallIntArray


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
    found = pair_up(relevant, identity, weight, room, pairs, of_item, partial, ends[1:], run)
    return Paired(
        Pairs(*pairs[:, : found.pairs]),
        of_item,
        Masks(ends[:-1], ends[1:], run[: found.runs]),
        Undecided(*partial[:, : found.partial]),
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
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.run) for part in parts)])
    return Masks(
        np.concatenate([part.first + shift for part, shift in zip(parts, before, strict=False)]),
        np.concatenate([part.last + shift for part, shift in zip(parts, before, strict=False)]),
        np.concatenate([part.run for part in parts]),
    )
