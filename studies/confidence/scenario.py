"""Points of known confidence, some of them labeled wrongly, and the scores of their confidences."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tieproof as tp
from studies.musgrave2020.study import sample
from tieproof.measures.confidence import ConfidenceAccuracy, ErrorRejectCurve, confidence_vs_recall_at_1

Array = npt.NDArray[Any]

EXAMPLE = "Example 2"
DEVIATION = 0.5

MEASURES = {"P@1": "recall@1", "AP@R": "MAP@R"}
"""What the repository calls the measures; of one neighbor, precision is metric learning's recall@1."""


STORED: dict[str, Callable[[Array], Array]] = {
    "float64, as simulated": lambda values: values,
    "float16": lambda values: values.astype(np.float16),
    "two decimals": lambda values: np.round(values, 2),
    "one decimal": lambda values: np.round(values, 1),
    "sure above 0.8, or not": lambda values: (values > 0.8).astype(np.int8),
    "all the same": lambda values: np.ones(len(values)),
}
"""The forms in which confidences are stored."""


class Scenario(NamedTuple):
    """n points of two classes.

    points : (n, 2)
    labels : (n,) those of `corrupted` are wrong
    truth : (n,) the confidence that each point deserves
    corrupted : the points that are labeled wrongly
    """

    points: Array
    labels: Array
    truth: Array
    corrupted: Array


class Scores(NamedTuple):
    """The scores of confidences.

    accuracy : confidence vs recall@1
    curves : from the title of each measure to its error-versus-reject curve
    ambiguous_ties : among distances, that is
    """

    accuracy: ConfidenceAccuracy
    curves: dict[str, ErrorRejectCurve]
    ambiguous_ties: int


def scenario(count: int, wrong: int, seed: int) -> Scenario:
    """The second toy example with so many points, some of them of the wrong label."""
    points, labels = sample(EXAMPLE, count, seed)
    corrupted = np.sort(np.random.default_rng(seed + 1000).choice(count, wrong, replace=False))
    labels[corrupted] = 1 - labels[corrupted]
    return Scenario(points, labels, deserved(points), corrupted)


def deserved(points: Array) -> Array:
    """1 - the density at the first coordinate of the normal distribution around 0, the border of the classes.

    >>> deserved(np.array([[0.0, 0.3], [3.0, 0.1]])).round(3).tolist()
    [0.202, 1.0]
    """
    density = np.exp(-((points[:, 0] / DEVIATION) ** 2) / 2) / (DEVIATION * math.sqrt(2 * math.pi))
    return np.asarray(1 - density)


def claimed(scene: Scenario, level: float) -> Array:
    """The confidences, with the corrupted points set to this value."""
    confidence = scene.truth.copy()
    confidence[scene.corrupted] = level
    return confidence


def scores(scene: Scenario, confidence: Array) -> Scores:
    """All scores of the confidences of the points."""
    result = tp.evaluate(
        scene.points, scene.labels, distance="euclidean", measures=list(MEASURES), confidence=confidence
    )
    return Scores(
        confidence_vs_recall_at_1(result.per_query("P@1").lower, confidence),
        {title: result.error_reject(measure) for measure, title in MEASURES.items()},
        result.ties.ambiguous_ties,
    )


def errors(scene: Scenario, measure: str) -> Array:
    """1 - the measure of each point."""
    result = tp.evaluate(scene.points, scene.labels, distance="euclidean", measures=[measure])
    return 1 - result.per_query(measure).lower


def printed(wrong: Array, confidence: Array, order: Array) -> float:
    """The area that a program prints if it sorts confidences and leaves ties in this order of the points.

    >>> wrong, confidence = np.array([0.0, 1.0, 1.0]), np.array([0.5, 0.5, 0.1])
    >>> printed(wrong, confidence, np.array([0, 1, 2])) < printed(wrong, confidence, np.array([1, 0, 2]))
    True
    """
    ranked = order[np.argsort(-confidence[order], kind="stable")]
    return float((np.cumsum(wrong[ranked]) / np.arange(1, len(wrong) + 1)).mean())
