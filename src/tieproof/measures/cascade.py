"""Expected reciprocal rank: a reader goes down the ranking and stops at each item with a chance that its grade gives.

How likely the reader is to come through a tie does not depend on the order of its items. So ties add up: each counts
the chance to come to it times what it adds, and its square for the variance. Within a tie the grades falling are best
and rising are worst: of two neighbours with chances a > b at ranks r and r + 1 the other order loses
(a - b) (1/r - 1/(r + 1)).

The chance B_i that the reader stops at the i-th relevant item of a tie does not depend on its rank. Where all chances
are alike, mean and variance come place by place from the last one, by the law of total variance, in s H steps for a
tie of which s places count; H is the number of its relevant items, or how many it takes until fewer than 1 reader of
2^80 goes on. Where they differ, the square takes the means of all B_i B_j, (m + s) H^2 / 2 steps, and room for 2 H^2
pairs of floats; the variance is then a difference, of numbers of 30 digits near 1. So the standard deviation loses
digits where all chances of such a tie are below 1e-9, as those of grades from max_grade - 30 down, and is at most the
largest one that there can be; the expected value does so below 1e-17. Beside the values of larger grades both vanish.

>>> import numpy as np
>>> a = np.array
>>> ties = Ties(query=a([0]), k=a([0]), n=a([0]), l=a([2]), m=a([2]), n_relevant=a([2]), n_items=a([2]),
...             grades=a([4.0, 1.0]))
>>> print(" ".join(f"{x[0]:.8f}" for x in ERR(ties)))  # 15/16 + 1/16 * 1/32 at best, 1/16 + 15/16 * 15/32 at worst
0.50195312 0.72070312 0.93945312 0.04785156
"""

from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.base import Definition, Estimates, Measure, Parameter, define
from tieproof.measures.numbers import exp2_minus_1, once
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray, Ties

_SMALL = 64
"""Finding equal ties costs more than computing those of so many items."""

_MOST_STEPS = 2**35
"""Steps that a tie of several grades may take: a minute, more or less."""


class MostHits(NamedTuple):
    """The most relevant items that count in any ambiguous tie: in those of one grade, and in those of several."""

    alike: int
    mixed: int


def stops(measure: Measure, grades: FloatArray) -> FloatArray:
    """Return the chance to stop at an item of each grade, (2^grade - 1) / 2^(the largest grade that there can be)."""
    most = float(measure["max_grade"])
    largest = float(grades.max(initial=0.0))
    if largest > most:
        grade = int(largest) if largest.is_integer() else largest
        _, limit = measure.definition.parameter("max_grade").limits
        remedy = (
            f"Write the largest grade of the scale, such as '{measure(max_grade=grade)}'."
            if largest < limit
            else f"The largest grade of a scale must be less than {limit:g}: give grades of a smaller scale."
        )
        raise InputError(f"'{measure}' is for grades up to {most:.17g}, and there is one of {grade}. {remedy}")
    different, which = np.unique(grades, return_inverse=True)
    return np.asarray(exp2_minus_1(different) / (exp2_minus_1(np.array(most)) + 1.0))[which]


def _expected_reciprocal_rank(ties: Ties, measure: Measure) -> Estimates:
    if ties.missing_grades is not None:
        stops(measure, ties.missing_grades)  # refuses too large ones, wherever they are
    last = ties.last_ranks(measure.last_rank(ties))
    places = np.clip(last[ties.query] - ties.k, 0, ties.l)
    estimates = np.zeros((4, ties.n_queries))
    add_cascades(ties.starts, terms_of_ties(ties, measure, places), estimates)
    return Estimates(*estimates)


def terms_of_ties(ties: Ties, measure: Measure, places: IntArray) -> FloatArray:
    """Return what each tie adds for a reader who comes to it, and the chance to come through it, (5, T).

    Equal ties are computed once where they are large and have no grades.
    """
    columns = ties.k, ties.l, ties.m, places
    if ties.grades is not None:
        first, chances = np.cumsum(ties.m) - ties.m, stops(measure, ties.grades)
        _refuse_long(ties, measure, places, first, chances)
        return _terms(ties.k, ties.l, ties.m, places, first, chances)
    equal = np.repeat(stops(measure, np.ones(1)), ties.m.max(initial=0))

    def compute(k: IntArray, l: IntArray, m: IntArray, s: IntArray) -> tuple[FloatArray, ...]:
        return tuple(_terms(k, l, m, s, np.zeros_like(k), equal))

    terms = np.empty((5, len(ties.k)))
    small, large = np.flatnonzero(ties.l <= _SMALL), np.flatnonzero(ties.l > _SMALL)
    terms[:, small] = compute(*(column[small] for column in columns))
    if large.size:
        terms[:, large] = once(compute, *(column[large] for column in columns))
    return terms


def _refuse_long(ties: Ties, measure: Measure, places: IntArray, first: IntArray, stops: FloatArray) -> None:
    """Refuse ties of several grades that would take minutes."""
    items = (ties.m + places).astype(np.float64)
    for tie in np.flatnonzero(items * np.minimum(ties.m, places) ** 2.0 / 2.0 > _MOST_STEPS):
        row = slice(tie, tie + 1)
        hits = most_hits(ties.k[row], ties.l[row], ties.m[row], places[row], first[row], stops).mixed
        if items[tie] * hits**2 / 2.0 > _MOST_STEPS:
            raise InputError(
                f"'{measure}' would take minutes for a tie of {ties.l[tie]:,} items, {ties.m[tie]:,} of them "
                "relevant and of several grades. Write a cutoff, or a smaller one, such as "
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
    """Say how much room ties need: `cascade_terms` has their columns."""


@native
def cascade_terms(
    k: IntArray,
    l: IntArray,
    m: IntArray,
    s: IntArray,
    first: IntArray,
    stops: FloatArray,
    alike: Output[FloatArray],
    mixed: Output[FloatArray],
    terms: Output[FloatArray],
) -> None:
    """Write lower, expected and upper value, variance, and the chance to go on, the rows of `terms`, of ties.

    s : how many places count
    first : where the chances to stop of the tie's relevant items are among `stops`, the largest first
    alike : (4, hits + 1)
    mixed : (4 (hits + 1) + 2, hits + 1)
    """


@native
def add_cascades(starts: IntArray, terms: FloatArray, estimates: Output[FloatArray]) -> None:
    """Add up the terms of the ties of each query, times the chance to come to each."""


ERR = define(
    Definition(
        name="ERR",
        compute=_expected_reciprocal_rank,
        meaning="Expected reciprocal rank of the item where a reader stops, who goes down the ranking and stops at "
        "an item of grade g with the chance s = (2^g - 1) / 2^max_grade; 0 for readers who never stop.",
        formula="sum_{r <= k} s(r)/r * product_{i < r} (1 - s(i))",
        source="Chapelle, Metzler, Zhang and Grinspan 2009, section 4; max_grade=4: gdeval of the TREC Web tracks",
        cutoff="optional",
        parameters=(
            Parameter(
                "max_grade",
                4,
                "the largest grade of the scale, whether or not an item has it: 1 for labels, where a relevant item "
                "ends half of the searches; larger grades are refused",
                limits=(0.0, 400.0),
            ),
        ),
    )
)
