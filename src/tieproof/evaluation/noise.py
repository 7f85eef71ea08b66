"""Noise: by how much distances may be off, and the bounds of measures over all rankings that are then possible."""

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from tieproof.distances import Distance
from tieproof.errors import InputError
from tieproof.evaluation.moves import MOVED, OUTWARD, find_ranked, moves_of
from tieproof.inputs.arrays import Embeddings
from tieproof.measures import Estimates, Measure
from tieproof.problem import Noise, Problem
from tieproof.ties import FloatArray, Ties

SMALLEST_EXTENT, LARGEST_EXTENT = 1e-250, 1e250
"""The limits of the largest distance: neither its square nor a small part of it leaves the range of float64."""


def parse_radius(noise: Any, what: str) -> float:
    """Return the largest error of each number, given as one number; `what` says which numbers have it."""
    if isinstance(noise, bool) or not isinstance(noise, Real) or not 0 <= float(noise) < np.inf:
        raise InputError(
            f"noise must be a finite number of at least 0, the most by which {what} may be off, not {noise!r}.",
            "noise",
        )
    return float(noise)


def noise_of(problem: Problem, noise: Any) -> Noise:
    """Return by how much the distances of a problem may be off: by a number, or because its rows may have moved."""
    if problem.format is not None:
        raise InputError(
            "noise and precision cannot be combined: noise is about distances before they are rounded. Leave out one "
            "of them.",
            "noise",
        )
    distance = problem.distance if isinstance(problem.distance, Distance) else None
    if isinstance(noise, Real):
        radius = np.full(problem.relevance.n_queries, parse_radius(noise, "each distance"))
        return Noise(radius, distance, np.inf if distance is None else extent_of(problem, distance))
    moved = None if distance is None else MOVED.get(problem.called)
    if moved is None:
        raise InputError(
            f"noise must be a number for the {problem.called}, not {_told(noise)}: formats and other embeddings are "
            f"for the distances {', '.join(MOVED)}.",
            "noise",
        )
    queries, items = moves_of(problem, noise, moved)
    far, largest = items.move.max(initial=0.0), items.norm.max(initial=0.0)
    radius = queries.move + far
    if moved.by_norm:  # |x'.y' - x.y| <= |x' - x| |y| + |x| |y' - y| + |x' - x| |y' - y|
        radius = queries.move * largest + queries.norm * far + queries.move * far
    ranked = find_ranked(moved)
    return Noise(radius * OUTWARD, ranked, extent_of(problem, ranked))


def extent_of(problem: Problem, distance: Distance) -> float:
    """Return a number that no distance of the problem exceeds; refuse distances that float64 cannot represent."""
    sides = problem.queries, problem.queries if problem.gallery is None else problem.gallery
    largest = largest_entry(sides[0]), largest_entry(sides[1])
    extent = distance.gauge.extent(*largest, problem.dimensions)
    if (extent or all(largest)) and not SMALLEST_EXTENT < extent < LARGEST_EXTENT:
        raise InputError(
            f"noise needs distances between {SMALLEST_EXTENT:.0e} and {LARGEST_EXTENT:.0e}, but those of these "
            f"embeddings may be as large as {extent:g}. Multiply all embeddings by the same number.",
            "noise",
        )
    return extent or 1.0


def largest_entry(rows: Embeddings) -> float:
    """Return the largest absolute entry."""
    return max(abs(float(rows.max(initial=0))), abs(float(rows.min(initial=0))))


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
    extremes = ties.noise
    assert extremes is not None
    if ties.grades is not None and measure.name == "ERR":
        raise InputError(
            f"'{measure}' reads grades, and its bounds under noise are known only if all grades are 1. Leave the "
            "measure out, or evaluate it without noise.",
            "noise",
        )
    lower, upper = measure(extremes.worst).lower, measure(extremes.best).upper
    return np.array([np.minimum(lower, estimates.lower), np.maximum(upper, estimates.upper)])


def _told(noise: Any) -> str:
    """What was passed as noise, in a few words."""
    return repr(noise) if isinstance(noise, str) else type(noise).__name__
