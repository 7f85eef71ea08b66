"""Shares, with what chance leaves open."""

from typing import NamedTuple

CONFIDENCE = 0.95


class Rate(NamedTuple):
    """So many times in so many trials."""

    times: int
    trials: int

    def interval(self) -> tuple[float, float]:
        """The exact interval of Clopper and Pearson 1934 for the share, by scipy."""
        from scipy.stats import binomtest

        found = binomtest(self.times, self.trials).proportion_ci(CONFIDENCE, method="exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        """The interval in percent, such as '0.0 to 0.9 %'; of nothing, 'any'."""
        if not self.trials:
            return "any"
        low, high = self.interval()
        return f"{100 * low:.1f} to {100 * high:.1f} %"
