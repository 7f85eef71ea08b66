"""Bounds of graded nDCG under noise, level by level.

The gain of an item is a sum over the levels of the scale, so graded nDCG is a mean of binary ones: that of each
level, whose relevant items are those of at least its grade, weighted by the gain from the level below and by the
ideal sum of discounts. Each binary nDCG has its exact bounds. The worst rankings of two levels may exclude each
other, so the mean of the bounds is at most the smallest value, or at least the largest one (docs/noise.md).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tieproof.engine.problem import Problem
from tieproof.errors import InputError
from tieproof.evaluation.problems import watched
from tieproof.evaluation.scoring import Scores
from tieproof.inputs.judgments import Judgments
from tieproof.measures.graded_gains import gain_of_grades
from tieproof.measures.weighted_ranks import ideal_discounts
from tieproof.ties import FloatArray, Parts

MOST_LEVELS = 64
"""The most grades of a scale, because every level is counted by itself."""


def levels_of(problem: Problem) -> tuple[FloatArray, Callable[[float], Parts]]:
    """Return all grades of a problem, and the function that counts it with only items of at least a grade."""
    from tieproof.engine import ties_of

    relevance = problem.relevance
    assert isinstance(relevance, Judgments)

    def parts_of(level: float) -> Parts:
        return ties_of(replace(problem, relevance=relevance.at_least(level)), watched(False)).parts

    return relevance.grade, parts_of


def bracketed(scores: Scores, grades: FloatArray, parts_of: Callable[[float], Parts]) -> Scores:
    """Return the scores, with the bounds of graded nDCG under noise.

    grades : all grades of relevant items
    parts_of : returns the ties of all queries, with noise, if only items of at least a grade are relevant
    """
    graded = [at for at, measure in enumerate(scores.measures) if measure.name == "nDCG"]
    levels = np.unique(grades[grades > 0]) if graded else np.zeros(0)
    if scores.noise is None or (levels == 1).all():
        return scores
    if len(levels) > MOST_LEVELS:
        raise InputError(
            f"The bounds of nDCG under noise are known for up to {MOST_LEVELS} different grades, but there are "
            f"{len(levels):,}. Round the grades, or leave nDCG out.",
            "noise",
        )
    steps = {at: np.diff(gain_of_grades(scores.measures[at], levels), prepend=0.0) for at in graded}
    sums = np.zeros((len(scores.measures), 3, len(scores.n_relevant)))  # of worst values, best values, and ideals
    for place, level in enumerate(levels.tolist()):
        for queries, ties in parts_of(level):
            assert ties.noise is not None
            for at in graded:
                measure, step = scores.measures[at], steps[at][place]
                ideal = step * ideal_discounts(ties, measure)
                worst, best = measure(ties.noise.worst).lower, measure(ties.noise.best).upper
                sums[at][:, queries] += np.array([worst * ideal, best * ideal, ideal])
    bounds = scores.noise.copy()
    for at in graded:
        worst, best, ideal = sums[at]
        divisor = np.where(ideal > 0, ideal, 1.0)
        bounds[at, 0] = np.minimum(worst / divisor, scores.values[at, 0])
        bounds[at, 1] = np.maximum(best / divisor, scores.values[at, 2])
    return scores._replace(noise=bounds)
