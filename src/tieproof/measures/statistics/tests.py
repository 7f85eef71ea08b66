"""Tests of paired differences, of all pairs at once, too; their effect size; corrections for the number of tests."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tieproof.errors import import_extra
from tieproof.measures.statistics.resampling import Strata, Whole, as_whole, below, coins, raw, resampled_sums
from tieproof.ties import ROUNDING, Array, BoolArray, FloatArray, IntArray

FLIPS = 99_999  # how many assignments of signs are drawn at random if there are too many to try all
MOST_EXACT = 32  # for so many nonzero differences, all 2**n assignments are counted by halves of 2**(n / 2) each
DEALS = 9_999  # how many times the values of all queries are dealt at random
_DECIMALS = 12  # of differences, so that differences that are equal in real numbers have equal ranks


def sign_flip(differences: FloatArray) -> FloatArray:
    """The two-sided p-value of each column of differences, (n, k) -> (k,), if the sum of the column is above 0.

    It is the share of assignments of signs to the n differences for which the sum is at least as far from 0 as the
    observed sum. With at most `MOST_EXACT` nonzero differences the share is exact. Otherwise it is
    (hits + 1) / (FLIPS + 1) over FLIPS random assignments, which is never 0 (Phipson and Smyth 2010). If the sum is 0
    or negative, the p-value is 1, so that smaller differences never have a smaller p-value.

    Sums that differ by no more than 1e-12 for each difference count as equal.
    """
    whole = as_whole(differences)
    few = np.count_nonzero(whole.numbers, axis=0) <= MOST_EXACT
    p_values = np.ones(differences.shape[1])
    for column in np.flatnonzero(few):
        p_values[column] = _exact(whole.numbers[:, column], float(whole.slack[column]))
    if not few.all():
        p_values[~few] = _drawn(Whole(whole.numbers[:, ~few], whole.unit[~few]))
    return p_values


def _smallest_p_value(differences: FloatArray) -> float:
    """The smallest p-value of assignments of signs: of 2**n for n nonzero differences, all are equal in 2."""
    return min(1.0, math.ldexp(2.0, -int(np.count_nonzero(differences))))


def _exact(numbers: FloatArray, slack: float) -> float:
    """The p-value of whole numbers (n,) over all signs, by sums of one half among the sorted ones of the other."""
    wanted = numbers.sum() - slack
    if wanted <= 0:
        return 1.0
    chosen = numbers[numbers != 0]
    half = len(chosen) // 2

    def signed_sums(part: FloatArray) -> FloatArray:
        sums = np.zeros(1)
        for number in part[::-1].tolist():
            sums = np.concatenate([sums + number, sums - number])
        return sums

    one, other = signed_sums(chosen[:half]), np.sort(signed_sums(chosen[half:]))
    far = len(one) * len(other) - int(np.searchsorted(other, wanted - one, side="left").sum())
    return 2 * far / (len(one) * len(other))


def _drawn(whole: Whole) -> FloatArray:
    """The p-values of columns (n, k) by random signs; each assignment is a row of a matrix of kept signs."""
    total, hits = whole.numbers.sum(axis=0), 0
    for kept in coins(FLIPS, len(whole.numbers), max(whole.numbers.shape)):
        sums = 2 * (kept.astype(np.float64) @ whole.numbers) - total
        hits = hits + np.count_nonzero(np.abs(sums) >= total - whole.slack, axis=0)
    return (hits + np.ones(len(total))) / (FLIPS + 1)


class PairValues(NamedTuple):
    """P-values of pairs, (k, p, j): for each pair alone, and corrected for all pairs."""

    alone: FloatArray
    among_all: FloatArray


def tukey(values: FloatArray, pairs: IntArray, sums: FloatArray) -> PairValues:
    """The two-sided p-values of differences between systems.

    values : (k, n, m) the scores of m systems on n queries in k measures
    pairs : (p, 2) the systems of each pair
    sums : (k, p, j) the observed differences of sums over the queries; if a difference is 0 or negative, its p-value
        is 1

    Each p-value is (hits + 1) / (DEALS + 1). All measures use the same deals. Sums that differ by no more than 1e-12
    for each value count as equal. The order of the queries does not matter, because they are sorted.
    """
    measures, queries, systems = values.shape
    ordered = np.stack([each[np.lexsort(each.T[::-1])] for each in values])
    whole = as_whole(ordered.reshape(measures, -1).T)
    numbers = whole.numbers.T.reshape(values.shape)
    wanted = (sums / whole.unit[:, None, None]) - whole.slack[:, None, None]
    alone, among_all = np.ones(sums.shape), np.ones(sums.shape)
    for dealt in _deals(queries, systems):
        for measure, of_measure in enumerate(numbers):
            dealt_sums = np.stack([of_measure.take(place).sum(axis=1) for place in dealt], axis=1)
            gaps = np.abs(dealt_sums[:, pairs[:, 0]] - dealt_sums[:, pairs[:, 1]])
            ranges = dealt_sums.max(axis=1) - dealt_sums.min(axis=1)
            alone[measure] += np.count_nonzero(gaps[..., None] >= wanted[measure], axis=0)
            among_all[measure] += np.count_nonzero(ranges[:, None, None] >= wanted[measure], axis=0)
    return PairValues(alone / (DEALS + 1), among_all / (DEALS + 1))


def _deals(queries: int, systems: int) -> Iterator[IntArray]:
    """Yield indices of the values (queries, systems) that each system is dealt, in blocks (systems, c, queries)."""
    limits = np.repeat(np.arange(systems, 1, -1), queries)
    for drawn in raw(DEALS, len(limits), len(limits)):
        size = len(drawn) * queries
        row = np.arange(size)
        dealt = np.tile(row % queries * systems, (systems, 1)) + np.arange(systems)[:, None]
        chosen = below(drawn, limits).reshape(len(drawn), systems - 1, queries)
        for step in range(systems - 1):  # Fisher and Yates: each position, from the last on, swaps with one up to it
            place = chosen[:, step].ravel() * size + row
            last = dealt[systems - 1 - step].copy()
            dealt[systems - 1 - step] = dealt.ravel().take(place)
            dealt.ravel()[place] = last
        yield dealt.reshape(systems, len(drawn), queries)


def wilcoxon_test(differences: FloatArray, either: bool = False) -> float:
    """The two-sided p-value of a column of differences (n,) if their mean is above 0, and positive ranks outweigh.

    Otherwise it is 1, so that the test never speaks for a system with the lower mean.

    either : whether no system is ahead; if the mean is 0, the p-value is then two-sided, whichever ranks outweigh

    Differences of zero are left out (Wilcoxon 1945, "Individual comparisons by ranking methods").
    `scipy.stats.wilcoxon` chooses between the exact distribution and the normal approximation, which for few
    differences can fall below the smallest p-value that is possible.
    """
    rounded = np.sort(np.round(differences, _DECIMALS))
    mean = math.fsum(differences.tolist()) / len(differences)
    if mean < -ROUNDING or (mean <= ROUNDING and not either) or not rounded.any():
        return 1.0
    wilcoxon = import_extra("scipy.stats", "Wilcoxon's test", "stats").wilcoxon
    directions = [rounded] if mean > ROUNDING else [rounded, np.sort(-rounded)]
    p_value = 2 * min(float(wilcoxon(each, alternative="greater").pvalue) for each in directions)
    return min(1.0, max(p_value, _smallest_p_value(rounded)))


class MeanAndSpread(NamedTuple):
    """The mean of values in groups, its standard error, and its degrees of freedom (0 without spread)."""

    mean: float
    error: float
    freedom: float


def mean_and_spread(values: FloatArray, strata: Strata) -> MeanAndSpread:
    """The mean and the spread of a column of values (n,); every group has at least two values."""
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
    spread = mean_and_spread(values, strata)
    if not spread.freedom:
        return spread.mean, spread.mean
    stdtrit = import_extra("scipy.special", "An interval by Student's t", "stats").stdtrit
    reach = float(stdtrit(spread.freedom, (1 + confidence) / 2)) * spread.error
    return spread.mean - reach, spread.mean + reach


def t_test(differences: FloatArray, strata: Strata) -> float:
    """The two-sided p-value of a column of differences (n,) if their mean is not below 0; otherwise 1."""
    # Without any spread, t is not defined. The p-value is then that of the sign-flip test, which is the smallest one
    # that so many differences allow.
    spread = mean_and_spread(differences, strata)
    if spread.mean < -ROUNDING:
        return 1.0
    if not spread.freedom:
        return _smallest_p_value(differences) if spread.mean > ROUNDING else 1.0
    stdtr = import_extra("scipy.special", "Student's t-test", "stats").stdtr
    return 2 * float(stdtr(spread.freedom, -abs(spread.mean) / spread.error))


def told_apart(values: FloatArray, strata: Strata, confidence: float) -> BoolArray:
    """Return for each two of m systems whether the first is above the second, (m, m), with one confidence for all.

    values : (n, m) the value of each query and system, in the groups of `strata`

    The intervals of all differences of two means hold together: their half width is a multiple of the standard error
    of the difference, and the multiple is the quantile of the largest studentized difference over the resamples
    (Mogstad, Romano, Shaikh and Wilhelm 2024, section 3). Two systems whose difference does not vary over the queries
    are told apart by any difference; if a group has a single value, no systems are. The values of a group may be in
    any order. Sums are exact.
    """
    if strata.sizes.min() < 2:
        return np.zeros((values.shape[1],) * 2, dtype=np.bool_)
    group = np.repeat(np.arange(len(strata.sizes)), strata.sizes)
    values = values[np.lexsort((*values.T, group))]
    whole = as_whole((values * strata.weights[:, None]).reshape(-1, 1))  # one unit for all systems
    numbers = whole.numbers.reshape(values.shape)
    observed = numbers.sum(axis=0)
    moved = resampled_sums(numbers, strata) - observed
    centered = np.concatenate([part - part.sum(axis=0) / len(part) for part in strata.parts(numbers)])
    apart = np.zeros((len(observed), len(observed)), dtype=np.bool_)
    errors, largest = np.zeros(apart.shape), np.zeros(len(moved))
    for one in range(len(observed)):
        squares = as_whole((centered[:, [one]] - centered) ** 2)
        errors[one] = np.sqrt(squares.numbers.sum(axis=0) * squares.unit)
        errors[one, errors[one] <= whole.slack] = 0.0
        others = one + 1 + np.flatnonzero(errors[one, one + 1 :])
        if len(others):
            differences = np.abs(moved[:, [one]] - moved[:, others]) / errors[one, others]
            largest = np.maximum(largest, differences.max(axis=1))
    place = min(len(largest), math.ceil(confidence * (len(largest) + 1))) - 1
    half = np.sort(largest)[place] * errors
    return np.asarray(observed[:, None] - observed > np.maximum(half, whole.slack))


def cohens_d(mean: float, differences: FloatArray) -> float | None:
    """A mean difference divided by the standard deviation of the differences (n,), with n - 1 in its denominator."""
    # Cohen 1988, "Statistical power analysis for the behavioral sciences", equation 2.3.5; Sakai 2014, "Statistical
    # reform in information retrieval?", recommends to report it together with p-values of pairs. None if all
    # differences are equal.
    if float(differences.max() - differences.min()) <= ROUNDING:
        return None
    center = math.fsum(differences.tolist()) / len(differences)
    deviations = differences - center
    return mean / math.sqrt(math.fsum((deviations * deviations).tolist()) / (len(differences) - 1))


def bonferroni(p_values: FloatArray) -> FloatArray:
    """Multiply each p-value by their number, which bounds the probability of any false positive (Dunn 1961)."""
    return np.minimum(1.0, p_values * len(p_values))


def holm(p_values: FloatArray) -> FloatArray:
    """Multiply the smallest p-value by their number, the next by one less, …; as safe as `bonferroni` (Holm 1979)."""
    return _by_steps(p_values, np.arange(len(p_values), 0, -1), np.maximum.accumulate)


def fdr(p_values: FloatArray) -> FloatArray:
    """Multiply the i-th smallest p-value by their number / i: bounds the expected share of false positives."""
    # Benjamini and Hochberg 1995, for tests that are independent or positively dependent.
    factors = len(p_values) / np.arange(1, len(p_values) + 1)
    return _by_steps(p_values, factors, lambda steps: np.minimum.accumulate(steps[::-1])[::-1])


def _by_steps(p_values: FloatArray, factors: Array, monotone: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Multiply the p-values, the smallest first, by factors, and make the products `monotone`."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(1.0, monotone(p_values[order] * factors))
    return corrected


CORRECTIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = {"holm": holm, "bonferroni": bonferroni, "fdr": fdr}
