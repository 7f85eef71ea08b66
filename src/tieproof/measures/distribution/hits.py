"""What each relevant item adds to a measure, by its rank and by the relevant items that are ranked above it.

Every measure here is a sum over relevant items, divided by a number that no ordering changes. So an ordering of a tie
is a path through a grid of cells (items placed, relevant items placed), and each step to a relevant item adds a
number. The paper's slides compute the expected AP by this grid; `paths.py` computes the whole distribution.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.measures import Measure
from tieproof.measures.distribution.kept import KeptTies
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
