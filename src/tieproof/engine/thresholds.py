"""The relevant items of a block of queries in exact order: the thresholds that others are counted against."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.engine.masks import Masks, join, runs_of
from tieproof.engine.ranked import Ranked
from tieproof.engine.ranking import Entries, rank_pairs, rank_shared
from tieproof.engine.structures import Counts, FloatArray, IntArray, SmallIntArray, Targets, Thresholds, Undecided
from tieproof.exact.space import Space
from tieproof.relevance import Relevance, ranges
from tieproof.threads import in_order

SHARED = 16
"""Relevant items from which queries that share them are ranked by a matrix of keys (measured)."""


class Block(NamedTuple):
    """Room for the entries of a block of queries, which the threads fill, each for queries of its own."""

    start: IntArray
    stop: IntArray
    key: FloatArray
    reach: FloatArray
    gap: SmallIntArray
    equal: SmallIntArray
    item: SmallIntArray
    known: npt.NDArray[np.bool_]
    grades: FloatArray | None
    n_items: IntArray

    def put(self, places: IntArray, entries: Entries) -> None:
        """Store the entries of the queries at `places`."""
        length, total = np.diff(entries.pointer), entries.pointer[-1]
        self.stop[places] = self.start[places] + length
        self.reach[places] = entries.reach
        self.n_items[places] = entries.n_items
        self.known[places] = entries.item is not None
        if not total:
            return
        to = self.places_of(places)
        self.key[to], self.gap[to], self.equal[to] = entries.key, entries.gap, entries.equal
        if entries.item is not None:
            self.item[to] = entries.item
        if self.grades is not None and entries.grades is not None:
            self.grades[to] = entries.grades

    def places_of(self, queries: IntArray) -> slice | IntArray:
        """Where the entries of some queries are, one query after the other."""
        start, length = self.start[queries], self.stop[queries] - self.start[queries]
        if start[0] + length.sum() == self.stop[queries[-1]] and len(queries) == queries[-1] - queries[0] + 1:
            return slice(start[0], self.stop[queries[-1]])
        return ranges(start, length)[1]


def rank(space: Space, relevance: Relevance, spans: list[IntArray], threads: int) -> Ranked:
    """The relevant items of all `spans` of queries, ranked span by span to bound what is in memory at a time."""
    queries = np.concatenate(spans)
    rows = space.queries.identity[queries]
    ends = np.cumsum(relevance.at_most()[queries])
    block = Block(
        start=np.append(0, ends[:-1]),
        stop=np.empty_like(ends),
        key=np.empty(ends[-1]),
        reach=np.empty(len(queries)),
        gap=np.empty(ends[-1], dtype=np.int32),
        equal=np.empty(ends[-1], dtype=np.int32),
        item=np.empty(ends[-1], dtype=np.int32),
        known=np.zeros(len(queries), dtype=np.bool_),
        grades=np.ones(ends[-1]) if relevance.graded else None,
        n_items=np.empty_like(ends),
    )
    offsets = np.cumsum([0, *(len(span) for span in spans)])
    single = space.items.weight[space.items.identity] == 1

    def rank_span(place: int) -> tuple[Masks, Undecided]:
        return rank_part(space, relevance, single, spans[place], offsets[place], block)

    masks, partial = zip(*in_order(rank_span, range(len(spans)), threads), strict=True)
    mask = join(list(masks))

    def find_items(places: IntArray) -> None:
        entries, *_ = rank_pairs(space, rows[places], relevance.block(queries[places]))
        assert entries.item is not None
        block.item[block.places_of(places)] = entries.item
        block.known[places] = True

    return Ranked(
        targets=Targets(rows, mask.first, mask.last, mask.run),
        thresholds=Thresholds(block.start, block.stop, block.key, block.reach, np.zeros(len(queries))),
        counts=Counts(block.gap, block.equal),
        grades=block.grades,
        partial=Undecided(*(np.concatenate(column) for column in zip(*partial, strict=True))),
        n_items=block.n_items,
        item=block.item,
        known=block.known,
        find_items=find_items,
    )


def rank_part(
    space: Space, relevance: Relevance, single: np.ndarray, queries: IntArray, offset: int, block: Block
) -> tuple[Masks, Undecided]:
    """Rank some queries: those that share their relevant items by a matrix of keys, the others pair by pair.

    Returns what they leave out of the count, and the items that only pairs can place.
    """
    first, last = np.zeros_like(queries), np.zeros_like(queries)
    runs: list[SmallIntArray] = []
    count = 0
    left = np.ones(len(queries), dtype=np.bool_)
    for members, items in relevance.shared(queries, single, SHARED):
        columns = np.sort(space.items.identity[items])
        ranked, entries = rank_shared(space, space.queries.identity[queries[members]], columns, relevance)
        block.put(offset + members[ranked], entries)
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
