"""The ambiguous ties of an evaluation, in groups of one shape, with what each of their relevant items may add."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.measures import Measure
from tieproof.measures.distribution.hits import RULES, Adds, Hit, Rules
from tieproof.measures.distribution.kept import KeptTies, ambiguous
from tieproof.ties import FloatArray, IntArray, Ties


class Tied(NamedTuple):
    """The T ambiguous ties of one shape: as many items, places that count, and relevant items of each grade."""

    size: int  # the number of items
    places: int  # the number of places that count
    relevant: tuple[int, ...]  # the number of relevant items of each grade
    k: IntArray  # k, n: as in `Ties`, (T,)
    n: IntArray
    parameter: FloatArray  # what the measure knows of the query or of the tie, (T,)
    worth: tuple[FloatArray, ...]  # the worth of an item of each grade, (T,) each
    scale: FloatArray  # by which the sum of what the hits add is multiplied, (T,)
    times: IntArray  # how many such ties there are, (T,)
    adds: Adds  # what a hit adds
    # "every" if each hit adds 1, "first" or "last" if only that hit adds something, "whole" if whole numbers
    # are added, and otherwise "".
    only: str

    def added(self, place: int | IntArray, above: Sequence[IntArray], grade: int) -> FloatArray:
        """Return what an item of a grade adds at a place of the tie, from 1; (…, T) for arrays of (…, 1)."""
        hits = self.n + 1 + sum(above)
        values = self.adds(Hit(self.k + place, hits, above, self.worth, grade, self.parameter))
        if values.shape == hits.shape:
            return values
        return np.broadcast_to(values, np.broadcast_shapes(values.shape, hits.shape, np.shape(place)))

    def end(self, upper: bool) -> FloatArray:
        """Return what the relevant items add at most, or at least, (T,): without the scale."""
        grades = [grade for grade, count in enumerate(self.relevant) for _ in range(count)]  # the largest first
        first = 1 if upper else self.size - len(grades) + 1
        total, above = np.zeros(len(self.k)), [np.zeros(1, dtype=np.int64) for _ in self.relevant]
        for place, grade in enumerate(grades if upper else grades[::-1], start=first):
            if place > self.places:
                break
            total = total + self.added(place, above, grade)
            above[grade] = above[grade] + 1
        return total


class Ambiguous(NamedTuple):
    """The U different ambiguous ties that may change a mean."""

    shapes: FloatArray  # (U, 2 + G) the numbers of items, of places that count, and of relevant items of each grade
    facts: FloatArray  # (U, 4 + G) k, n, parameter, scale, and the worth of each grade
    # (U, 3) by how much what a tie adds may vary, its mean beyond the least, and its variance, with the scale;
    # NaN where only `paths.py` can compute them.
    moments: FloatArray
    times: IntArray  # (U,) how many such ties there are
    adds: Adds  # adds, only: as in `Tied`
    only: str

    def take(self, rows: IntArray) -> "Ambiguous":
        """Return some of the ties."""
        return self._replace(
            shapes=self.shapes[rows], facts=self.facts[rows], moments=self.moments[rows], times=self.times[rows]
        )

    def by_shape(self) -> Iterator[Tied]:
        """Yield the ties in groups of the same shape."""
        starts = np.flatnonzero(np.diff(self.shapes, axis=0, prepend=-1).any(axis=1))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(self.shapes)], strict=True):
            size, places, *counts = self.shapes[start].astype(np.int64).tolist()
            relevant = tuple(count for count in counts if count)
            k, n, parameter, scale, *worth = self.facts[start:stop].T
            yield Tied(
                size,
                places,
                relevant,
                k.astype(np.int64),
                n.astype(np.int64),
                parameter,
                tuple(worth[: len(relevant)]),
                scale,
                self.times[start:stop],
                self.adds,
                self.only,
            )


def tied(measure: Measure, parts: Sequence[KeptTies], weights: FloatArray) -> Ambiguous | None:
    """Return the ambiguous ties that may change a mean of queries with these weights, (Q,); None if there is none."""
    if measure.name not in RULES:
        raise InputError(
            f"'{measure}' has no distribution here; these measures have one: {', '.join(RULES)}.", "measure"
        )
    measure, parts = _at_level(measure, parts)
    found = [_facts(measure, RULES[measure.name](measure, part), weights[part.queries]) for part in parts]
    found = [each for each in found if len(each.times)]
    if not found:
        return None
    shapes, facts = (_joined([getattr(each, name) for each in found]) for name in ("shapes", "facts"))
    moments = np.concatenate([each.moments for each in found])
    both, first, times = np.unique(np.hstack([shapes, facts]), axis=0, return_index=True, return_counts=True)
    shapes, facts = both[:, : shapes.shape[1]], both[:, shapes.shape[1] :]
    return Ambiguous(shapes, facts, moments[first], times, found[0].adds, found[0].only)


def _at_level(measure: Measure, parts: Sequence[KeptTies]) -> tuple[Measure, Sequence[KeptTies]]:
    """Return the measure without its `rel`, and the ties of the items that are relevant by it."""
    leveled, parts_of_level = measure, list(parts)
    for at, part in enumerate(parts):
        ties, leveled = measure.at_level(part.ties)
        if ties is not part.ties:
            parts_of_level[at] = part._replace(ties=ties, listed=ties.listed)
    return leveled, parts_of_level


def _facts(measure: Measure, rules: Rules, weights: FloatArray) -> Ambiguous:
    """Return the ambiguous ties of a part of the queries, where equal ones occur several times."""
    ties = rules.ties
    query = ties.query
    last = ties.n_relevant if measure.name == "Rprec" else measure.last_rank(ties)
    places = np.clip(last[query] - ties.k, 0, ties.l)
    moments = _moments(measure, rules, weights)
    rows = np.flatnonzero(ambiguous(ties) & (places > 0) & (moments[:, 0] != 0.0))
    items = np.repeat(np.arange(len(ties.m)), ties.m)
    worth = np.ones(len(items)) if rules.worth is None else rules.worth
    first = np.flatnonzero((np.diff(items, prepend=-1) > 0) | (np.diff(worth, prepend=0.0) != 0))
    tie = items[first]
    place = np.arange(len(first)) - np.searchsorted(tie, tie)
    grades = int(place.max(initial=0)) + 1
    relevant, worths = np.zeros((2, len(ties.m), grades))
    relevant[tie, place] = np.diff(first, append=len(items))
    worths[tie, place] = worth[first]
    scale = weights[query] / rules.divisor[query]
    shapes = np.column_stack([ties.l, places, relevant]).astype(np.float64)
    facts = np.column_stack([ties.k, ties.n, rules.parameter, scale, worths]).astype(np.float64)
    times = np.ones(len(ties.m), dtype=np.int64)
    return Ambiguous(shapes, facts, moments, times, rules.adds, rules.only).take(rows)


def _moments(measure: Measure, rules: Rules, weights: FloatArray) -> FloatArray:
    """Return how much what each tie adds may vary, its mean beyond the least, and its variance, (T, 3)."""
    ties = rules.ties
    if not rules.alone:  # otherwise, they are those of a query that has this tie alone
        return np.full((len(ties.m), 3), np.nan)
    of_query = ties.n_relevant[ties.query], ties.n_items[ties.query]
    lower, expected, upper, variance = measure(
        Ties(np.arange(len(ties.m)), ties.k, ties.n, ties.l, ties.m, *of_query)
    )
    weight = weights[ties.query]
    beyond = np.where(weight > 0, expected - lower, upper - expected)
    return np.column_stack([np.abs(weight) * (upper - lower), np.abs(weight) * beyond, weight * weight * variance])


def _joined(tables: Sequence[FloatArray]) -> FloatArray:
    """Return tables one below the other, with zeros in the columns of grades that a table does not have."""
    width = max(each.shape[1] for each in tables)
    return np.concatenate([np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in tables])
