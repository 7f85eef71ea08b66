"""`OverTies`: how likely one system is better than another when ties are broken at random, and how p-values vary."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tieproof.evaluation.spread import as_distribution, tied_of
from tieproof.measures import parse
from tieproof.measures.distribution.distribution import Between, Distribution
from tieproof.measures.statistics.resampling import Strata
from tieproof.measures.statistics.tests import sign_flip
from tieproof.ties import ROUNDING, Estimate, FloatArray

if TYPE_CHECKING:
    from tieproof.analyses.compare.result import Comparison


@dataclass(frozen=True)
class OverTies:
    """What the orders of tied items leave open between two systems on the same queries.

    distribution : of the mean of the first system minus the mean of the second, when the ties of both systems and of
        all queries are broken at random and independently
    better, equal, worse : the probabilities that the first system is better, that both are equal, and that it is
        worse; differences of at most 1e-12 count as equal
    p_value : between which numbers the p-value of the sign-flip test lies, over all orders of ties

    The p-value of a difference above 0 is the probability, over random signs, that the sum of the differences whose
    sign flips is at most 0, or that the sum of the others is. Where the difference of a query grows, the p-value can
    only fall. So it is the largest if all ties are broken against the system that stays ahead, and the smallest if
    all are broken in favor of one system. If ties can make either system the better one, the largest is 1.
    """

    distribution: Distribution
    better: Between
    equal: Between
    worse: Between
    p_value: Between


def over_ties(comparison: "Comparison", a: str, b: str, measure: str, resolution: float) -> OverTies:
    """What ties leave open between two systems, as `Comparison.over_ties` says."""
    results, found, per_query = comparison.results, comparison[a, b, measure], comparison.per_query(a, b, measure)
    ties = [tied_of(results[name], parse(measure), sign) for name, sign in ((a, 1.0), (b, -1.0))]
    estimate = Estimate(found.lower, found.expected, found.upper, found.std)
    queries, strata = results[comparison.systems[0]]._in_groups(per_query.lower)
    distribution = as_distribution(f"{measure} of {a} minus {b}", estimate, len(queries), ties, resolution)
    better, not_worse = distribution.more_than(ROUNDING), distribution.more_than(-3.0 * ROUNDING)
    differences = np.array([per_query.lower, per_query.expected, per_query.upper])[:, queries]
    equal = Between(max(0.0, not_worse.low - better.high), not_worse.high - better.low)
    worse = Between(1.0 - not_worse.high, 1.0 - not_worse.low)
    return OverTies(distribution, better, equal, worse, _p_values(differences, strata))


def _p_values(differences: FloatArray, strata: Strata) -> Between:
    """Return the smallest and the largest p-value over all orders of ties.

    differences : (3, Q) the lower, expected and upper difference of each query, in the groups of `strata`

    `sign_flip` gives 1 if the sum is not above 0, so that of the two signs of a column the smaller p-value counts.
    """
    least, mean, most = np.where(np.abs(differences) <= ROUNDING, 0.0, differences)
    center = strata.mean(mean)
    for_first = center > ROUNDING or (center >= -ROUNDING and strata.mean(least) < 0)
    against, turned = (least, mean) if for_first else (-most, -mean)
    columns = np.stack([least, mean, most, -least, -mean, -most], axis=1) * strata.weights[:, None]
    p_values = sign_flip(columns[np.lexsort((against, turned))])  # in the order of `compare`, for the same signs
    (low, middle, high), (other_low, other_middle, other_high) = p_values.reshape(2, 3).tolist()
    expected = min(middle, other_middle)
    return Between(min(high, other_low, expected), max(min(low, other_high), expected))
