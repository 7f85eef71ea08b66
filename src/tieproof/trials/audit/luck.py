"""Tests of whether a blind system scores more than luck explains.

The scores that an evaluator gives many random embeddings have a mean and a standard deviation. Averaged over all
assignments of classes to its vectors, an honest evaluator gives a blind system at most that mean, because for each
query every arrangement of relevant items is as likely for a blind system as for random embeddings. So means are
compared, in two steps:

1. A single score passes if it is at most `SUSPICIOUS` standard deviations above the mean.
2. Otherwise the attack is drawn again with other numbers of items and queries, and each draw is paired with random
   embeddings on the same labels. An evaluator that breaks ties by chance, even with a constant seed, then breaks
   them differently in each draw. Student's t of the differences tells how likely luck alone is to explain them. It
   is computed after 5, 9 and 17 draws. The blind system gains if this probability is below its share of `LEVEL`,
   which is divided among all attacks, layouts, numbers of the evaluator and tests (Bonferroni). If a first score is
   more than `FAR` standard deviations above the mean, the attack is also drawn with the same numbers of items and
   queries and with other labels, because the gain may depend on the size. In draws of nearly the same size, and much
   data has no others, one order of ties may have the same luck each time: there a gain must exceed the spread of the
   scores of the shuffled data, too.

A thorough audit also finds gains of half a standard deviation: on the layout whose labels are shuffled anew for each
draw, it draws every attack again that scores above the mean, up to 257 times. In no other layout: the luck of an
evaluator with a constant seed is not quite new there in each draw, and many draws would reveal it.

The first score was selected for being large, so it is not used in the second step. A gain larger than `EXPLOIT`
standard deviations of a random embedding is an exploit; otherwise it is a small gain.
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

# The number of random embeddings for each layout, as in Nicolaou et al. 2018 (section 5.2).
DRAWS = 30

# The numbers of draws after which the differences are tested, usually and in a thorough audit; each minus one is
# even, as `tail` requires.
LOOKS = (5, 9, 17)
MORE_LOOKS = (*LOOKS, 33, 65, 129, 257)

# Thresholds in standard deviations of one random embedding: above the first a score is drawn again, above the second
# a gain is an exploit, and above the third a score is also drawn again with the same size.
SUSPICIOUS = 2.0
EXPLOIT = 3.0
FAR = 10.0
# The probability that luck explains a gain, above which no more is drawn; in thorough audits only after 17 draws.
HOPELESS = 0.3
LEVEL = 0.002  # the largest probability that all attacks together call an honest evaluator exploitable
NINE_OF_TEN = 1.2816  # the number of standard deviations that a normal number exceeds in one of ten cases
FLOAT32, HALF = 2.0**-23, np.finfo(np.float16)
HUGE = 1e150  # numbers beyond it are divided before they are squared
ROUNDING = 1e-6  # the largest difference that float32 rounding explains; such a difference is not a finding


def in_brief(score: float | None) -> str:
    """A score with four decimals, or with four digits if it is too large for that; nothing for None.

    >>> in_brief(0.5), in_brief(-3e300)
    ('0.5000', '-3e+300')
    """
    return "" if score is None else f"{score:.{'4g' if 1e9 < abs(score) < math.inf else '4f'}}"


class Luck(NamedTuple):
    """The mean and standard deviation of scores, and how many there are."""

    mean: float
    std: float
    size: int

    @classmethod
    def of(cls, scores: Sequence[float]) -> "Luck":
        """The mean, sample standard deviation and number of scores.

        >>> Luck.of([1.0, 2.0, 3.0])
        Luck(mean=2.0, std=1.0, size=3)
        """
        size, unit = len(scores), 2.0**512 if max(map(abs, scores)) > HUGE else 1.0
        mean = unit * (math.fsum(score / unit for score in scores) / size)
        if not math.isfinite(mean):
            return cls(mean, math.nan, size)
        squares = math.fsum(((score - mean) / unit) ** 2 for score in scores)
        return cls(mean, unit * math.sqrt(squares / (size - 1)) if size > 1 else 0.0, size)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.std / math.sqrt(self.size)

    @property
    def is_constant(self) -> bool:
        """Whether the scores are all the same, but for rounding."""
        return self.std <= rounding(self.mean)

    def is_suspicious(self, score: float, sign: int, above: float = SUSPICIOUS, step: float = 0.0) -> bool:
        """Whether a single score is so much better than these scores that it must be drawn again.

        >>> Luck(0.5, 0.01, 30).is_suspicious(0.51, 1), Luck(0.5, 0.01, 30).is_suspicious(0.54, 1)
        (False, True)
        """
        return sign * (score - self.mean) > above * self.std + rounding(self.mean) + step

    def deviations(self, score: float, sign: int) -> float:
        """By how many standard deviations a score is better than the mean."""
        difference = sign * (score - self.mean)
        return difference / self.std if self.std else math.copysign(math.inf, difference) if difference else 0.0


def is_gain(gains: Luck, level: float, step: float = 0.0) -> bool:
    """Whether the differences have a mean above zero that luck alone gives with a probability below `level`.

    step : the step of the evaluator's numbers, which the mean must exceed, because rounding may explain it otherwise

    >>> is_gain(Luck(0.1, 0.001, 5), 1e-5), is_gain(Luck(0.1, 0.1, 17), 1e-5), is_gain(Luck(0.1, 0.1, 17), 1e-3)
    (True, False, True)
    """
    if not gains.mean > ROUNDING + step:
        return False
    return not gains.std or tail(gains.mean / gains.error, gains.size - 1) < level


def power(luck: Luck) -> float:
    """The gain that is hardly missed: a score with this gain is suspicious in nine of ten cases.

    >>> round(power(Luck(0.1, 0.01, 30)), 4)
    0.033
    """
    return (SUSPICIOUS + NINE_OF_TEN * math.sqrt(1 + 1 / luck.size)) * luck.std


def tail(t: float, freedom: int) -> float:
    """The probability that Student's t exceeds `t`, for an even number of degrees of freedom.

    Source: Abramowitz and Stegun 26.7.4.

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
    """The largest change that rounding explains in a number of this size; below 1, the same as for 1."""
    return ROUNDING * max(1.0, abs(value))


def differ(one: float, other: float, step: float = 0.0) -> bool:
    """Whether two numbers differ by more than rounding and one step; NaN does not differ from NaN.

    >>> differ(0.5, 0.5 + 1e-9), differ(0.5, 0.51), differ(math.nan, math.nan)
    (False, True, False)
    """
    if one == other or (math.isnan(one) and math.isnan(other)):
        return False
    return not abs(one - other) <= rounding(one) + step


DIGITS = range(6)  # the numbers of decimal digits to which an evaluator may round; more are less than `ROUNDING`
FEWEST_NUMBERS = 20  # the fewest different numbers that show to which step they are rounded


def step_of(numbers: Collection[float]) -> float:
    """The step to which an evaluator rounds its numbers; 0 if it does not round, or if too few are known.

    It may round to decimal digits, in float64 or float32, or to the 11 binary digits of float16.

    >>> step_of([number / 1000 for number in range(30)]), step_of([number / 7 for number in range(30)])
    (0.001, 0.0)
    """
    known = [number for number in numbers if math.isfinite(number)]
    if len(known) < FEWEST_NUMBERS:
        return 0.0
    for digits in DIGITS:
        if all(abs(number - round(number, digits)) <= abs(number) * FLOAT32 for number in known):
            return float(10.0**-digits)
    largest = max(map(abs, known))
    if largest < float(HALF.max) and all(float(np.float16(number)) == number for number in known):
        return float(np.spacing(np.float16(largest)))
    return 0.0
