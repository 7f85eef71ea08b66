"""Student's t: the interval of a mean, and the test of whether it is 0 (extra `stats`).

With several groups, the variance of the mean is computed from the variances of the groups' means, and its degrees of
freedom are those of Welch 1947 and Satterthwaite 1946. With one group, these are the usual interval and paired
t-test.
"""

import math
from typing import NamedTuple

from tieproof.errors import MissingExtraError
from tieproof.statistics.sign_flip import smallest_p_value
from tieproof.statistics.strata import Strata
from tieproof.statistics.whole_numbers import SAME
from tieproof.ties import FloatArray


class MeanAndSpread(NamedTuple):
    """The mean of values in groups, its standard error, and its degrees of freedom (0 without spread)."""

    mean: float
    error: float
    freedom: float


def mean_and_spread(values: FloatArray, strata: Strata) -> MeanAndSpread:
    """The mean and the spread of a column of values (n,); every group has at least two values.

    >>> import numpy as np
    >>> mean_and_spread(np.array([1.0, 3.0]), Strata(np.array([2])))
    MeanAndSpread(mean=2.0, error=1.0, freedom=1.0)
    """
    mean = strata.mean(values)
    if not strata.varies(values):
        return MeanAndSpread(mean, 0.0, 0.0)
    variances, shares = [], []
    for deviations in strata.deviations(values):
        size = len(deviations)
        variance = math.fsum((deviations * deviations).tolist()) / (size - 1) / size
        variances.append(variance)
        shares.append(variance * variance / (size - 1))
    total, share = math.fsum(variances), math.fsum(shares)
    return MeanAndSpread(mean, math.sqrt(total) / len(strata.sizes), total * total / share)


def t_interval(values: FloatArray, strata: Strata, confidence: float) -> tuple[float, float]:
    """The two ends of the interval of the mean of a column of values, (n,); a point if no group has any spread."""
    found = mean_and_spread(values, strata)
    if not found.freedom:
        return found.mean, found.mean
    try:
        from scipy.special import stdtrit
    except ImportError:
        raise MissingExtraError("An interval by Student's t", "stats") from None
    reach = float(stdtrit(found.freedom, (1 + confidence) / 2)) * found.error
    return found.mean - reach, found.mean + reach


def t_test(differences: FloatArray, strata: Strata) -> float:
    """The two-sided p-value of a column of differences (n,) if their mean is not below 0; otherwise 1.

    Without any spread, t is not defined. The p-value is then that of the sign-flip test, which is the smallest one
    that so many differences allow.
    """
    found = mean_and_spread(differences, strata)
    if found.mean < -SAME:
        return 1.0
    if not found.freedom:
        return smallest_p_value(differences) if found.mean > SAME else 1.0
    try:
        from scipy.special import stdtr
    except ImportError:
        raise MissingExtraError("Student's t-test", "stats") from None
    return 2 * float(stdtr(found.freedom, -abs(found.mean) / found.error))
