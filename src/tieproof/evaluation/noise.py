"""Noise of given numbers, and the bounds of measures over all rankings that noise makes possible.

Graded nDCG is bounded level by level. The gain of an item is a sum over the levels of the scale, so graded nDCG is a
mean of binary ones: that of each level, whose relevant items are those of at least its grade, weighted by the gain
from the level below and by the ideal sum of discounts. Each binary nDCG has its exact bounds. The worst rankings of
two levels may exclude each other, so the mean of the bounds is at most the smallest value, or at least the largest
one (engine/README.md).
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.options import plain
from tieproof.measures import Estimates, Measure
from tieproof.measures.families.weighted_ranks import ideal_discounts
from tieproof.measures.graded_gains import gain_of_grades, is_graded
from tieproof.ties import FloatArray, Parts, Ties

MOST_LEVELS = 64  # the most grades of a scale, because every level is counted by itself


class GradeLevels(NamedTuple):
    """The grades of an evaluation under noise, and how it is counted again level by level."""

    grades: FloatArray  # of the relevant items; none: all are 1
    # Returns the ties of all queries, with noise, if only items of at least a grade are relevant.
    parts_of: Callable[[float], Parts]


def parse_radius(noise: Any, what: str) -> float:
    """Return the largest error of each number, which `what` names; a number between two floats becomes the larger."""
    number = plain(noise)
    is_number = isinstance(number, Real) and not isinstance(number, bool)
    if not is_number or not 0 <= number <= sys.float_info.max:
        raise InputError(
            f"noise must be a finite number of at least 0, the most by which {what} may be off, not {noise!r}.",
            "noise",
        )
    radius = float(number)
    return radius if radius >= number else math.nextafter(radius, math.inf)


def check_noisy(measures: Iterable[Measure], cut_off: bool) -> None:
    """Refuse what has no bounds under noise: lists that were cut off, and measures that are not monotone."""
    if cut_off:
        raise InputError(
            "noise applies only to whole rankings, but these lists were cut off: an unseen item may be nearer than a "
            "listed one. Leave out noise, or evaluate the embeddings or whole lists.",
            "noise",
        )
    for measure in measures:
        if not measure.is_monotone:
            raise InputError(
                f"'{measure}' can fall when a relevant item moves up, so its bounds under noise are unknown. Leave "
                "the measure out, or evaluate it without noise.",
                "noise",
            )


def bounds_under_noise(measure: Measure, ties: Ties, estimates: Estimates) -> FloatArray:
    """Return the smallest and the largest value of each query over all rankings that noise makes possible, (2, Q)."""
    # They contain the values over the orderings of ties, whatever the rounding of floats. Graded nDCG is read as if
    # all grades were 1; `bracket` has its bounds.
    if measure.definition.total:  # a count, which no order of a list changes
        return np.array([estimates.lower, estimates.upper])
    extremes = ties.noise
    assert extremes is not None
    ties_of_level, without_rel = measure.at_level(ties)
    if ties_of_level is not ties:
        raise InputError(
            f"'{measure}' has no bounds under noise: of grades, noise reads only whether they are above 0. Set "
            "smaller grades to 0, or evaluate the measure without noise.",
            "noise",
        )
    if ties.grades is not None and is_graded(measure) and measure.name != "nDCG":
        raise InputError(
            f"'{measure}' reads grades, and its bounds under noise are known only if all grades are 1. Leave the "
            "measure out, or evaluate it without noise.",
            "noise",
        )
    low, high = (extremes.best, extremes.worst) if measure.definition.smaller_is_better else extremes
    lower, upper = without_rel(low).lower, without_rel(high).upper
    return np.array([np.minimum(lower, estimates.lower), np.maximum(upper, estimates.upper)])


def bracket(measures: Sequence[Measure], values: FloatArray, levels: GradeLevels) -> None:
    """Find the bounds of graded nDCG level by level, the last two of its values; `values` (M, 6, Q) is changed."""
    graded = [at for at, measure in enumerate(measures) if measure.name == "nDCG"]
    grades = np.unique(levels.grades[levels.grades > 0]) if graded else np.zeros(0)
    if (grades == 1).all():
        return
    if len(grades) > MOST_LEVELS:
        raise InputError(
            f"The bounds of nDCG under noise are known for up to {MOST_LEVELS} different grades, but there are "
            f"{len(grades):,}. Round the grades, or leave nDCG out.",
            "noise",
        )
    steps = {at: np.diff(gain_of_grades(measures[at], grades), prepend=0.0) for at in graded}
    sums = np.zeros((len(measures), 3, values.shape[2]))  # of worst values, best values, and ideals
    for place, level in enumerate(grades.tolist()):
        for queries, ties in levels.parts_of(level):
            assert ties.noise is not None
            for at in graded:
                measure, step = measures[at], steps[at][place]
                ideal = step * ideal_discounts(ties, measure)
                worst, best = measure(ties.noise.worst).lower, measure(ties.noise.best).upper
                sums[at][:, queries] += np.array([worst * ideal, best * ideal, ideal])
    for at in graded:
        worst, best, ideal = sums[at]
        divisor = np.where(ideal > 0, ideal, 1.0)
        values[at, 4] = np.minimum(worst / divisor, values[at, 0])
        values[at, 5] = np.maximum(best / divisor, values[at, 2])
