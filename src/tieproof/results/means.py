"""Means over queries and over categories, with the standard deviation that ties leave."""

import math
from collections.abc import Sequence

import numpy as np

from tieproof.ties import Estimate, FloatArray


def mean(values: FloatArray) -> Estimate[float]:
    """The mean of the queries' (lower, expected, upper, variance), shape (4, Q), leaving out NaN.

    Sums are exact and rounded once, so that the order of the queries cannot matter. Ties of different queries
    are broken independently: variances add up.
    """
    counted = values[:, ~np.isnan(values[0])]
    count = counted.shape[1]
    lower, expected, upper = (math.fsum(row.tolist()) / count for row in counted[:3])
    return Estimate(lower, expected, upper, math.sqrt(math.fsum(counted[3].tolist())) / count)


def mean_of_means(means: Sequence[Estimate[float]]) -> Estimate[float]:
    """The mean of the categories' means, each counting the same; their queries are not the same, so variances add up.

    >>> mean_of_means([Estimate(0.0, 0.5, 1.0, 0.5), Estimate(1.0, 1.0, 1.0, 0.0)])
    Estimate(lower=0.5, expected=0.75, upper=1.0, std=0.25)
    """
    return mean(np.array([(each.lower, each.expected, each.upper, each.std * each.std) for each in means]).T)
