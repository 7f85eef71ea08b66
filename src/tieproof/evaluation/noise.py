"""Noise of given numbers, and the bounds of measures over all rankings that noise makes possible."""

import math
import sys
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.measures import Estimates, Measure
from tieproof.measures.graded_gains import is_graded
from tieproof.ties import FloatArray, Ties


def parse_radius(noise: Any, what: str) -> float:
    """Return the largest error of each number, given as one number; `what` says which numbers have it.

    A number between two floats becomes the larger one.
    """
    number: Any = noise
    if isinstance(noise, bool) or not isinstance(noise, Real) or not 0 <= number <= sys.float_info.max:
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
    """Return the smallest and the largest value of each query over all rankings that noise makes possible, (2, Q).

    They contain the values over the orderings of ties, whatever the rounding of floats. Graded nDCG is read as if all
    grades were 1; `graded_noise.py` has its bounds.
    """
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
    lower, upper = without_rel(extremes.worst).lower, without_rel(extremes.best).upper
    return np.array([np.minimum(lower, estimates.lower), np.maximum(upper, estimates.upper)])
