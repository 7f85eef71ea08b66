"""The relevant items of a block of queries in exact order: the thresholds that others are counted against."""

import numpy as np

from tieproof.distances.space import Space
from tieproof.engine.block import Block
from tieproof.engine.masks import Masks, join, runs_of
from tieproof.engine.plan import Plan, cut
from tieproof.engine.ranked import Ranked
from tieproof.engine.ranking import rank_pairs, rank_shared
from tieproof.engine.structures import Counts, Targets, Thresholds, Undecided
from tieproof.inputs.relevance import Relevance
from tieproof.native.threads import in_order
from tieproof.ties import IntArray, SmallIntArray

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
        item=block.item,
        known=block.known,
        find_items=find_items,
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
