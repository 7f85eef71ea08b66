"""The worst and the best ranking under noise, and shifted numbers for counting it (engine/README.md).

In the worst ranking an item that is not relevant stands before a relevant one if it may: if it is not farther than
the relevant item's far end. In the best ranking it stands before it only if it must: if it is nearer than the
relevant item's near end.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tieproof.distances.space import Space
from tieproof.engine.counting import Area, count_others, whole_area
from tieproof.engine.ends import Ends
from tieproof.engine.plan import Plan
from tieproof.engine.problem import Noise, Progress
from tieproof.engine.ranked import Ranked
from tieproof.engine.shifted import together
from tieproof.engine.structures import NOTHING
from tieproof.inputs.relevance import Relevance
from tieproof.ties import Array, ExtremeRankings, FloatArray, IntArray, Ties


def ranking_of(query: IntArray, others: IntArray, n_relevant: IntArray, n_items: IntArray) -> Ties:
    """The ranking in which so many `others` stand before each listed relevant item, of the queries `query`."""
    first = np.searchsorted(query, np.arange(len(n_relevant)))
    n = np.arange(len(query)) - first[query]
    one = np.ones_like(n)
    return Ties(query=query, k=n + others, n=n, l=one, m=one, n_relevant=n_relevant, n_items=n_items)


def moved(numbers: Array, shift: FloatArray) -> Array:
    """Return numbers + shift, rounded toward the numbers: down for positive shifts, up for negative ones.

    A number of the same type is at most numbers + shift exactly if it is at most that sum rounded down, and at least
    numbers + shift exactly if it is at least that sum rounded up.

    >>> moved(np.array([1.0, 3.0]), np.array([2.0**-60, -0.5]))
    array([1. , 2.5])
    >>> moved(np.array([7, 7]), np.array([1.5, -1.5]))
    array([8, 6])
    """
    if numbers.dtype.kind == "i":
        return _moved_integers(numbers, shift)
    wide = numbers.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        total = wide + shift
        part = total - wide
        error = (wide - (total - part)) + (shift - part)
        toward = np.where(shift > 0, -np.inf, np.inf)
        beyond = np.isinf(total) | np.where(shift > 0, error < 0, error > 0)
        total = np.where(beyond, np.nextafter(total, toward), total)
        narrow = total.astype(numbers.dtype)
        past = np.where(shift > 0, narrow > total, narrow < total)
        return np.where(past, np.nextafter(narrow, toward.astype(numbers.dtype)), narrow)


def _moved_integers(numbers: Array, shift: FloatArray) -> Array:
    """Integers moved by the whole part of `shift`, no farther than the limits of their type."""
    limits = np.iinfo(numbers.dtype)
    bits = numbers.astype(np.int64).view(np.uint64)  # unsigned differences of 64 bits do not overflow
    largest, smallest = (np.array(limit, dtype=np.int64).view(np.uint64) for limit in (limits.max, limits.min))
    upward, size = shift > 0, np.floor(np.abs(shift))
    room = np.where(upward, largest - bits, bits - smallest)
    fits = size < 2.0**64
    step = np.where(fits, np.minimum(np.where(fits, size, 0.0).astype(np.uint64), room), room)
    return np.where(upward, bits + step, bits - step).view(np.int64).astype(numbers.dtype)


class Noisy(NamedTuple):
    """Counts blocks of queries under noise, and keeps the ends of the last one."""

    space: Space
    noise: Noise
    # Consecutive distinct items, and the largest numbers of `Noise.of_item` among them: most items, and if a
    # few moved far more than these, the others.
    parts: list[tuple[slice, FloatArray]]
    ends: list[Ends]  # of each part

    @classmethod
    def of(cls, space: Space, noise: Noise) -> "Noisy":
        """The parts of the items of a space, in which those that moved far are last."""
        count = len(space.items)
        if len(noise.of_item) == 1:
            return cls(space, noise, [(slice(0, count), noise.of_item[0])], [])
        most, identity = np.zeros((count, 2)), space.items.identity
        np.maximum.at(most, identity, noise.of_item)
        end = int(identity[~noise.moved_far()].max(initial=-1)) + 1
        parts = [slice(start, stop) for start, stop in ((0, end), (end, count)) if start < stop]
        return cls(space, noise, [(part, most[part].max(axis=0)) for part in parts], [])

    def count_block(
        self, ranked: Ranked, relevance: Relevance, spans: list[IntArray], plan: Plan, progress: Progress
    ) -> None:
        """Count a block of ranked queries, and the ends of their relevant items."""
        space, queries = self.space, np.concatenate(spans)
        of_relevant = np.concatenate([self._of_relevant(relevance, span) for span in spans])
        both = []
        self.ends.clear()
        for part, most in self.parts:
            radius = self.noise.radius(queries, of_relevant + most) / 2
            both.append(together(space, ranked, self.noise, radius, part))
            ranked = replace(ranked, partial=NOTHING)  # which is resolved once
        for (part, _), each in zip(self.parts, both, strict=True):
            count_others(space, each, plan, _areas_of(space, ranked, part), progress)
            self.ends.append(each.ends)

    def _of_relevant(self, relevance: Relevance, queries: IntArray) -> FloatArray:
        """The largest numbers of `Noise.of_item` among the relevant items of each query, (Q, 2)."""
        of_item = self.noise.of_item
        if len(of_item) == 1:
            return np.tile(of_item, (len(queries), 1))
        block = relevance.block(queries)
        some, most = np.flatnonzero(np.diff(block.pointer)), np.zeros((len(queries), 2))
        if len(some):
            most[some] = np.maximum.reduceat(of_item[block.items], block.pointer[some], axis=0)
        return most

    def extremes(self, start: int, stop: int) -> ExtremeRankings:
        """The worst and the best rankings of the queries start … stop-1 of the block, from the counts."""
        # The ends of relevant items are in the same order in each part, so that their counts add up.
        (query, worst, best), *others = (each.others(start, stop) for each in self.ends)
        for _, further_worst, further_best in others:
            worst, best = worst + further_worst, best + further_best
        first = self.ends[0]
        n_relevant = (first.thresholds.stop - first.thresholds.start)[start:stop] // 2
        n_items = first.n_items[start:stop]
        return ExtremeRankings(*(ranking_of(query, each, n_relevant, n_items) for each in (worst, best)))


def _areas_of(space: Space, ranked: Ranked, items: slice) -> list[Area]:
    whole = whole_area(space, ranked)
    if items == whole.items or not whole.both:
        return [whole._replace(items=items)]
    beside = [slice(0, items.start), slice(items.stop, len(space.items))]
    return [Area(items, items, both=True), *(Area(rows, items) for rows in beside if rows.start < rows.stop)]
