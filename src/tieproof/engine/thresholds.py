"""The relevant items of some queries in exact order: the thresholds that all other items are counted against."""

from dataclasses import dataclass

import numpy as np

from tieproof.engine.kernels import (
    Counts,
    FloatArray,
    IntArray,
    Row,
    SmallIntArray,
    Targets,
    Thresholds,
    Undecided,
)
from tieproof.engine.order import exact_order
from tieproof.exact.bounds import UNIT_ROUNDOFF
from tieproof.exact.space import Space
from tieproof.relevance import RelevantBlock, pointers, sorted_contains
from tieproof.ties import Ties


@dataclass(frozen=True)
class Ranked:
    """A block of queries whose relevant items are ranked, with the counts that tiles add to.

    One entry per threshold: relevant (items at it), representative (a distinct item at it). `partial` are
    distinct items of which only some are excluded: no tile can weigh them.
    """

    targets: Targets
    thresholds: Thresholds
    counts: Counts
    relevant: SmallIntArray
    representative: SmallIntArray
    grades: FloatArray | None
    partial: Undecided
    n_relevant: IntArray
    n_items: IntArray

    def ties(self, start: int = 0, stop: int | None = None) -> Ties:
        """What was counted for the queries start … stop-1, as ties."""
        stop = len(self.n_relevant) if stop is None else stop
        pointer = self.thresholds.pointer[start : stop + 1]
        span = slice(pointer[0], pointer[-1])
        query = np.repeat(np.arange(stop - start), np.diff(pointer))
        starts = pointer[:-1] - pointer[0]
        relevant = self.relevant[span].astype(np.int64)
        relevant_before = before(relevant, query, starts)
        others_before = before(self.counts.gap[span], query, starts) + self.counts.gap[span]
        return Ties(
            query=query,
            k=others_before + relevant_before,
            n=relevant_before,
            l=self.counts.equal[span] + relevant,
            m=relevant,
            n_relevant=self.n_relevant[start:stop],
            n_items=self.n_items[start:stop],
            grades=None if self.grades is None else self.grades_of(start, stop),
        )

    def grades_of(self, start: int, stop: int) -> FloatArray:
        """The grades of the relevant items of the queries start … stop-1."""
        assert self.grades is not None
        ends = np.concatenate([[0], np.cumsum(self.n_relevant)])
        return self.grades[ends[start] : ends[stop]]


def join(parts: list[Ranked]) -> Ranked:
    """Consecutive blocks as one."""
    if len(parts) == 1:
        return parts[0]
    first_query = np.cumsum([0, *(len(part.n_relevant) for part in parts)])
    partial = [
        part.partial._replace(query=part.partial.query + first)
        for part, first in zip(parts, first_query, strict=False)
    ]
    graded = any(part.grades is not None for part in parts)
    return Ranked(
        targets=Targets(
            np.concatenate([part.targets.row for part in parts]),
            joined_pointers([part.targets.masked_pointer for part in parts]),
            np.concatenate([part.targets.masked for part in parts]),
        ),
        thresholds=Thresholds(
            joined_pointers([part.thresholds.pointer for part in parts]),
            np.concatenate([part.thresholds.low for part in parts]),
            np.concatenate([part.thresholds.high for part in parts]),
            np.concatenate([part.thresholds.wide_low for part in parts]),
            np.concatenate([part.thresholds.wide_high for part in parts]),
        ),
        counts=Counts(*(np.concatenate(column) for column in zip(*(part.counts for part in parts), strict=True))),
        relevant=np.concatenate([part.relevant for part in parts]),
        representative=np.concatenate([part.representative for part in parts]),
        grades=np.concatenate([part.grades for part in parts if part.grades is not None]) if graded else None,
        partial=Undecided(*(np.concatenate(column) for column in zip(*partial, strict=True))),
        n_relevant=np.concatenate([part.n_relevant for part in parts]),
        n_items=np.concatenate([part.n_items for part in parts]),
    )


def joined_pointers(pointers: list[IntArray]) -> IntArray:
    """Pointers of consecutive blocks as those of one."""
    lengths = np.concatenate([np.diff(pointer) for pointer in pointers])
    return np.concatenate([[0], np.cumsum(lengths)])


def before(values: IntArray | SmallIntArray, query: IntArray, starts: IntArray) -> IntArray:
    """Sums of `values` before each entry, within its query."""
    total = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return np.asarray(total[:-1] - total[starts][query])


def rank_relevant(space: Space, rows: IntArray, block: RelevantBlock) -> Ranked:
    """Rank the relevant items of queries whose distinct rows are `rows`."""
    count, distinct = len(rows), len(space.items)
    identity, weight = space.items.identity, space.items.weight
    position = np.repeat(np.arange(count), np.diff(block.pointer))
    code, of_item, relevant = grouped(position * distinct + identity[block.items], block.grades is not None)
    excluded_position = np.repeat(np.arange(count), np.diff(block.excluded_pointer))
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
    pointer = pointers(tie_query, count)
    equal = np.add.reduceat(same[order], first) if len(first) else first
    tie_relevant = np.add.reduceat(relevant[order], first) if len(first) else first
    gap = np.zeros(len(first), dtype=np.int32)
    follows = tie_query[1:] == tie_query[:-1]
    gap[1:][follows] = equal[:-1][follows]

    # 3. What the tiles must not count, and what only pairs can.
    rest_code = excluded_code[~at_relevant]
    rest_weight = weight[rest_code % distinct] - excluded[~at_relevant]
    rest_query = rest_code // distinct
    open_rest = (rest_weight > 0) & (np.diff(pointer)[rest_query] > 0)
    masked = np.sort(np.concatenate([code, rest_code]))
    return Ranked(
        targets=Targets(rows, pointers(masked // distinct, count), (masked % distinct).astype(np.int32)),
        thresholds=Thresholds(pointer, low, high, *widened(space, rows[tie_query], low, high)),
        counts=Counts(gap, equal.astype(np.int32)),
        relevant=tie_relevant.astype(np.int32),
        representative=item[order][first].astype(np.int32),
        grades=grades_by_tie(block.grades, of_item, order, starts_tie),
        partial=Undecided(
            rest_query[open_rest],
            rest_code[open_rest] % distinct,
            rest_weight[open_rest],
            np.zeros(int(open_rest.sum()), dtype=np.int64),
            np.diff(pointer)[rest_query[open_rest]],
        ),
        n_relevant=np.diff(block.pointer),
        n_items=len(identity) - np.diff(block.excluded_pointer),
    )


def grouped(code: IntArray, with_index: bool) -> tuple[IntArray, IntArray, IntArray]:
    """Sorted distinct codes, for each code given its place among them (if asked for), and how often each occurs."""
    if with_index:
        distinct, inverse, counts = np.unique(code, return_inverse=True, return_counts=True)
        return distinct, inverse, counts
    code = np.sort(code)
    first = np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1]])) if len(code) else code
    return code[first], code[:0], np.diff(np.append(first, len(code)))


def grades_by_tie(
    grades: FloatArray | None, of_item: IntArray, order: IntArray, starts_tie: np.ndarray
) -> FloatArray | None:
    """The grades of the relevant items, tie after tie, falling within a tie."""
    if grades is None:
        return None
    tie = np.empty(len(order), dtype=np.int64)
    tie[order] = np.cumsum(starts_tie) - 1
    return grades[np.lexsort((-grades, tie[of_item]))]


def widened(space: Space, rows: IntArray, low: FloatArray, high: FloatArray) -> tuple[Row, Row]:
    """Intervals, in the tile's type, of all entries that may belong to a nearness within [low, high].

    The roundings here are covered by 4 u |t|, and those of the absolute error by its own SAFETY, 2^-20 of it, far
    above u. They may put neighbouring bounds out of order by less than that slack, which hides no item. A bound
    stays above minus infinity, where masked items are.
    """
    dtype = space.nearness_type
    relative, of_row = space.largest_error
    absolute = of_row[rows]
    if relative == 0.0 and not absolute.any():
        return low.astype(dtype), high.astype(dtype)
    relative += 4 * UNIT_ROUNDOFF[dtype]
    wide_low = low - absolute - relative * np.abs(low)
    wide_high = high + absolute + relative * np.abs(high)
    return np.maximum(wide_low, np.finfo(dtype).min).astype(dtype), wide_high.astype(dtype)
