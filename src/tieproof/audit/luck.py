"""When a blind system scores more than luck explains.

The scores of an evaluator for many random embeddings have a mean and a standard deviation. An honest evaluator gives
a blind system, in the mean over the ways in which classes may fall on its vectors, at most the mean of random
embeddings: to each query every arrangement of relevant items is as likely for the one as for the other. So means are
compared, in two steps:

1. One score passes where it is no more than `SUSPICIOUS` standard deviations above the mean.
2. Otherwise the attack is drawn again, on other numbers of items and queries, each time beside random embeddings on
   the same labels. Whatever breaks ties by chance, also by a seed that is always the same, then draws anew. Student's
   t of the differences says how likely luck alone is. It is asked after 5, 9 and 17 draws, and the blind system gains
   where luck has less than its part of `LEVEL`, which all attacks, layouts and numbers of the evaluator share
   (Bonferroni).

The first score, which was chosen for being large, has no part in the second step. A gain is an exploit where it is
larger than `EXPLOIT` standard deviations of a random embedding, otherwise it is a small one.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

DRAWS = 30
"""Random embeddings for each layout, as many as Nicolaou et al. 2018 (section 5.2) drew."""

LOOKS = (5, 9, 17)
"""After how many draws the differences are looked at; one less is even, as `tail` wants."""

SUSPICIOUS = 2.0
EXPLOIT = 3.0
"""Standard deviations of one random embedding: what is looked at again, and what a gain must be to be an exploit."""

LEVEL = 0.002
"""How likely an honest evaluator is called exploitable, at most, by all attacks together."""

NINE_OF_TEN = 1.2816
"""Standard deviations above which a normal number is in one of ten cases."""

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

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.std / math.sqrt(self.size)

    def is_suspicious(self, score: float, sign: int) -> bool:
        """Whether a single score is so much better than these that it must be looked at again.

        >>> Luck(0.5, 0.01, 30).is_suspicious(0.51, 1), Luck(0.5, 0.01, 30).is_suspicious(0.54, 1)
        (False, True)
        """
        return sign * (score - self.mean) > SUSPICIOUS * self.std + rounding(self.mean)

    def deviations(self, score: float, sign: int) -> float:
        """How many standard deviations a score is better than the mean."""
        difference = sign * (score - self.mean)
        return difference / self.std if self.std else math.copysign(math.inf, difference) if difference else 0.0


def is_gain(gains: Luck, level: float) -> bool:
    """Whether differences have a mean above zero that luck explains with a probability of less than `level`.

    >>> is_gain(Luck(0.1, 0.001, 5), 1e-5), is_gain(Luck(0.1, 0.1, 17), 1e-5), is_gain(Luck(0.1, 0.1, 17), 1e-3)
    (True, False, True)
    """
    if not gains.mean > ROUNDING:
        return False
    return not gains.std or tail(gains.mean / gains.error, gains.size - 1) < level


def power(luck: Luck) -> float:
    """The gain that is hardly missed: one score with it is suspicious in nine of ten cases, and then confirmed.

    >>> round(power(Luck(0.1, 0.01, 30)), 4)
    0.033
    """
    return (SUSPICIOUS + NINE_OF_TEN * math.sqrt(1 + 1 / luck.size)) * luck.std


def tail(t: float, freedom: int) -> float:
    """How likely Student's t of so many degrees of freedom, an even number, is larger (Abramowitz and Stegun 26.7.4).

    >>> tail(0.0, 4), round(tail(2.132, 4), 4), round(tail(2.921, 16), 4)
    (0.5, 0.05, 0.005)
    """
    cosine = freedom / (freedom + t * t)
    term = total = 1.0
    for number in range(2, freedom, 2):
        term *= cosine * (number - 1) / number
        total += term
    return max(0.0, (1 - t / math.sqrt(freedom + t * t) * total) / 2)


def rounding(value: float) -> float:
    """What rounding may change in a number of this size, and in any of less than 1."""
    return ROUNDING * max(1.0, abs(value))


def differ(one: float, other: float) -> bool:
    """Whether two numbers differ by more than rounding; NaN is like NaN.

    >>> differ(0.5, 0.5 + 1e-9), differ(0.5, 0.51), differ(math.nan, math.nan)
    (False, True, False)
    """
    if one == other or (math.isnan(one) and math.isnan(other)):
        return False
    return not abs(one - other) <= rounding(one)
