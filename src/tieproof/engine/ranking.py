"""Rank the relevant items of a block of queries exactly: the thresholds against which other items are counted.

Queries that share their relevant items are ranked by a matrix of keys, other queries pair by pair (`exact_order`): by
float64 keys, and by exact keys where float64 keys may overlap.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.bounds import ARITHMETIC, SAFETY
from tieproof.distances.space import Space
from tieproof.engine.plan import Plan
from tieproof.engine.ranked import Block, Paired, Pairs, Ranked, RoomToSort, join, of_queries, paired_rows, room_for
from tieproof.engine.structures import NOTHING, Targets, Undecided, joined
from tieproof.inputs.relevance import Relevance, RelevantBlock
from tieproof.native.calls import Output, native
from tieproof.native.threads import cut, in_order
from tieproof.ties import BoolArray, FloatArray, IntArray, SmallIntArray

if TYPE_CHECKING:
    from tieproof.engine.portions import CountedWindow, KnownItems

SHARED = 16  # from this many shared relevant items on, queries are ranked by a matrix of keys (measured)
MANY_ITEMS = 256  # as `SHARED`, for items that were ranked before: with fewer items, queries are handled one by one
PAIRS = 2**16  # how many pairs are ranked by exact keys together
FEW_DIGITS = 4  # how many digits are sorted first: near-duplicates mostly differ in the third or fourth (measured)


class Ordered(NamedTuple):
    """Pairs, nearest first within each query."""

    order: IntArray  # the index of the pair at each position
    key: FloatArray  # key, error: its nearness, and a bound on the error of the nearness
    error: FloatArray
    starts_tie: BoolArray  # whether a new tie starts at each position


def rank(
    space: Space,
    relevance: Relevance,
    spans: list[IntArray],
    plan: Plan,
    window: "CountedWindow | None" = None,
    known: "KnownItems | None" = None,
) -> Ranked:
    """Rank the relevant items of all `spans` of queries, span by span to limit the memory.

    window : the items that these queries count, in their order; None if they count all items
    known : the items ranked before, by the queries' numbers, if only other items are to be counted; without grades
    """
    queries = np.concatenate(spans)
    rows = space.queries.identity[queries]
    block = Block.of(relevance.at_most()[queries], relevance.graded and known is None)
    offsets = np.cumsum([0, *(len(span) for span in spans)])
    single = space.items.weight[space.items.identity] == 1
    fine = space
    new = queries if known is None else queries[~known.usable[queries]]
    if len(new) and any(True for _ in relevance.shared(new, single, SHARED)):
        fine = space.fine()
        fine.keep_rows()

    def rank_span(place: int) -> tuple[Targets, Undecided]:
        return rank_part((space, fine), relevance, single, spans[place], offsets[place], block, window, known)

    targets, partial = zip(*in_order(rank_span, range(len(spans)), plan.threads), strict=True)

    def items_of(places: IntArray) -> SmallIntArray:
        unknown = np.unique(places[~block.known[places]])
        for part in cut(block.stop[unknown] - block.start[unknown], plan.undecided):
            some = unknown[part]
            block.item[block.places_of(some)] = _ranked_items(space, rows[some], relevance.block(queries[some]))
            block.known[some] = True
        return block.item

    return Ranked(
        targets=join(targets),
        thresholds=block.thresholds(),
        counts=block.counts,
        grades=block.grades,
        partial=joined(partial),
        n_items=block.n_items,
        items=items_of,
    )


def rank_part(
    spaces: tuple[Space, Space],  # the space, and the space whose tiles are the matrices of keys
    relevance: Relevance,
    single: np.ndarray,
    queries: IntArray,
    offset: int,
    block: Block,
    window: "CountedWindow | None",
    known: "KnownItems | None",
) -> tuple[Targets, Undecided]:
    """Rank some queries: queries that share their relevant items by a matrix of keys, the others pair by pair.

    Returns the items that the queries leave out of the count, and the items that only pairs can place.
    """
    space, fine = spaces
    of_queries = space.queries.identity[queries]
    first, last = np.zeros_like(queries), np.zeros_like(queries)
    runs: list[SmallIntArray] = []
    count = 0
    left = np.ones(len(queries), dtype=np.bool_)
    for members, items in relevance.shared(queries, single, SHARED if known is None else MANY_ITEMS):
        columns = np.sort(space.items.identity[items])
        if known is not None and known.usable[queries[members]].all():
            known.hand_over(queries[members], block, offset + members)
            ranked = np.ones(len(members), dtype=np.bool_)
        else:
            own = space.items.identity[queries[members]] if relevance.leave_one_out else None
            ranked = rank_shared(fine, of_queries[members], columns, own, block, offset + members)
        left[members[ranked]] = False
        block.n_items[offset + members] = relevance.n_items - relevance.leave_one_out
        runs.append(runs_of(columns))
        first[members], last[members] = count, count + len(runs[-1])
        count += len(runs[-1])
    rest = np.flatnonzero(left)
    partial = NOTHING
    if len(rest):
        masked, partial = _rank_pairs(space, relevance, queries[rest], block, offset + rest, window, known)
        first[rest], last[rest] = masked.first + count, masked.last + count
        partial = partial._replace(query=offset + rest[partial.query])
        runs.append(masked.run)
    return Targets(of_queries, first, last, np.concatenate(runs)), partial


def rank_shared(
    space: Space, rows: IntArray, columns: IntArray, own: IntArray | None, block: Block, places: IntArray
) -> npt.NDArray[np.bool_]:
    """Rank the same items, each a distinct row of its own, for queries whose distinct rows are `rows`.

    own : the item that each query is, and leaves out, in leave-one-out

    The entries are written to `places` of the block. The tiles of `space` are exact or float64.

    Returns whether each query was ranked; if it was not, two of its keys are too close, and exact keys have to
    decide.
    """
    keys, errors = space.key_block(_as_slice(rows), _as_slice(columns))
    length = len(columns) - (own is not None)
    if own is not None:
        keys[np.arange(len(rows)), np.searchsorted(columns, own)] = -np.inf
    keys.sort(axis=1)
    largest = np.maximum(np.abs(keys[:, -1]), np.abs(keys[:, -length]))
    reach = np.where(errors > 0, errors * SAFETY + ARITHMETIC * largest, 0.0)
    block.stop[places] = block.start[places] + length
    clear = np.empty(len(keys), dtype=np.bool_)
    reverse(keys, length, reach, block.start[places], block.key, block.gap, clear)
    ranked = places[clear]
    block.reach[ranked] = reach[clear]
    block.make_guide(ranked)
    return clear


def runs_of(items: IntArray) -> SmallIntArray:
    """Ascending items as runs (r, 2) of consecutive items: the first item, and the one after the last."""
    starts = np.flatnonzero(np.diff(items, prepend=-2) != 1)
    ends = np.append(starts, len(items))[1:] - 1
    return np.stack([items[starts], items[ends] + 1], axis=1).astype(np.int32)


def _as_slice(rows: IntArray) -> slice | IntArray:
    """Ascending rows as a slice if they are consecutive."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


@native
def reverse(
    keys: FloatArray,
    length: int,
    reach: FloatArray,
    start: IntArray,
    key: Output[FloatArray],
    gap: Output[SmallIntArray],
    clear: Output[npt.NDArray[np.bool_]],
) -> None:
    """Write the last `length` keys of each ascending row in descending order, from `start` on.

    `clear` is set for rows whose keys differ by more than their errors; equal keys without an error are a tie.
    """


def _rank_pairs(
    space: Space,
    relevance: Relevance,
    queries: IntArray,
    block: Block,
    places: IntArray,
    window: "CountedWindow | None",
    known: "KnownItems | None",
) -> tuple[Targets, Undecided]:
    """Rank the relevant items of queries; the entries are written to `places` of the block.

    Returns the items that the queries leave out of the count, and the items that only pairs can place.
    """
    relevant = relevance.block(queries)
    room = room_for(relevant)
    rows = space.queries.identity[queries]
    paired = paired_rows(space, rows, relevant, room)
    if window is not None:
        paired = within(window, places, paired)
    block.n_items[places] = len(space.items.identity) - np.diff(relevant.excluded_pointer)
    pairs, new = paired.pairs, np.ones(len(queries), dtype=np.bool_)
    if known is not None:  # except for ties with other items that are equal to a relevant item
        new = ~known.usable[queries]
        new[pairs.query[pairs.others > 0]] = True
        known.hand_over(queries[~new], block, places[~new])
        pairs = of_queries(pairs, new)
    if new.any():
        ordered = exact_order(space, rows[new], pairs.query, pairs.item)
        put_entries(pairs, ordered, room, places[new], block)
        if block.grades is not None and relevant.grades is not None and len(relevant.items):
            block.grades[block.places_of(places)] = _grades_by_tie(relevant.grades, paired.of_item, ordered)
    return paired.targets, paired.partial


def within(window: "CountedWindow", places: IntArray, paired: Paired) -> Paired:
    """The pairs without the non-relevant items outside the window of their query, at `places` in the block."""
    pairs, partial = paired.pairs, paired.partial
    others = np.where(window.holds(places[pairs.query], pairs.item), pairs.others, 0)
    counted = window.holds(places[partial.query], partial.item)
    return paired._replace(pairs=pairs._replace(others=others), partial=partial.where(counted))


def _ranked_items(space: Space, rows: IntArray, relevant: RelevantBlock) -> IntArray:
    """The distinct items of the entries that `_rank_pairs` writes, one query after the other."""
    pairs = paired_rows(space, rows, relevant, room_for(relevant)).pairs
    order = exact_order(space, rows, pairs.query, pairs.item).order
    return np.repeat(pairs.item[order], pairs.relevant[order])


@native
def put_entries(
    pairs: Pairs, ordered: Ordered, room: Output[RoomToSort], places: IntArray, block: Output[Block]
) -> None:
    """Write an entry for each relevant item: the key of its tie, and its first counts.

    The exact nearness of all items of a tie is within the query's reach of the key. If float64 cannot express such a
    reach, keys are 0 and the reach is infinite.
    """


def _grades_by_tie(grades: FloatArray, of_item: IntArray, ordered: Ordered) -> FloatArray:
    """The grades of the relevant items, tie by tie, in descending order within a tie."""
    tie = np.empty_like(ordered.order)
    tie[ordered.order] = np.cumsum(ordered.starts_tie) - 1
    return grades[np.lexsort((-grades, tie[of_item]))]


def exact_order(space: Space, rows: IntArray, query: IntArray, item: IntArray) -> Ordered:
    """Sort pairs (query ascending, item) by exact nearness within each query."""
    keys, errors = space.keys(rows[query], item)
    count = len(query)
    ordered = Ordered(np.empty_like(query), np.empty(count), np.empty(count), np.empty(count, dtype=np.bool_))
    room = RoomToSort.of(int(np.bincount(query).max(initial=0)))
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
    for span in spans_of_runs(length[is_open]):
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


def spans_of_runs(length: IntArray) -> Iterator[slice]:
    """Slices of whole runs, which have these lengths, with about `PAIRS` pairs each."""
    ends = np.append(0, np.cumsum(length))
    for runs in cut(length - 1, PAIRS):
        yield slice(int(ends[runs.start]), int(ends[runs.stop]))
