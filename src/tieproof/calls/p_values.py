"""The tests of `compare`: two p-values of each pair and measure, of what is expected and of what ties can do."""

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
"""Of k pairs and measures, the p-values as they are and corrected, (2, k) each.

The first row is of the expected differences; the second of those where all ties are broken against the system that is
ahead, and nowhere less than the first.
"""


def p_values_of(columns: Columns, test: str, correction: str | None) -> Pair:
    """The p-values by a test, corrected for the pairs of each measure."""
    if test == "tukey":
        alone, among_all = by_tukey(columns)
        return at_least_expected(alone), at_least_expected(among_all)
    found = at_least_expected(TESTS[test](columns))
    return found, corrected(found, len(columns.values), correction)


def at_least_expected(p_values: FloatArray) -> FloatArray:
    """The second row raised to the first: what is not significant in expectation is not so whatever the ties."""
    return np.stack([p_values[0], p_values.max(axis=0)])


def corrected(p_values: FloatArray, measures: int, correction: str | None) -> FloatArray:
    """P-values (2, k) corrected for the pairs of each measure, which follow each other."""
    if correction is None:
        return p_values
    correct = CORRECTIONS[correction]
    return np.array([[correct(pairs) for pairs in row] for row in p_values.reshape(2, measures, -1)]).reshape(2, -1)


def by_sign_flips(columns: Columns) -> FloatArray:
    """P-values by the same signs for both."""
    weights = columns.strata.weights[:, None]
    expected, against = columns.expected * weights, columns.against * weights
    order = np.lexsort((against, expected), axis=0)
    both = [np.take_along_axis(part, order, axis=0) for part in (expected, against)]
    return sign_flip(np.hstack(both)).reshape(2, -1)


def by_t(columns: Columns) -> FloatArray:
    """P-values by Student's t."""
    return np.array(
        [[t_test(column, columns.strata) for column in part.T] for part in (columns.expected, columns.against)]
    )


def by_signed_ranks(columns: Columns) -> FloatArray:
    """P-values by Wilcoxon's signed ranks, which know no categories."""
    if len(columns.strata.sizes) > 1:
        raise InputError(
            "test='wilcoxon' ranks all queries together, and these results are means over categories "
            "(average='macro'). Take test='sign-flip'.",
            "test",
        )
    return np.array([[wilcoxon_test(column) for column in part.T] for part in (columns.expected, columns.against)])


def by_tukey(columns: Columns) -> Pair:
    """P-values of each pair by itself, and among all pairs of systems, by the same deals of what is expected."""
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
"""Those that look at each pair by itself, and return (2, k)."""
