"""`Distribution`: how likely each value of a mean is when the tied items of each query are ordered at random."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.distribution.sums import Bracket
from tieproof.show.parts import count
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import ROUNDING, Array, Estimate

QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)  # the quantiles that are shown


class Between(NamedTuple):
    """A number that is known to be at least `low` and at most `high`.

    >>> f"{Between(0.25, 0.5):.3f}"
    '0.250 to 0.500'
    """

    low: float
    high: float

    def __format__(self, spec: str) -> str:
        """The two ends, each in this format, or once if both are the same."""
        low, high = format(self.low, spec), format(self.high, spec)
        return low if low == high else f"{low} to {high}"


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Shown, AsFrame):
    """The distribution of a mean over the queries when every ordering of the tied items is equally likely.

    Ties of different queries are broken independently of each other, in leave-one-out, too, as they are for `std`.
    The distribution is computed, not sampled. Rounding errors are bounded and added outwards, so that every number is
    certain to lie in the `Between` that is returned.

    name : the name of the measure
    estimate : its lower, expected and upper value and its standard deviation
    queries : the number of queries
    resolution : the distance at which two means are told apart
    finer : computes a narrower bracket, for quantiles in the tails that are wider than the resolution

    >>> import tieproof as tp
    >>> result = tp.evaluate([[0.0, 0.0]] * 3, ["cat", "dog", "cat"], measures=["AP"])
    >>> distribution = result.distribution("AP")
    >>> f"{distribution.at_least(0.75):.4f}", f"{distribution.quantile(0.9):.4f}"
    ('0.7500', '1.0000')
    >>> print(distribution)
    probability  AP at most
    -----------------------
          2.5 %      0.5000
           25 %      0.5000
           50 %      0.7500
           75 %      0.7500
         97.5 %      1.0000
    <BLANKLINE>
    The mean of AP over 2 queries is between 0.5000 and 1.0000, whatever the order
    of tied items; on average it is 0.7500.
    1 more: --explain, or to_text(explain=True)
    """

    name: str
    estimate: Estimate[float]
    queries: int
    resolution: float
    bracket: Bracket
    finer: Callable[[], Bracket]

    @cached_property
    def _finer(self) -> Bracket:
        return self.finer()

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the narrower bracket itself, because the function that computes it refers to measures."""
        return {**self.__dict__, "_finer": self._finer, "finer": None}

    def quantile(self, probability: float) -> Between:
        """The smallest value that the mean does not exceed with this probability, from 0 to 1.

        Probabilities that differ by at most 1e-12 count as equal.

        Raises InputError for a number that is no probability.
        """
        if not isinstance(probability, int | float | np.floating) or not 0 <= probability <= 1:
            raise InputError(f"probability must be a number from 0 to 1, not {probability!r}.", "probability")
        low, high = (each.quantile(float(probability) - ROUNDING) for each in self.bracket)
        if high - low > self.resolution:
            finer = [each.quantile(float(probability) - ROUNDING) for each in self._finer]
            low, high = max(low, finer[0]), min(high, finer[1])
        return Between(low, high)

    def at_least(self, value: float) -> Between:
        """The probability that the mean is at least `value`; a mean that differs by at most 1e-12 counts as equal."""
        return self._beyond(value, -ROUNDING)

    def more_than(self, value: float) -> Between:
        """The probability that the mean is larger than `value`; one that differs by at most 1e-12 counts as equal."""
        return self._beyond(value, ROUNDING)

    def _beyond(self, value: float, aside: float) -> Between:
        if not isinstance(value, int | float | np.floating) or np.isnan(value):
            raise InputError(f"value must be a number, not {value!r}.", "value")
        earlier, later = (each.at(float(value) + aside) for each in self.bracket)
        return Between(1.0 - earlier, 1.0 - later)

    def interval(self, probability: float = 0.95) -> Between:
        """An interval in which the mean lies with at least this probability, with equal tails on both sides.

        It is over the orderings of tied items, and not over the choice of queries.
        """
        aside = (1.0 - probability) / 2.0
        return Between(self.quantile(aside).low, self.quantile(1.0 - aside).high)

    def to_dict(self) -> dict[str, Any]:
        """The estimate and five quantiles, as plain numbers, strings, lists and dictionaries."""
        shown = [(probability, *self.quantile(probability)) for probability in QUANTILES]
        return {
            "measure": self.name,
            "queries": self.queries,
            "resolution": self.resolution,
            **asdict(self.estimate),
            "quantiles": [dict(zip(("probability", "low", "high"), each, strict=True)) for each in shown],
        }

    def columns(self) -> dict[str, Array]:
        """Both ends of the quantiles at 0.001, 0.002, …, 0.999."""
        probabilities = np.arange(1, 1000) / 1000
        low, high = np.array([self.quantile(each) for each in probabilities.tolist()]).T
        return {"probability": probabilities, "low": low, "high": high}

    def _in_digits(self, value: float | Between) -> str:
        """A value as the table and the picture have it: with more decimals if the whole range is narrow."""
        return f"{value:z.{4 if self.estimate.upper - self.estimate.lower > 0.001 else 6}f}"

    def _table(self) -> Table:
        rows = [(f"{100 * each:g} %", self._in_digits(self.quantile(each))) for each in QUANTILES]
        lower, expected, upper = map(
            self._in_digits, (self.estimate.lower, self.estimate.expected, self.estimate.upper)
        )
        header = ("probability", f"{self.name} at most")
        notes = (
            f"The mean of {self.name} over {count(self.queries, 'query')} is between {lower} and {upper}, whatever "
            f"the order of tied items; on average it is {expected}.",
            "If ties are broken at random, independently for each query, it is at most the value in the table with "
            "the probability beside it.",
        )
        return Table(header, [rows], notes, header)

    def __repr__(self) -> str:
        """A short text with the central interval of 95 %."""
        return f"<Distribution of {self.name}, 95 %: {self.interval():z.4f}>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the probability of each value, and return the axes of matplotlib (extra `plot`)."""
        from tieproof.measures.distribution.pictures import plot_distribution  # slow to import, as all that draws

        return plot_distribution(self, ax)
