"""When a blind system scores more than luck explains.

The scores of an evaluator for many random embeddings have a mean and a standard deviation. An honest evaluator gives
a blind system, in the mean over the ways in which classes may fall on its vectors, at most the mean of random
embeddings: to each query every arrangement of relevant items is as likely for the one as for the other. So means are
compared, in two steps:

1. One score passes where it is no more than `SUSPICIOUS` standard deviations above the mean.
2. Otherwise the attack is drawn again, `REDRAWS` times, with fresh random numbers (once where neither the attack nor
   the labels are random, unless the evaluator gives another number for the same input). It exploits the evaluator
   where the mean of the new scores alone is more than `SUSPICIOUS` standard deviations above that of random
   embeddings, and the difference more than `SIGNIFICANT` times its own standard error (Welch 1947).

The first score, which was chosen for being large, has no part in the second step. Student's t with 11 degrees of
freedom passes 6 once in 20,000 times, and only what passed the first step gets there; a score that is an average
over ties or a lower bound does not get there at all.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

DRAWS = 30
"""Random embeddings for each layout, as many as Nicolaou et al. 2018 (section 5.2) drew."""

REDRAWS = 12
SUSPICIOUS = 3.0
SIGNIFICANT = 6.0

ROUNDING = 1e-6
"""Differences that float32 explains; none of them is a finding."""


class Luck(NamedTuple):
    """Mean and standard deviation of a number of scores."""

    mean: float
    std: float
    size: int

    @classmethod
    def of(cls, scores: Sequence[float]) -> "Luck":
        """Mean, deviation and number of these scores; the deviation is that of a sample.

        >>> Luck.of([1.0, 2.0, 3.0])
        Luck(mean=2.0, std=1.0, size=3)
        """
        size = len(scores)
        mean = math.fsum(scores) / size
        if not math.isfinite(mean):
            return cls(mean, math.nan, size)
        squares = math.fsum((score - mean) ** 2 for score in scores)
        return cls(mean, math.sqrt(squares / (size - 1)) if size > 1 else 0.0, size)

    def is_suspicious(self, score: float, sign: int) -> bool:
        """Whether a single score is so much better than these that it must be looked at again.

        >>> Luck(0.5, 0.01, 30).is_suspicious(0.52, 1), Luck(0.5, 0.01, 30).is_suspicious(0.54, 1)
        (False, True)
        """
        return sign * (score - self.mean) > SUSPICIOUS * self.std + rounding(self.mean)

    def is_beaten_by(self, other: "Luck", sign: int) -> bool:
        """Whether other scores are better than luck explains.

        >>> Luck(0.5, 0.01, 30).is_beaten_by(Luck(0.54, 0.0, 2), 1)
        True
        >>> Luck(0.5, 0.01, 30).is_beaten_by(Luck(0.54, 0.1, 12), 1)
        False
        """
        difference = sign * (other.mean - self.mean)
        error = math.sqrt(self.std**2 / self.size + other.std**2 / other.size)
        return difference > max(SUSPICIOUS * self.std, SIGNIFICANT * error) + rounding(self.mean)

    def deviations(self, score: float, sign: int) -> float:
        """How many standard deviations a score is better than the mean."""
        difference = sign * (score - self.mean)
        return difference / self.std if self.std else math.copysign(math.inf, difference) if difference else 0.0


def rounding(value: float) -> float:
    """What rounding may change in a number of this size."""
    return ROUNDING * max(1.0, abs(value))


def differ(one: float, other: float) -> bool:
    """Whether two numbers differ by more than rounding; NaN is like NaN.

    >>> differ(0.5, 0.5 + 1e-9), differ(0.5, 0.51), differ(math.nan, math.nan)
    (False, True, False)
    """
    if one == other or (math.isnan(one) and math.isnan(other)):
        return False
    return not abs(one - other) <= rounding(one)
