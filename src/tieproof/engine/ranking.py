"""The relevant items of a block of queries in exact order: the thresholds that others are counted against.

Queries that share their relevant items are ranked by a matrix of keys, the others pair by pair.
"""

import numpy as np
import numpy.typing as npt

from tieproof.distances.space import Space
from tieproof.engine.masks import Masks, join, masks_of, runs_of
from tieproof.engine.order import exact_order
from tieproof.engine.plan import Plan, cut
from tieproof.engine.ranked import Block, Ranked, RankedItems, ThresholdItems
from tieproof.engine.structures import CONTINUED, Counts, Targets, Thresholds, Undecided
from tieproof.exact.bounds import ARITHMETIC, SAFETY
from tieproof.inputs.relevance import Relevance, RelevantBlock, sorted_contains
from tieproof.native.calls import native
from tieproof.native.threads import in_order
from tieproof.ties import FloatArray, IntArray, SmallIntArray

SHARED = 16
"""Relevant items from which queries that share them are ranked by a matrix of keys (measured)."""


def rank(space: Space, relevance: Relevance, spans: list[IntArray], plan: Plan) -> Ranked:
    """The relevant items of all `spans` of queries, ranked span by span to bound what is in memory at a time."""
    queries = np.concatenate(spans)
    rows = space.queries.identity[queries]
    block = Block.of(relevance.at_most()[queries], relevance.graded)
    offsets = np.cumsum([0, *(len(span) for span in spans)])
    single = space.items.weight[space.items.identity] == 1
    fine = space
    if any(True for _ in relevance.shared(queries, single, SHARED)):
        fine = space.fine()
        fine.keep_rows()

    def rank_span(place: int) -> tuple[Masks, Undecided]:
        return rank_part((space, fine), relevance, single, spans[place], offsets[place], block)

    masks, partial = zip(*in_order(rank_span, range(len(spans)), plan.threads), strict=True)
    mask = join(list(masks))

    def find_items(places: IntArray) -> None:
        for part in cut(block.stop[places] - block.start[places], plan.undecided):
            some = places[part]
            entries, *_ = rank_pairs(space, rows[some], relevance.block(queries[some]))
            block.item[block.places_of(some)] = entries.item
            block.known[some] = True

    return Ranked(
        targets=Targets(rows, mask.first, mask.last, mask.run),
        thresholds=Thresholds(
            block.start, block.stop, block.key, block.reach, np.zeros(len(queries)), block.guide, block.scale
        ),
        counts=Counts(block.gap, block.equal),
        grades=block.grades,
        partial=Undecided(*(np.concatenate(column) for column in zip(*partial, strict=True))),
        n_items=block.n_items,
        items=ThresholdItems(block.item, block.known, find_items),
    )


def rank_part(
    spaces: tuple[Space, Space],
    relevance: Relevance,
    single: np.ndarray,
    queries: IntArray,
    offset: int,
    block: Block,
) -> tuple[Masks, Undecided]:
    """Rank some queries: those that share their relevant items by a matrix of keys, the others pair by pair.

    spaces : the space, and the one whose tiles are the matrices

    Returns what they leave out of the count, and the items that only pairs can place.
    """
    space, fine = spaces
    first, last = np.zeros_like(queries), np.zeros_like(queries)
    runs: list[SmallIntArray] = []
    count = 0
    left = np.ones(len(queries), dtype=np.bool_)
    for members, items in relevance.shared(queries, single, SHARED):
        columns = np.sort(space.items.identity[items])
        rows = space.queries.identity[queries[members]]
        ranked = rank_shared(fine, rows, columns, relevance, block, offset + members)
        left[members[ranked]] = False
        runs.append(runs_of(columns))
        first[members], last[members] = count, count + len(runs[-1])
        count += len(runs[-1])
    rest = np.flatnonzero(left)
    entries, masked, partial = rank_pairs(
        space, space.queries.identity[queries[rest]], relevance.block(queries[rest])
    )
    block.put(offset + rest, entries)
    first[rest], last[rest] = masked.first + count, masked.last + count
    partial = partial._replace(query=offset + rest[partial.query])
    return Masks(first, last, np.concatenate([*runs, masked.run])), partial


def rank_shared(
    space: Space, rows: IntArray, columns: IntArray, relevance: Relevance, block: Block, places: IntArray
) -> npt.NDArray[np.bool_]:
    """Rank the same items, each a distinct row of its own, for queries whose distinct rows are `rows`.

    In leave-one-out a query is one of the items and leaves itself out. The entries go to `places` of the block.
    `space` has tiles that are exact or float64.
    Returns which queries are ranked; of the others two keys are too close to tell them apart: exact keys have to
    decide.
    """
    keys, errors = space.key_block(as_slice(rows), as_slice(columns))
    length = len(columns) - relevance.leave_one_out
    if relevance.leave_one_out:
        keys[np.arange(len(rows)), np.searchsorted(columns, rows)] = -np.inf
    keys.sort(axis=1)
    largest = np.maximum(np.abs(keys[:, -1]), np.abs(keys[:, -length]))
    reach = np.where(errors > 0, errors * SAFETY + ARITHMETIC * largest, 0.0)
    block.stop[places] = block.start[places] + length
    clear = np.empty(len(keys), dtype=np.bool_)
    reverse(keys, length, reach, block.start[places], block.key, block.gap, clear)
    ranked = places[clear]
    block.reach[ranked], block.n_items[ranked] = reach[clear], relevance.n_items - relevance.leave_one_out
    block.make_guide(ranked)
    return clear


def as_slice(rows: IntArray) -> slice | IntArray:
    """Ascending rows as a slice where they are consecutive."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


@native
def reverse(
    keys: FloatArray,
    length: int,
    reach: FloatArray,
    start: IntArray,
    key: FloatArray,
    gap: SmallIntArray,
    clear: npt.NDArray[np.bool_],
) -> None:
    """Write the last `length` of each row of rising keys, falling, from `start` on; `clear`: these are told apart.

    Equal keys without an error are a tie.
    """


def rank_pairs(space: Space, rows: IntArray, block: RelevantBlock) -> tuple[RankedItems, Masks, Undecided]:
    """Rank the relevant items of queries whose distinct rows are `rows`; what they mask; partial items."""
    count, distinct = len(rows), len(space.items)
    lengths = block.pointer[1:] - block.pointer[:-1]
    identity, weight = space.items.identity, space.items.weight
    position = np.repeat(np.arange(count), lengths)
    code, of_item, relevant = grouped(position * distinct + identity[block.items], block.grades is not None)
    left_out = block.excluded_pointer[1:] - block.excluded_pointer[:-1]
    excluded_position = np.repeat(np.arange(count), left_out)
    excluded_code, _, excluded = grouped(excluded_position * distinct + identity[block.excluded], False)
    query, item = code // distinct, code % distinct

    # 1. Items of the same row as a relevant one: at its threshold, whatever the distance.
    same = weight[item] - relevant
    at_relevant = sorted_contains(code, excluded_code)
    same[np.searchsorted(code, excluded_code[at_relevant])] -= excluded[at_relevant]

    # 2. The exact order of the relevant ones.
    order, starts_tie, low, high = exact_order(space, rows, query, item)
    first = np.flatnonzero(starts_tie)
    tie_query = query[order][first]
    equal = np.add.reduceat(same[order], first) if len(first) else first
    tie_relevant = np.add.reduceat(relevant[order], first) if len(first) else first
    gap = np.zeros(len(first), dtype=np.int64)
    follows = tie_query[1:] == tie_query[:-1]
    gap[1:][follows] = equal[:-1][follows]
    keys, reach = centred(low, high, tie_query, count)

    # 3. One entry for each relevant item.
    head = np.cumsum(tie_relevant) - tie_relevant
    entry_gap = np.full(len(block.items), CONTINUED, dtype=np.int32)
    entry_equal = np.zeros(len(block.items), dtype=np.int32)
    entry_gap[head], entry_equal[head] = gap, equal
    entries = RankedItems(
        pointer=block.pointer,
        key=np.repeat(keys, tie_relevant),
        reach=reach,
        gap=entry_gap,
        equal=entry_equal,
        item=np.repeat(item[order], relevant[order]).astype(np.int32),
        grades=grades_by_tie(block.grades, of_item, order, starts_tie),
        n_items=len(identity) - left_out,
    )

    # 4. What the tiles must not count, and what only pairs can.
    rest_code = excluded_code[~at_relevant]
    rest_weight = weight[rest_code % distinct] - excluded[~at_relevant]
    rest_query = rest_code // distinct
    length = lengths[rest_query]
    part = (rest_weight > 0) & (length > 0)
    partial = Undecided(
        rest_query[part], rest_code[part] % distinct, rest_weight[part], np.zeros_like(length[part]), length[part]
    )
    masked = np.sort(np.concatenate([code, rest_code]))
    return entries, masks_of(masked // distinct, masked % distinct, count), partial


def centred(low: FloatArray, high: FloatArray, query: IntArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Falling intervals as keys, and for each of `count` queries the reach that makes them contain the intervals."""
    finite = np.isfinite(low) & np.isfinite(high)
    keys = np.where(finite, low + (high - low) / 2, 0.0)
    half = np.where(finite, high - low, np.inf) / 2
    reach, largest = np.zeros(count), np.zeros(count)
    np.maximum.at(reach, query, half)
    np.maximum.at(largest, query, np.abs(keys))
    unbounded = np.isinf(reach)[query]
    keys[unbounded] = 0.0  # all intervals meet: the order of the entries alone tells the thresholds apart
    return keys, np.where(reach > 0, reach * SAFETY + ARITHMETIC * largest, 0.0)


def grouped(code: IntArray, with_index: bool) -> tuple[IntArray, IntArray, IntArray]:
    """Sorted distinct codes, for each code given its place among them (if asked for), and how often each occurs."""
    if with_index:
        distinct, inverse, counts = np.unique(code, return_inverse=True, return_counts=True)
        return distinct, inverse, counts
    code = np.sort(code)
    bounds = (
        np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1], [True]])) if len(code) else np.zeros(1, int)
    )
    return code[bounds[:-1]], code[:0], bounds[1:] - bounds[:-1]


def grades_by_tie(
    grades: FloatArray | None, of_item: IntArray, order: IntArray, starts_tie: np.ndarray
) -> FloatArray | None:
    """The grades of the relevant items, tie after tie, falling within a tie."""
    if grades is None:
        return None
    tie = np.empty(len(order), dtype=np.int64)
    tie[order] = np.cumsum(starts_tie) - 1
    return grades[np.lexsort((-grades, tie[of_item]))]
