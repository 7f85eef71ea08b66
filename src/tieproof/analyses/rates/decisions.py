"""Decisions over pairs by a threshold, the best thresholds, and thresholds that are chosen on other folds."""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.measures import Measure
from tieproof.ties import Bounds, Estimate, FloatArray, IntArray, Ties

_NONE = (-math.inf, math.inf)


@dataclass(frozen=True)
class Decisions:
    """What a threshold decides on pairs, of which it accepts all or none that are tied.

    threshold : the distance up to which, or the score from which on, pairs are accepted
    accuracy : the share of pairs that are relevant and accepted, or neither
    precision : the share of accepted pairs that are relevant; 0 if none is accepted
    recall : the share of relevant pairs that are accepted
    f1 : the harmonic mean of precision and recall; 0 if no relevant pair is accepted
    """

    threshold: float
    accuracy: float
    precision: float
    recall: float
    f1: float

    @classmethod
    def of_counts(cls, threshold: float, right: int, wrong: int, relevant: int, others: int) -> "Decisions":
        """The decisions that accept so many relevant and other pairs, of so many of both."""
        accuracy = (right + others - wrong) / (relevant + others)
        f1 = 2 * right / (right + wrong + relevant)
        return cls(threshold, accuracy, right / max(1, right + wrong), right / relevant, f1)


@dataclass(frozen=True)
class BestThreshold(Bounds[float]):
    """The largest value of any threshold.

    lower : over thresholds, which accept all or none of a tie, so that a system can attain it: report this value
    upper : over all orderings of tied pairs, as programs print it that accept a part of a tie
    threshold : of those that attain `lower`, the one that accepts fewest pairs
    """

    threshold: float


def best(thresholds: FloatArray, over: tuple[IntArray, IntArray], cut: tuple[IntArray, IntArray]) -> BestThreshold:
    """The largest quotient of two counts at all thresholds (`over`), and if the best part of a tie is accepted."""
    value = over[0] / over[1]
    alike = np.flatnonzero(value == value.max()).tolist()  # different quotients may round to one float
    first = max(alike, key=lambda at: Fraction(int(over[0][at]), int(over[1][at])))
    return BestThreshold(float(value[first]), float((cut[0] / cut[1]).max()), float(thresholds[first]))


def plain(value: Any) -> dict[str, Any]:
    """The fields of a result as plain numbers; None is the threshold that accepts nothing, which JSON lacks."""

    def as_json(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = {name: None if each in _NONE else each for name, each in items}
        return {name: list(each) if isinstance(each, tuple) else each for name, each in found.items()}

    return asdict(value, dict_factory=as_json)


def of_ranking(measure: Measure, right: IntArray, wrong: IntArray) -> Estimate[float]:
    """A measure of one ranking of all pairs, of which each threshold accepts so many right and wrong ones."""
    accepted, tied = right + wrong, np.diff(right)
    held, ends = np.flatnonzero(tied), (right[-1:], accepted[-1:])
    ties = Ties(0 * held, accepted[held], right[held], np.diff(accepted)[held], tied[held], *ends)
    lower, expected, upper, variance = (float(values[0]) for values in measure(ties))
    return Estimate(lower, expected, upper, math.sqrt(variance))


@dataclass(frozen=True)
class FoldAccuracy(Bounds[float]):
    """The mean accuracy over folds, each at a threshold that is best on all others (LFW: Huang et al. 2007).

    Several thresholds are usually equally good on the other folds, and programs take different ones of them. No one
    is more likely than another, so there is no expected value.

    lower, upper : the means of the smallest and of the largest accuracy over all of these thresholds
    standard_error : that of `lower`, the standard deviation over the folds divided by the root of their number
    folds : the smallest and the largest accuracy of each fold, with the threshold that accepts fewest pairs
    """

    standard_error: float
    folds: tuple[BestThreshold, ...]

    @classmethod
    def of(cls, thresholds: FloatArray, gains: IntArray, places: IntArray, folds: IntArray) -> "FoldAccuracy":
        """The accuracy, by the gain of accepting each pair, 1 or -1, from which threshold on, and its fold."""
        found = []
        every = np.bincount(places, gains, len(thresholds)).cumsum()
        for fold in range(int(folds.max()) + 1):
            own, count = folds == fold, np.count_nonzero(folds == fold)
            right = np.bincount(places[own], gains[own], len(thresholds)).cumsum()
            chosen = np.flatnonzero(every - right == (every - right).max())
            accuracy = (right[chosen] + np.count_nonzero(gains[own] < 0)) / count
            first = float(thresholds[chosen[0]])
            found.append(BestThreshold(float(accuracy.min()), float(accuracy.max()), first))
        lower, upper = (math.fsum(getattr(each, end) for each in found) / len(found) for end in ("lower", "upper"))
        squares = math.fsum((each.lower - lower) ** 2 for each in found)
        return cls(lower, upper, math.sqrt(squares / (len(found) - 1) / len(found)), tuple(found))
