"""How two systems differ: of a mean, and of single queries, when the ties of each break independently."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tieproof.results.results import Result
from tieproof.results.verdicts import Verdict
from tieproof.ties import Estimate, FloatArray, IntArray

ROUNDING = 1e-12
"""Values of a query that differ by no more are the same: values are exact to within a relative 1e-12."""


@dataclass(frozen=True)
class Difference:
    """The mean of a measure over the queries for one system, minus that for another.

    Over the orderings of tied items, where each system's ties break independently of the other's:

    lower, upper : the smallest and the largest difference: the lower value of the one minus the upper value of the
        other, and the other way round
    expected, std : the mean of the difference and its standard deviation

    Over the queries, with the expected value of each:

    interval : the two ends of the confidence interval of the expected difference
    p_value, p_lower : how likely a difference at least as large, of either sign, would be if neither system were
        better; of the expected values, and where all ties are broken against the system that is ahead and for the
        other one, which is never less
    corrected_p_value, corrected_p_lower : the same, corrected for all pairs of the comparison; what verdicts read
    effect_size : the mean difference by the standard deviation of the queries' differences (Cohen's d of pairs); None
        where all queries differ by the same
    wins, losses, draws : queries where the expected value of the one is larger, smaller, or the same
    verdict : what all this comes to
    """

    lower: float
    expected: float
    upper: float
    std: float
    interval: tuple[float, float]
    p_value: float
    p_lower: float
    corrected_p_value: float
    corrected_p_lower: float
    effect_size: float | None
    wins: int
    losses: int
    draws: int
    verdict: Verdict

    def mirrored(self) -> "Difference":
        """The difference the other way round."""
        low, high = self.interval
        return replace(
            self,
            lower=0.0 - self.upper,
            expected=0.0 - self.expected,
            upper=0.0 - self.lower,
            interval=(0.0 - high, 0.0 - low),
            effect_size=None if self.effect_size is None else 0.0 - self.effect_size,
            wins=self.losses,
            losses=self.wins,
        )


@dataclass(frozen=True)
class QueryDifference:
    """How two systems differ on one query; `difference` is over independent orderings of the ties of both."""

    query: Any
    a: Estimate[float]
    b: Estimate[float]
    difference: Estimate[float]


def values_in_order(result: Result, place: IntArray, measure: str) -> Estimate[FloatArray]:
    """A measure of the queries at these places (Q,) of a result."""
    found = result.per_query(measure)
    return Estimate(found.lower[place], found.expected[place], found.upper[place], found.std[place])


def difference(a: Estimate[FloatArray], b: Estimate[FloatArray]) -> Estimate[FloatArray]:
    """What the first minus the second can be, when their ties break independently.

    >>> one, other = np.array([[0.5], [0.75], [1.0], [0.25]]), np.array([[0.5], [0.5], [0.5], [0.0]])
    >>> difference(Estimate(*one), Estimate(*other))
    Estimate(lower=array([0.]), expected=array([0.25]), upper=array([0.5]), std=array([0.25]))
    """
    return Estimate(a.lower - b.upper, a.expected - b.expected, a.upper - b.lower, np.sqrt(a.std**2 + b.std**2))


def at_query(values: Estimate[FloatArray], place: int) -> Estimate[float]:
    """What the values of one query are."""
    numbers = (values.lower, values.expected, values.upper, values.std)
    return Estimate(*(float(each[place]) for each in numbers))
