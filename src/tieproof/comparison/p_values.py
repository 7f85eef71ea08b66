"""The tests of `compare`: two p-values for each pair and measure, in expectation and with ties broken against it."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from tieproof.comparison.verdicts import ROUNDING, difference, values_in_order
from tieproof.errors import InputError
from tieproof.evaluation.intervals import BOUNDS, in_groups
from tieproof.evaluation.result import Result
from tieproof.statistics.resampling import Strata
from tieproof.statistics.tests import CORRECTIONS, sign_flip, t_test, tukey, wilcoxon_test
from tieproof.ties import FloatArray, IntArray

Key = tuple[str, str, str]
"""Two systems and a measure."""


class Columns(NamedTuple):
    """The differences of n queries for each of k keys: the system that is ahead in expectation minus the other.

    ahead : (k,) 1 if the first system is ahead, -1 if the second is, and 0 if their means are equal except for
        rounding; the columns of such a pair are the first system minus the second
    expected, against : (n, k) the differences of the expected values; and the differences with all ties broken
        against the system that is ahead and in favor of the other, or if neither is ahead, against the one of the two
        whose mean is then below 0
    systems, values : all m systems, sorted, and their expected values (measures, n, m)
    strata : the categories of the queries if the mean is over categories; the queries are sorted by category
    """

    keys: list[Key]
    ahead: IntArray
    expected: FloatArray
    against: FloatArray
    systems: list[str]
    values: FloatArray
    strata: Strata


def columns_of(results: Mapping[str, Result], places: Mapping[str, IntArray], keys: list[Key]) -> Columns:
    """Return the differences of every pair and measure; differences that are only due to rounding are 0."""
    one, systems = next(iter(results.values())), sorted(results)
    measures = list(dict.fromkeys(measure for _, _, measure in keys))
    found = {
        (name, measure): values_in_order(results[name], places[name], measure)
        for name in systems
        for measure in measures
    }
    counted = ~np.isnan(found[systems[0], measures[0]].lower)
    categories = one.category_of_query if one.setting.average == "macro" else None
    order, strata = in_groups(int(counted.sum()), None if categories is None else categories[counted])
    queries = np.flatnonzero(counted)[order]

    estimates = [difference(found[a, measure], found[b, measure]) for a, b, measure in keys]
    lower, expected, upper = (
        settled(np.stack([getattr(each, bound)[queries] for each in estimates], axis=1)) for bound in BOUNDS
    )
    ahead = sides(expected, strata)
    against = np.where((ahead > 0) | ((ahead == 0) & (sides(lower, strata) < 0)), lower, -upper)
    values = np.array([[found[name, measure].expected[queries] for name in systems] for measure in measures])
    turned = np.where(ahead < 0, -expected, expected)
    return Columns(keys, ahead, turned, against, systems, np.moveaxis(values, 1, 2), strata)


def sides(differences: FloatArray, strata: Strata) -> IntArray:
    """The sign of the mean of each column of differences (n, k), which is 0 if only rounding makes it differ from 0.

    >>> sides(np.array([[0.1, 0.1, -0.5], [0.2, 0.2, 0.25], [-0.3, 0.3, 0.0]]), Strata(np.array([3])))
    array([ 0,  1, -1])
    """
    means = np.array([strata.mean(column) for column in differences.T])
    return np.where(np.abs(means) <= ROUNDING, 0, np.sign(means)).astype(np.int64)


def settled(differences: FloatArray) -> FloatArray:
    """Set differences that are only due to rounding to 0."""
    return np.where(np.abs(differences) <= ROUNDING, 0.0, differences)


Pair = tuple[FloatArray, FloatArray]
"""The uncorrected and the corrected p-values of k pairs and measures, (2, k) each.

The first row tests the expected differences. The second row tests the differences with all ties broken against the
system that is ahead; it is nowhere smaller than the first.
"""


def p_values_of(columns: Columns, test: str, correction: str | None) -> Pair:
    """Return the p-values of a test, and the same corrected for the number of pairs of each measure."""
    if test == "tukey":
        alone, among_all = by_tukey(columns)
        return at_least_expected(alone), at_least_expected(among_all)
    found = at_least_expected(TESTS[test](columns))
    return found, corrected(found, len(columns.values), correction)


def at_least_expected(p_values: FloatArray) -> FloatArray:
    """Raise the second row to the first: a difference that ties cannot change must be significant in expectation."""
    return np.stack([p_values[0], p_values.max(axis=0)])


def corrected(p_values: FloatArray, measures: int, correction: str | None) -> FloatArray:
    """Correct p-values (2, k) for the pairs of each measure; the pairs of a measure are adjacent."""
    if correction is None:
        return p_values
    correct = CORRECTIONS[correction]
    return np.array([[correct(pairs) for pairs in row] for row in p_values.reshape(2, measures, -1)]).reshape(2, -1)


def by_sign_flips(columns: Columns) -> FloatArray:
    """Return p-values of the sign-flip test, with the same signs for both rows."""
    weights = columns.strata.weights[:, None]
    expected, against = columns.expected * weights, columns.against * weights
    order = np.lexsort((against, expected), axis=0)
    both = [np.take_along_axis(part, order, axis=0) for part in (expected, against)]
    return sign_flip(np.hstack(both)).reshape(2, -1)


def by_t(columns: Columns) -> FloatArray:
    """Return p-values of Student's t-test."""
    return np.array(
        [[t_test(column, columns.strata) for column in part.T] for part in (columns.expected, columns.against)]
    )


def by_signed_ranks(columns: Columns) -> FloatArray:
    """Return p-values of Wilcoxon's signed-rank test, which cannot be used with categories."""
    if len(columns.strata.sizes) > 1:
        raise InputError(
            "test='wilcoxon' ranks all queries together, but these results are means over categories "
            "(average='macro'). Use test='sign-flip'.",
            "test",
        )
    neither = (columns.ahead == 0).tolist()
    return np.array(
        [[*map(wilcoxon_test, part.T, neither)] for part in (columns.expected, columns.against)],
    )


def by_tukey(columns: Columns) -> Pair:
    """Return p-values of each pair by itself, and among all pairs of systems, from the same permutations."""
    weights, measures = columns.strata.weights[:, None], len(columns.values)
    pairs = np.array([[columns.systems.index(name) for name in key[:2]] for key in columns.keys])
    both = (
        math.fsum(column.tolist()) for part in (columns.expected, columns.against) for column in (part * weights).T
    )
    sums = np.array(list(both)).reshape(2, measures, -1)
    found = tukey(columns.values * weights, pairs[: len(pairs) // measures], np.moveaxis(sums, 0, -1))
    alone, among_all = (np.moveaxis(each, -1, 0).reshape(2, -1) for each in found)
    return alone, among_all


TESTS: Mapping[str, Callable[[Columns], FloatArray]] = {
    "sign-flip": by_sign_flips,
    "t": by_t,
    "wilcoxon": by_signed_ranks,
}
"""The tests of single pairs, which return (2, k)."""
