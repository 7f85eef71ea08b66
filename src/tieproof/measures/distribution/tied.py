"""The ambiguous ties of an evaluation, in groups of one shape, with what each of their relevant items may add.

Every measure here is a sum over relevant items, divided by a number that no ordering changes. What an item adds
depends on its rank and on the relevant items that are ranked above it. So an ordering of a tie is a path through a
grid of cells (items placed, relevant items placed), and each step to a relevant item adds a number. The paper's
slides compute the expected AP by this grid; `paths.py` computes the whole distribution.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.measures import Measure
from tieproof.measures.distribution.kept import KeptTies, ambiguous
from tieproof.measures.families.cascade import stops
from tieproof.measures.families.weighted_ranks import DIVISORS, Divisor, gains_and_divisor, ideal_sum
from tieproof.measures.graded_gains import is_graded
from tieproof.measures.rank_weights import LOGARITHMIC
from tieproof.ties import FloatArray, IntArray, Ties


class Hit(NamedTuple):
    """A relevant item at some place of each of T ties; arrays (…, T) over the cells of the grid."""

    rank: IntArray  # its rank
    hits: IntArray  # the relevant items down to it, itself included
    above: Sequence[IntArray]  # for each grade of the tie, the relevant items of the tie that are ranked above it
    worth: Sequence[FloatArray]  # for each grade of the tie, the worth of an item, (T,) each
    grade: int  # the index of its own grade
    parameter: FloatArray  # what the measure knows of the query or of the tie, (T,)


Adds = Callable[[Hit], FloatArray]


class Rules(NamedTuple):
    """How a measure is computed from hits: what a hit adds, and what is known of the A queries of `ties`."""

    ties: Ties
    adds: Adds
    divisor: FloatArray  # (A,) the number by which the sum is divided
    parameter: FloatArray  # (T,) as in `Hit`
    worth: FloatArray | None = None  # of each relevant item of `ties`; None: each is worth 1
    only: str = ""  # as in `Tied`
    alone: bool = False  # whether a tie adds as much where it is the query's only tie


def _plain(
    adds: Adds, divisor: Divisor = DIVISORS["R"], only: str = "", *, alone: bool = True
) -> "Callable[[Measure, KeptTies], Rules]":
    """Return the rules of a measure that needs the rank and the hits alone."""

    def rules(measure: Measure, part: KeptTies) -> Rules:
        ties = part.ties
        cutoff = measure.last_rank(ties).astype(np.float64)
        relevant = ties.n_relevant.astype(np.float64)
        divisors = np.maximum(divisor(relevant, cutoff), 0.5)
        return Rules(ties, adds, divisors, relevant[ties.query], None, only, alone)

    return rules


def _one(relevant: FloatArray, cutoff: FloatArray) -> FloatArray:
    return np.ones_like(relevant)


def _average_precision(measure: Measure, part: KeptTies) -> Rules:
    if measure["norm"] == "hits" and measure.cutoff is not None:
        raise InputError(
            f"'{measure}' has no distribution here, because it divides by the hits above the cutoff, which depend on "
            f"the order of tied items. Use 'AP@{measure.cutoff}', or leave out the cutoff.",
            "measure",
        )
    divisor = DIVISORS["RelP" if measure["norm"] == "min" else "R"]
    rules = _plain(lambda hit: hit.hits / hit.rank, divisor)(measure, part)
    if measure["norm"] == "hits":
        return rules._replace(divisor=part.listed.astype(np.float64), alone=False)
    return rules


def _trapezoid(hit: Hit) -> FloatArray:
    before = np.where(hit.rank > 1, (hit.hits - 1) / np.maximum(hit.rank - 1, 1), 1.0)
    return (before + hit.hits / hit.rank) / 2.0


def _weighted_gain(measure: Measure, part: KeptTies) -> Rules:
    ties, p = part.ties, float(measure["p"]) if measure.name == "RBP" else None

    def weight(hit: Hit) -> FloatArray:
        discounts = LOGARITHMIC.sum(hit.rank - 1, hit.rank).hi if p is None else (1.0 - p) * p ** (hit.rank - 1.0)
        return np.asarray(discounts)

    def gain(hit: Hit) -> FloatArray:
        return np.asarray(weight(hit) * hit.worth[hit.grade])

    if ties.grades is not None and is_graded(measure):
        worth, divisor = gains_and_divisor(measure, ties)
        return Rules(ties, gain, divisor, np.zeros(len(ties.m)), worth)
    if p is not None:
        return _plain(weight, _one)(measure, part)
    of_list = measure["ideal"] == "list"
    divisor = ideal_sum(part.listed if of_list else ties.n_relevant, LOGARITHMIC, measure.last_rank(ties))
    return Rules(ties, weight, divisor, np.zeros(len(ties.m)), alone=not of_list)


def _area_under_curve(measure: Measure, part: KeptTies) -> Rules:
    ties, others = part.ties, (part.ties.n_items - part.listed).astype(np.float64)
    pairs = np.maximum(others * ties.n_relevant, 1.0)
    return Rules(ties, lambda hit: hit.parameter - (hit.rank - hit.hits), pairs, others[ties.query], only="whole")


def _binary_preference(measure: Measure, part: KeptTies) -> Rules:
    ties, others, judged = part.ties, part.ties.n_items - part.listed, part.ties.judged
    if judged is not None:
        ties, others = judged.ties, judged.n_others
    most = np.maximum(np.minimum(others, ties.n_relevant), 1).astype(np.float64)
    return Rules(
        replace(ties, grades=None, missing_grades=None),
        lambda hit: np.maximum(hit.parameter - (hit.rank - hit.hits), 0.0),
        most * np.maximum(ties.n_relevant, 1.0),
        most[ties.query],
        only="whole",
    )


def _expected_reciprocal_rank(measure: Measure, part: KeptTies) -> Rules:
    ties = part.ties
    if ties.grades is None:
        stop = float(stops(measure, np.ones(1))[0])
        reach, worth = np.asarray((1.0 - stop) ** ties.n), np.full(int(ties.m.sum()), stop)
    else:
        worth = stops(measure, ties.grades)
        reach = _products_before(1.0 - worth, ties)

    def adds(hit: Hit) -> FloatArray:
        passed = hit.parameter * hit.worth[hit.grade] / hit.rank
        for worth, above in zip(hit.worth, hit.above, strict=True):
            passed = passed * (1.0 - worth) ** above
        return passed

    return Rules(ties, adds, np.ones(ties.n_queries), reach, worth)


def _products_before(factors: FloatArray, ties: Ties) -> FloatArray:
    """Return the product of the factors of all relevant items of the query before each tie, (T,)."""
    products, at, query = np.ones(len(ties.m)), 0, -1
    for tie, count in enumerate(ties.m.tolist()):
        if ties.query[tie] != query:
            query, product = ties.query[tie], 1.0
        products[tie] = product
        product *= float(np.multiply.reduce(factors[at : at + count]))
        at += count
    return products


RULES: "Mapping[str, Callable[[Measure, KeptTies], Rules]]" = {
    "AP": _average_precision,
    "AP(trapezoid)": _plain(_trapezoid),
    **{name: _plain(lambda hit: np.ones(1), divisor, "every") for name, divisor in DIVISORS.items()},
    "nDCG": _weighted_gain,
    "RBP": _weighted_gain,
    "ERR": _expected_reciprocal_rank,
    "AUC": _area_under_curve,
    "Success": _plain(lambda hit: hit.hits == 1.0, _one, "first", alone=False),
    "RR": _plain(lambda hit: (hit.hits == 1) / hit.rank, _one, "first", alone=False),
    "INP": _plain(lambda hit: (hit.hits == hit.parameter) * hit.parameter / hit.rank, _one, "last", alone=False),
    "bpref": _binary_preference,
    "BinG": _plain(lambda hit: np.asarray(LOGARITHMIC.sum(hit.rank - hit.hits, hit.rank - hit.hits + 1).hi)),
}
"""The measures that are a sum over hits; `AP(norm=hits)@k` is refused."""


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

    def take(self, rows: IntArray) -> "Tied":
        """Return some of the ties."""
        some = {name: getattr(self, name)[rows] for name in ("k", "n", "parameter", "scale", "times")}
        return self._replace(**some, worth=tuple(each[rows] for each in self.worth))

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
