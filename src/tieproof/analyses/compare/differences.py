"""`Difference`: how two systems differ in a measure, over the orderings of tied items and over the queries."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tieproof.analyses.compare.verdicts import Verdict
from tieproof.show.printable import printable
from tieproof.ties import Bounds, Estimate, FloatArray


@dataclass(frozen=True)
class Difference:
    """The mean of a measure over the queries for the first system, minus the mean for the second.

    Over the orderings of tied items, where each system's ties break independently of the other's:

    lower, upper : the smallest and the largest difference: the lower value of the first system minus the upper value
        of the second, and the upper value of the first minus the lower value of the second
    expected, std : the mean of the difference and its standard deviation

    Over the queries, with the expected value of each query:

    interval : the two ends of the confidence interval of the expected difference
    p_value : how likely a difference at least as large, of either sign, would be if neither system were better
    p_lower : the same probability when all ties are broken against the system that is ahead and in favor of the
        other one; never smaller than `p_value`, and 1 if the difference then vanishes or changes its sign
    corrected_p_value, corrected_p_lower : the same, corrected for all pairs of the comparison; verdicts read these
    effect_size : the mean difference divided by the standard deviation of the queries' differences (Cohen's d of
        pairs); None where all queries differ by the same amount
    wins, losses, draws : the numbers of queries where the first system's expected value is larger, smaller or equal
    verdict : the conclusion from the values above
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

    def _repr_pretty_(self, printer: Any, cycle: bool) -> Any:
        sentence = printable(self.verdict.sentence)
        return printer.text(f"{self.lower:.4f} ≤ {self.expected:.4f} ≤ {self.upper:.4f}: {sentence}")

    def mirrored(self) -> "Difference":
        """The second system minus the first."""
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
class NoisyDifference(Difference):
    """The difference of two systems that were both evaluated with noise."""

    noise: Bounds[float]  # the smallest and the largest difference over all rankings that noise makes possible
    # As `corrected_p_lower`, when the noise of both systems goes against the system ahead, too.
    corrected_p_noise: float

    def mirrored(self) -> "NoisyDifference":
        """The second system minus the first."""
        noise = Bounds(0.0 - self.noise.upper, 0.0 - self.noise.lower)
        return NoisyDifference(**vars(super().mirrored()) | {"noise": noise})


@dataclass(frozen=True)
class QueryDifference:
    """How two systems differ on one query; in `difference` the ties of the two systems break independently."""

    query: Any
    a: Estimate[float]
    b: Estimate[float]
    difference: Estimate[float]


def difference(a: Estimate[FloatArray], b: Estimate[FloatArray]) -> Estimate[FloatArray]:
    """The estimate of the first minus the second, when their ties break independently."""
    return Estimate(a.lower - b.upper, a.expected - b.expected, a.upper - b.lower, np.sqrt(a.std**2 + b.std**2))
