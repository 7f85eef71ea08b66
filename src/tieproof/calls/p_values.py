"""The tests of `compare`: two p-values for each pair and measure, in expectation and with ties broken against it."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from tieproof.calls.query_differences import Columns
from tieproof.errors import InputError
from tieproof.statistics.corrections import CORRECTIONS
from tieproof.statistics.sign_flip import sign_flip
from tieproof.statistics.student import t_test
from tieproof.statistics.tukey import tukey
from tieproof.statistics.wilcoxon import wilcoxon_test
from tieproof.ties import FloatArray

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
