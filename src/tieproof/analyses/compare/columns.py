"""The differences of all pairs of systems as columns, one row for each query, and the p-values of the columns."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from tieproof.analyses.compare.differences import difference
from tieproof.errors import InputError
from tieproof.evaluation.intervals import BOUNDS
from tieproof.evaluation.result import Result
from tieproof.measures.statistics.resampling import Strata
from tieproof.measures.statistics.tests import CORRECTIONS, sign_flip, t_test, tukey, wilcoxon_test
from tieproof.ties import ROUNDING, FloatArray, IntArray, of_queries

Key = tuple[str, str, str]  # two systems and a measure


class DifferenceColumns(NamedTuple):
    """The differences of n queries for each of k keys: the system that is ahead in expectation minus the other."""

    keys: list[Key]
    # (k,) 1 if the first system is ahead, -1 if the second is, and 0 if their means are equal except for
    # rounding; the columns of such a pair are the first system minus the second.
    ahead: IntArray
    # expected, against: (n, k) the differences of the expected values; and the differences with all ties broken
    # against the system that is ahead and in favor of the other, or if neither is ahead, against the one of the
    # two whose mean is then below 0.
    expected: FloatArray
    against: FloatArray
    systems: list[str]  # all m systems, sorted
    values: FloatArray  # (measures, n, m) their expected values
    strata: Strata  # the categories of the queries if the mean is over categories, by which they are sorted then
    queries: IntArray  # (n,) the places of the queries in the first result


def columns_of(results: Mapping[str, Result], places: Mapping[str, IntArray], keys: list[Key]) -> DifferenceColumns:
    """Return the differences of every pair and measure; differences that are only due to rounding are 0."""
    one, systems = next(iter(results.values())), sorted(results)
    measures = list(dict.fromkeys(measure for _, _, measure in keys))
    of_system = {
        (name, measure): of_queries(results[name].per_query(measure), places[name])
        for name in systems
        for measure in measures
    }
    queries, strata = one._in_groups(of_system[systems[0], measures[0]].lower)
    estimates = [difference(of_system[a, measure], of_system[b, measure]) for a, b, measure in keys]
    lower, expected, upper = (
        settled(np.stack([getattr(each, bound)[queries] for each in estimates], axis=1)) for bound in BOUNDS
    )
    ahead = sides(expected, strata)
    against = np.where((ahead > 0) | ((ahead == 0) & (sides(lower, strata) < 0)), lower, -upper)
    values = np.array([[of_system[name, measure].expected[queries] for name in systems] for measure in measures])
    turned = np.where(ahead < 0, -expected, expected)
    return DifferenceColumns(keys, ahead, turned, against, systems, np.moveaxis(values, 1, 2), strata, queries)


def against_noise(
    columns: DifferenceColumns, results: Mapping[str, Result], places: Mapping[str, IntArray]
) -> DifferenceColumns:
    """Return the columns with all ties and all noise against the system ahead, in place of the ties alone."""
    lower, upper = [], []
    for a, b, measure in columns.keys:
        one, other = (results[name].per_query(measure).noise for name in (a, b))
        lower.append(one.lower[places[a]] - other.upper[places[b]])
        upper.append(one.upper[places[a]] - other.lower[places[b]])
    low, high = (settled(np.stack(each, axis=1)[columns.queries]) for each in (lower, upper))
    first = (columns.ahead > 0) | ((columns.ahead == 0) & (sides(low, columns.strata) < 0))
    return columns._replace(against=np.where(first, low, -high))


def sides(differences: FloatArray, strata: Strata) -> IntArray:
    """The sign of the mean of each column of differences (n, k); 0 if only rounding makes the mean differ from 0."""
    means = np.array([strata.mean(column) for column in differences.T])
    return np.where(np.abs(means) <= ROUNDING, 0, np.sign(means)).astype(np.int64)


def settled(differences: FloatArray) -> FloatArray:
    """Set differences that are only due to rounding to 0."""
    return np.where(np.abs(differences) <= ROUNDING, 0.0, differences)


def p_values_of(columns: DifferenceColumns, test: str, correction: str | None) -> tuple[FloatArray, FloatArray]:
    """Return the p-values of k pairs and measures, and the same corrected for the number of pairs, (2, k) each.

    The first row tests the expected differences. The second row tests the differences with all ties broken against
    the system that is ahead; it is nowhere smaller than the first.
    """
    if test == "tukey":
        alone, among_all = _by_tukey(columns)
        return _at_least_expected(alone), _at_least_expected(among_all)
    p_values = _at_least_expected(_TESTS[test](columns))
    if correction is None:
        return p_values, p_values
    correct = CORRECTIONS[correction]
    of_measures = p_values.reshape(2, len(columns.values), -1)  # the pairs of a measure are adjacent
    return p_values, np.array([[correct(pairs) for pairs in row] for row in of_measures]).reshape(2, -1)


def _at_least_expected(p_values: FloatArray) -> FloatArray:
    """Raise the second row to the first: a difference that ties cannot change must be significant in expectation."""
    return np.stack([p_values[0], p_values.max(axis=0)])


def _by_sign_flips(columns: DifferenceColumns) -> FloatArray:
    """Return p-values of the sign-flip test, with the same signs for both rows."""
    weights = columns.strata.weights[:, None]
    expected, against = columns.expected * weights, columns.against * weights
    order = np.lexsort((against, expected), axis=0)
    both = [np.take_along_axis(part, order, axis=0) for part in (expected, against)]
    return sign_flip(np.hstack(both)).reshape(2, -1)


def _by_t(columns: DifferenceColumns) -> FloatArray:
    return np.array(
        [[t_test(each, columns.strata) for each in part.T] for part in (columns.expected, columns.against)]
    )


def _by_signed_ranks(columns: DifferenceColumns) -> FloatArray:
    if len(columns.strata.sizes) > 1:
        raise InputError(
            "test='wilcoxon' ranks all queries together, but these results are means over categories "
            "(average='macro'). Use test='sign-flip'.",
            "test",
        )
    neither = (columns.ahead == 0).tolist()
    return np.array([[*map(wilcoxon_test, part.T, neither)] for part in (columns.expected, columns.against)])


def _by_tukey(columns: DifferenceColumns) -> tuple[FloatArray, FloatArray]:
    """Return p-values of each pair by itself, and among all pairs of systems, from the same permutations."""
    weights, measures = columns.strata.weights[:, None], len(columns.values)
    pairs = np.array([[columns.systems.index(name) for name in key[:2]] for key in columns.keys])
    both = (
        math.fsum(column.tolist()) for part in (columns.expected, columns.against) for column in (part * weights).T
    )
    sums = np.array(list(both)).reshape(2, measures, -1)
    p_values = tukey(columns.values * weights, pairs[: len(pairs) // measures], np.moveaxis(sums, 0, -1))
    alone, among_all = (np.moveaxis(each, -1, 0).reshape(2, -1) for each in p_values)
    return alone, among_all


# The tests of single pairs, which return (2, k).
_TESTS: Mapping[str, Callable[[DifferenceColumns], FloatArray]] = {
    "sign-flip": _by_sign_flips,
    "t": _by_t,
    "wilcoxon": _by_signed_ranks,
}
