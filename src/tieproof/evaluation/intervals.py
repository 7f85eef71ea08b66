"""`Interval`: the confidence interval of a measure's mean over all queries that could have been asked."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from tieproof.errors import InputError
from tieproof.measures.statistics.resampling import Strata, bca, grouped
from tieproof.measures.statistics.tests import t_interval
from tieproof.ties import Array, FloatArray, IntArray

Method = Literal["bca", "t"]
Bound = Literal["lower", "expected", "upper"]
METHODS: tuple[str, ...] = get_args(Method)
BOUNDS: tuple[str, ...] = get_args(Bound)


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a mean over queries. It covers the choice of queries, not the order of tied items.

    Of a DET curve, it is that of a statistic over subjects.

    value : the mean itself
    low, high : the ends of the interval
    confidence : the share of such intervals that contain the mean over all queries that could have been asked
    method : "bca" or "t"; "percentile" of a DET curve
    bound : which value of each query is averaged: "lower", "expected" or "upper" over the orderings of tied items;
        "statistic" of a DET curve

    Its text is the value and the two ends, each in the given format.

    >>> f"{Interval(0.25, 0.125, 0.5, 0.95, 'bca', 'lower'):.3f}"
    '0.250 [0.125, 0.500]'
    """

    value: float
    low: float
    high: float
    confidence: float
    method: str
    bound: str

    def __format__(self, spec: str) -> str:
        """The value, followed by the two ends in brackets."""
        return f"{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"

    def __str__(self) -> str:
        """The value, followed by the two ends in brackets."""
        return format(self)


def interval_ends(values: FloatArray, strata: Strata, confidence: float, method: str) -> list[tuple[float, float]]:
    """The two ends, within 0 and 1, of the interval of the mean of each column of the queries' values, (Q, k)."""
    if method == "t":
        ends = [t_interval(column, strata, confidence) for column in values.T]
    else:
        ends = bca(values, strata, confidence)
    return [within(0.0, 1.0, each, column) for each, column in zip(ends, values.T, strict=True)]


def within(low: float, high: float, ends: tuple[float, float], values: FloatArray) -> tuple[float, float]:
    """The ends of an interval of a mean, cut off at `low` and `high`, between which the measure's values (Q,) are."""
    if values.min() < low or values.max() > high:  # of a measure of one's own, of which nothing is cut off
        return ends
    return max(low, ends[0]), min(high, ends[1])


def in_groups(values: FloatArray, names: Array | None, least: int) -> tuple[IntArray, Strata]:
    """The queries that have a value, sorted by category, and the groups; refuses a group with too few queries."""
    counted = np.flatnonzero(~np.isnan(values))
    names = None if names is None else names[counted]
    order, strata = grouped(names, len(counted))
    if strata.sizes.min() < least:
        which, remedy = "There is a single query", ""
        if names is not None:
            known, counts = np.unique(names, return_counts=True)
            which = f"The category {known[counts == 1].tolist()[0]!r} has a single query"
            remedy = " in each category: leave that category out, or pass average='micro'"
        raise InputError(
            f"{which}, which does not show how much queries differ. An interval over queries needs at least two of "
            f"them{remedy}."
        )
    return counted[order], strata


def check_confidence(name: str, confidence: float) -> None:
    """Refuse all but a number between 0 and 1, and one so close to 1 that float64 has no number in between."""
    if not isinstance(confidence, int | float) or not 0 < confidence < 1 or (1 + confidence) / 2 == 1:
        raise InputError(f"{name} must be a number between 0 and 1, such as 0.95, not {confidence!r}.", name)
