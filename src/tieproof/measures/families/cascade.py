"""Expected reciprocal rank: a reader goes down the ranking and stops at each item with a probability by its grade.

The probability that the reader passes a whole tie does not depend on the order of its items. So the terms of ties add
up: each tie contributes the probability of reaching it times its own value, and likewise for the variance. Within a
tie descending grades are best and ascending grades are worst: of two neighbors with probabilities a > b at ranks r
and r + 1 the other order loses (a - b) (1/r - 1/(r + 1)).

The probability B_i that the reader stops at the i-th relevant item of a tie does not depend on its rank. If all items
have the same probability, mean and variance are computed rank by rank from the last one, by the law of total
variance, in s H steps for a tie of which s ranks count; H is the number of its relevant items, or the number after
which fewer than 1 reader in 2^80 goes on. If the probabilities differ, the variance needs the means of all B_i B_j,
which take (m + s) H^2 / 2 steps and memory for 2 H^2 pairs of floats; the variance is then a difference of numbers
near 1 with 30 digits. So the standard deviation loses digits if all probabilities of such a tie are below 1e-9, as
for grades of at most max_grade - 30, and is limited to the largest possible value; the expected value loses digits
below 1e-17. Both are negligible compared with the values of larger grades.
"""

from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Definition, Estimates, Measure, Parameter, define
from tieproof.measures.numbers import exp2_minus_1, once
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, Ties

_MOST_STEPS = 2**35  # the most steps for a tie of several grades, which take about a minute


class MostHits(NamedTuple):
    """The most relevant items that count in any ambiguous tie, for ties of one grade and for ties of several."""

    alike: int
    mixed: int


def stops(measure: Measure, grades: FloatArray) -> FloatArray:
    """Return the probability of stopping at an item of each grade, (2^grade - 1) / 2^max_grade."""
    most = float(measure["max_grade"])
    largest = float(grades.max(initial=0.0))
    if largest > most:
        grade = int(largest) if largest.is_integer() else largest
        _, limit = measure.definition.parameter("max_grade").limits
        remedy = (
            f"Write the largest grade of the scale, such as '{measure(max_grade=grade)}'."
            if largest < limit
            else f"The largest grade of a scale must be less than {limit:g}: use a smaller scale."
        )
        raise InputError(f"'{measure}' expects grades up to {most:.17g}, but one grade is {grade}. {remedy}")
    different, which = np.unique(grades, return_inverse=True)
    return np.asarray(exp2_minus_1(different) / (exp2_minus_1(np.array(most)) + 1.0))[which]


def _expected_reciprocal_rank(ties: Ties, measure: Measure) -> Estimates:
    if ties.missing_grades is not None:
        stops(measure, ties.missing_grades)  # refuses grades that are too large, also of missing items
    last = measure.last_rank(ties)
    places = np.clip(last[ties.query] - ties.k, 0, ties.l)
    estimates = np.zeros((4, ties.n_queries))
    add_cascades(ties.starts, _terms_of_ties(ties, measure, places), estimates)
    return Estimates(*estimates)


def _terms_of_ties(ties: Ties, measure: Measure, places: IntArray) -> FloatArray:
    """Return the terms of ties for a reader who reaches them, and the probabilities of passing them, (5, T)."""
    if ties.grades is not None:
        first, chances = np.cumsum(ties.m) - ties.m, stops(measure, ties.grades)
        _refuse_long(ties, measure, places, first, chances)
        return _terms(ties.k, ties.l, ties.m, places, first, chances)
    equal = np.repeat(stops(measure, np.ones(1)), ties.m.max(initial=0))

    def compute(k: IntArray, l: IntArray, m: IntArray, s: IntArray) -> FloatArray:
        return _terms(k, l, m, s, np.zeros_like(k), equal)

    return once(compute, 5, ties.l, ties.k, ties.l, ties.m, places)


def _refuse_long(ties: Ties, measure: Measure, places: IntArray, first: IntArray, stops: FloatArray) -> None:
    items = (ties.m + places).astype(np.float64)
    for tie in np.flatnonzero(items * np.minimum(ties.m, places) ** 2.0 / 2.0 > _MOST_STEPS):
        row = slice(tie, tie + 1)
        hits = most_hits(ties.k[row], ties.l[row], ties.m[row], places[row], first[row], stops).mixed
        if items[tie] * hits**2 / 2.0 > _MOST_STEPS:
            raise InputError(
                f"'{measure}' would take minutes for a tie of {ties.l[tie]:,} items, {ties.m[tie]:,} of them "
                "relevant and of several grades. Add a cutoff, or use a smaller one, such as "
                f"'{Measure(measure.name, measure.parameters) @ 100}'."
            )


def _terms(k: IntArray, l: IntArray, m: IntArray, s: IntArray, first: IntArray, stops: FloatArray) -> FloatArray:
    most = most_hits(k, l, m, s, first, stops)
    mixed = most.mixed + 1 if most.mixed else 0
    rooms = np.empty((4, most.alike + 1)), np.empty((4 * mixed + 2, mixed))
    terms = np.empty((5, len(k)))
    cascade_terms(k, l, m, s, first, stops, *rooms, terms)
    return terms


@native
def most_hits(k: IntArray, l: IntArray, m: IntArray, s: IntArray, first: IntArray, stops: FloatArray) -> MostHits:
    """Return how much memory ties need; the columns are those of `cascade_terms`."""


@native
def cascade_terms(
    k: IntArray,
    l: IntArray,
    m: IntArray,
    s: IntArray,  # the number of ranks of the tie that count
    first: IntArray,  # where the probabilities of stopping at the relevant items begin in `stops`, the largest first
    stops: FloatArray,
    alike: Output[FloatArray],  # (4, hits + 1)
    mixed: Output[FloatArray],  # (4 (hits + 1) + 2, hits + 1)
    terms: Output[FloatArray],
) -> None:
    """Write the rows of `terms`: lower, expected and upper value, variance, and the chance of passing the tie."""


@native
def add_cascades(starts: IntArray, terms: FloatArray, estimates: Output[FloatArray]) -> None:
    """Add up the terms of the ties of each query, each times the probability of reaching the tie."""


ERR = define(
    Definition(
        name="ERR",
        compute=_expected_reciprocal_rank,
        meaning="Expected reciprocal rank of the item at which a reader stops. The reader goes down the ranking and "
        "stops at an item of grade g with probability s = (2^g - 1) / 2^max_grade; one who never stops counts 0.",
        formula="sum_{r <= k} s(r)/r * product_{i < r} (1 - s(i))",
        source="Chapelle, Metzler, Zhang and Grinspan 2009, section 4; max_grade=4: gdeval of the TREC Web tracks",
        graded=True,
        cutoff="optional",
        parameters=(
            Parameter(
                "max_grade",
                4,
                "the largest grade of the scale, even if no item has it; larger grades are refused. For labels write "
                "1: then half of the readers stop at a relevant item",
                limits=(0.0, 400.0),
            ),
        ),
    )
)
