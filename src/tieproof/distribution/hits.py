"""What each relevant item adds to a measure, by its rank and by the relevant items that are ranked above it.

Every measure here is a sum over relevant items, divided by a number that no ordering changes. So an ordering of a tie
is a path through a grid of cells (items placed, relevant items placed), and each step to a relevant item adds a
number. The paper's slides compute the expected AP by this grid; `paths.py` computes the whole distribution.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tieproof.distribution.kept import KeptTies, ambiguous
from tieproof.errors import InputError
from tieproof.measures import Measure
from tieproof.measures.cascade import stops
from tieproof.measures.graded_gains import gains, ideal_gain
from tieproof.measures.rank_weights import LOGARITHMIC
from tieproof.measures.weighted_ranks import ideal_sum
from tieproof.ties import FloatArray, IntArray, Ties


class Hit(NamedTuple):
    """A relevant item at some place of each of T ties; arrays (…, T) over the cells of the grid.

    rank : its rank
    hits : the relevant items down to it, itself included
    above : for each grade of the tie, the relevant items of the tie that are ranked above it
    worth : for each grade of the tie, the worth of an item, (T,) each
    grade : the index of its own grade
    parameter : what the measure knows of the query or of the tie, (T,)
    """

    rank: IntArray
    hits: IntArray
    above: Sequence[IntArray]
    worth: Sequence[FloatArray]
    grade: int
    parameter: FloatArray


Adds = Callable[[Hit], FloatArray]


class Tied(NamedTuple):
    """The T ambiguous ties of one shape: as many items, as many places that count, and as many items of each grade.

    size : the number of items
    places : the number of places that count
    relevant : the number of relevant items of each grade
    k, n : as in `Ties`, (T,)
    parameter : what the measure knows of the query or of the tie, (T,)
    worth : the worth of an item of each grade, (T,) each
    scale : by which the sum of what the hits add is multiplied, (T,)
    times : how many such ties there are, (T,)
    adds : what a hit adds
    only : "every" if each hit adds 1, "first" or "last" if only that hit adds something, "whole" if whole numbers are
        added, and otherwise ""
    """

    size: int
    places: int
    relevant: tuple[int, ...]
    k: IntArray
    n: IntArray
    parameter: FloatArray
    worth: tuple[FloatArray, ...]
    scale: FloatArray
    times: IntArray
    adds: Adds
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


class _Rules(NamedTuple):
    """How a measure is computed from hits: what a hit adds, and what is known of the A queries of `ties`.

    last : (A,) the last rank that counts
    divisor : (A,) the number by which the sum is divided
    parameter : (A,), or if not `of_query` (T,)
    worth : of each relevant item of `ties`; None: each is worth 1
    only : as in `Tied`
    of_query : whether the parameter is that of the query
    alone : whether a tie adds as much where it is the query's only tie
    """

    ties: Ties
    adds: Adds
    last: IntArray
    divisor: FloatArray
    parameter: FloatArray
    worth: FloatArray | None = None
    only: str = ""
    of_query: bool = True
    alone: bool = False


class Ambiguous(NamedTuple):
    """The U different ambiguous ties that may change a mean.

    shapes : (U, 2 + G) the numbers of items, of places that count, and of relevant items of each grade
    facts : (U, 4 + G) k, n, parameter, scale, and the worth of each grade
    moments : (U, 3) by how much what a tie adds may vary, its mean beyond the least, and its variance, with the
        scale; NaN where only `paths.py` can compute them
    times : (U,) how many such ties there are
    adds, only : as in `Tied`
    """

    shapes: FloatArray
    facts: FloatArray
    moments: FloatArray
    times: IntArray
    adds: Adds
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
    """Return the ambiguous ties that may change a measure; None if there is none.

    weights : (Q,) the weight of each query's value in the mean; negative for a mean that is subtracted
    """
    if measure.name not in _RULES:
        raise InputError(
            f"'{measure}' has no distribution here; these measures have one: {', '.join(_RULES)}.", "measure"
        )
    if any(part.open_ends for part in parts):
        raise InputError(
            "Some queries have unseen items, which may continue the last tie of their lists, and nobody knows how "
            "likely that is. Pass whole lists.",
            "measure",
        )
    found = [_facts(measure, _RULES[measure.name](measure, part), weights[part.queries]) for part in parts]
    found = [each for each in found if len(each.shape)]
    if not found:
        return None
    grades = max(each.relevant.shape[1] for each in found)
    shapes = np.concatenate([_wide(each.shape, each.relevant, grades) for each in found])
    facts = np.concatenate([_wide(each.facts, each.worth, grades) for each in found])
    moments = np.concatenate([each.moments for each in found])
    both, first, times = np.unique(np.hstack([shapes, facts]), axis=0, return_index=True, return_counts=True)
    shapes, facts = both[:, : shapes.shape[1]], both[:, shapes.shape[1] :]
    return Ambiguous(shapes, facts, moments[first], times, found[0].adds, found[0].only)


class _Facts(NamedTuple):
    """The T ambiguous ties of a part of the queries, with at most G different grades each.

    shape : (T, 2) the numbers of items, and of places that count
    relevant, worth : (T, G) the number of relevant items of each grade, and what they are worth; 0 without that grade
    facts : (T, 4) k, n, parameter and scale
    moments : (T, 3) as in `Ambiguous`
    """

    shape: FloatArray
    relevant: FloatArray
    facts: FloatArray
    worth: FloatArray
    moments: FloatArray
    adds: Adds
    only: str


def _facts(measure: Measure, rules: _Rules, weights: FloatArray) -> _Facts:
    ties = rules.ties
    query = ties.query
    places = np.clip(rules.last[query] - ties.k, 0, ties.l)
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
    columns = (ties.k, ties.n, rules.parameter[query] if rules.of_query else rules.parameter, scale)
    shape = np.column_stack([ties.l, places]).astype(np.float64)
    facts = np.column_stack(columns).astype(np.float64)
    return _Facts(shape[rows], relevant[rows], facts[rows], worths[rows], moments[rows], rules.adds, rules.only)


def _moments(measure: Measure, rules: _Rules, weights: FloatArray) -> FloatArray:
    """Return how much what each tie adds may vary, its mean beyond the least, and its variance, (T, 3).

    They are those of a query that has this tie alone, where the measure does not depend on the other ties.
    """
    ties = rules.ties
    if not rules.alone:
        return np.full((len(ties.m), 3), np.nan)
    of_query = ties.n_relevant[ties.query], ties.n_items[ties.query]
    lower, expected, upper, variance = measure(
        Ties(np.arange(len(ties.m)), ties.k, ties.n, ties.l, ties.m, *of_query)
    )
    weight = weights[ties.query]
    beyond = np.where(weight > 0, expected - lower, upper - expected)
    return np.column_stack([np.abs(weight) * (upper - lower), np.abs(weight) * beyond, weight * weight * variance])


def _wide(columns: FloatArray, by_grade: FloatArray, grades: int) -> FloatArray:
    """Return the columns, and one further column for each grade."""
    return np.hstack([columns, np.pad(by_grade, ((0, 0), (0, grades - by_grade.shape[1])))])


def _plain(
    adds: Adds, divisor: str = "relevant", only: str = "", *, alone: bool = True
) -> "Callable[[Measure, KeptTies], _Rules]":
    """Return the rules of a measure that needs the rank and the hits alone."""

    def rules(measure: Measure, part: KeptTies) -> _Rules:
        ties = part.ties
        cutoff = ties.last_ranks(measure.last_rank(ties)).astype(np.float64)
        relevant = ties.n_relevant.astype(np.float64)
        divisors = {
            "relevant": relevant,
            "cutoff": cutoff,
            "smaller": np.minimum(relevant, cutoff),
            "mean": (relevant + cutoff) / 2.0,
            "one": np.ones(ties.n_queries),
        }
        return _Rules(
            ties, adds, _last(measure, ties), np.maximum(divisors[divisor], 0.5), relevant, None, only, alone=alone
        )

    return rules


def _last(measure: Measure, ties: Ties) -> IntArray:
    """Return the last rank that counts for each query, (A,)."""
    return ties.n_relevant if measure.name == "Rprec" else ties.last_ranks(measure.last_rank(ties))


def _average_precision(measure: Measure, part: KeptTies) -> _Rules:
    if measure["norm"] == "hits" and measure.cutoff is not None:
        raise InputError(
            f"'{measure}' has no distribution here, because it divides by the hits above the cutoff, which depend on "
            f"the order of tied items. Use 'AP@{measure.cutoff}', or leave out the cutoff.",
            "measure",
        )
    divisors = {"R": "relevant", "min": "smaller", "hits": "relevant"}
    rules = _plain(lambda hit: hit.hits / hit.rank, divisors[str(measure["norm"])])(measure, part)
    if measure["norm"] == "hits":
        return rules._replace(divisor=part.listed.astype(np.float64), alone=False)
    return rules


def _trapezoid(hit: Hit) -> FloatArray:
    before = np.where(hit.rank > 1, (hit.hits - 1) / np.maximum(hit.rank - 1, 1), 1.0)
    return (before + hit.hits / hit.rank) / 2.0


def _discounted_gain(measure: Measure, part: KeptTies) -> _Rules:
    ties, last = part.ties, _last(measure, part.ties)
    worth, of_all = None, part.listed if measure["ideal"] == "list" else ties.n_relevant
    limit = measure.last_rank(ties)
    if ties.grades is None:
        divisor = ideal_sum(of_all, LOGARITHMIC, limit)
    else:
        missing = np.zeros(0) if ties.missing_grades is None or measure["ideal"] == "list" else ties.missing_grades
        worth, missing_worth = gains(measure, ties, missing)
        divisor = ideal_gain(ties, worth, missing_worth, limit)

    def adds(hit: Hit) -> FloatArray:
        return np.asarray(LOGARITHMIC.sum(hit.rank - 1, hit.rank).hi * hit.worth[hit.grade])

    alone = ties.grades is None and measure["ideal"] != "list"
    return _Rules(ties, adds, last, divisor, np.zeros(ties.n_queries), worth, alone=alone)


def _persistence(measure: Measure, part: KeptTies) -> _Rules:
    p = float(measure["p"])
    return _plain(lambda hit: np.asarray((1.0 - p) * p ** (hit.rank - 1.0)), "one")(measure, part)


def _area_under_curve(measure: Measure, part: KeptTies) -> _Rules:
    others = (part.ties.n_items - part.listed).astype(np.float64)
    pairs = np.maximum(others * part.ties.n_relevant, 1.0)
    return _Rules(
        part.ties,
        lambda hit: hit.parameter - (hit.rank - hit.hits),
        _last(measure, part.ties),
        pairs,
        others,
        only="whole",
    )


def _binary_preference(measure: Measure, part: KeptTies) -> _Rules:
    ties, others, judged = part.ties, part.ties.n_items - part.listed, part.ties.judged
    if judged is not None:
        ties, others = judged.ties, judged.n_others
    most = np.maximum(np.minimum(others, ties.n_relevant), 1).astype(np.float64)
    return _Rules(
        replace(ties, grades=None, missing_grades=None),
        lambda hit: np.maximum(hit.parameter - (hit.rank - hit.hits), 0.0),
        _last(measure, ties),
        most * np.maximum(ties.n_relevant, 1.0),
        most,
        only="whole",
    )


def _expected_reciprocal_rank(measure: Measure, part: KeptTies) -> _Rules:
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

    last = _last(measure, ties)
    return _Rules(ties, adds, last, np.ones(ties.n_queries), reach, worth, of_query=False)


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


_RULES: "Mapping[str, Callable[[Measure, KeptTies], _Rules]]" = {
    "AP": _average_precision,
    "AP(trapezoid)": _plain(_trapezoid),
    "P": _plain(lambda hit: np.ones(1), "cutoff", "every"),
    "RelP": _plain(lambda hit: np.ones(1), "smaller", "every"),
    "R": _plain(lambda hit: np.ones(1), "relevant", "every"),
    "F1": _plain(lambda hit: np.ones(1), "mean", "every"),
    "Rprec": _plain(lambda hit: np.ones(1), "relevant", "every"),
    "nDCG": _discounted_gain,
    "RBP": _persistence,
    "ERR": _expected_reciprocal_rank,
    "AUC": _area_under_curve,
    "Success": _plain(lambda hit: hit.hits == 1.0, "one", "first", alone=False),
    "RR": _plain(lambda hit: (hit.hits == 1) / hit.rank, "one", "first", alone=False),
    "INP": _plain(lambda hit: (hit.hits == hit.parameter) * hit.parameter / hit.rank, "one", "last", alone=False),
    "bpref": _binary_preference,
}
"""The measures that are a sum over hits; `AP(norm=hits)@k` is refused."""
