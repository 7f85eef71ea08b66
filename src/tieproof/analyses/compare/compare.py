"""`compare`: pairwise differences of systems on the same queries.

results ──► same_queries.py: aligned by the ids of their queries, or refused
        ──► a column of differences for each pair and measure ──► measures/statistics/: tests and intervals
        ──► p-values corrected for each measure ──► verdicts.py: verdicts ──► Comparison
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, get_args

import numpy as np

from tieproof.analyses.compare.result import Comparison
from tieproof.analyses.compare.same_queries import aligned, check_results, common_measures, on_shared
from tieproof.analyses.compare.verdicts import (
    Difference,
    Evidence,
    NoisyDifference,
    Sample,
    difference,
    smallest_p_value,
    verdict_on,
)
from tieproof.errors import InputError
from tieproof.evaluation.intervals import BOUNDS, check_confidence, within
from tieproof.evaluation.result import Result
from tieproof.inputs.options import check_choice
from tieproof.measures import Measure
from tieproof.measures.statistics.resampling import Strata, bca
from tieproof.measures.statistics.tests import CORRECTIONS, cohens_d, sign_flip, t_test, tukey, wilcoxon_test
from tieproof.ties import ROUNDING, Bounds, Estimate, FloatArray, IntArray, of_queries

Test = Literal["sign-flip", "t", "wilcoxon", "tukey"]
Correction = Literal["holm", "bonferroni", "fdr"]
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


def compare(
    results: Mapping[str, Result],
    *,
    baseline: str | None = None,
    test: Test = "sign-flip",
    correction: Correction | None = "holm",
    measures: Sequence[str | Measure] | None = None,
    confidence: float = 0.95,
) -> Comparison:
    """Compare systems that were evaluated on the same queries, with what ties and the choice of queries leave open.

    Parameters
    ----------
    results : {name: Result}, two or more
        Results of the same queries, with the same labels, measures and policies. Queries are aligned by their ids.
        Runs that were evaluated with missing="skip" are compared on the queries that all of them answered.
        If all of them were evaluated with noise, verdicts also say whether a difference remains whatever the noise.
    baseline : one of the names
        The system that all others are compared with. By default all pairs are compared.
    test : "sign-flip", "t", "wilcoxon" or "tukey"
        The test that gives the p-values: the paired sign-flip test, exact for up to 32 queries that differ, and
        otherwise by random signs; Student's paired t-test or Wilcoxon's signed-rank test (extra `stats`); or the
        randomized Tukey test.
    correction : "holm", "bonferroni", "fdr" or None
        The correction of the p-values for the number of pairs, for each measure separately. Tukey's test compares
        all pairs at once and needs no correction.
    measures :
        The measures to compare; by default all.
    confidence : float
        The confidence of the intervals over queries; a p-value of at most 1 - confidence is significant.

    Returns
    -------
    Comparison
        `comparison[a, b, measure]` is the `Difference` of a minus b: its interval over the orderings of tied items,
        its interval over the queries, and its verdict.

    Raises
    ------
    InputError
        If the results do not belong together; the message says what differs. Also if there is a single query, in
        all or in a category of a macro mean.
    MissingExtraError
        If the test needs scipy, and scipy is not installed.

    Notes
    -----
    docs/compare.md explains each number, and gives the rules of the verdicts. Random draws use
    fixed seeds and do not depend on the order of queries or systems. Sources: Fisher 1935, section 21 (signs);
    Efron 1987 (intervals); Carterette 2012, algorithm 1 (Tukey); Holm 1979; Benjamini and Hochberg 1995.

    Examples
    --------
    >>> import tieproof as tp
    >>> relevance = np.eye(10)
    >>> systems = {"good": tp.evaluate_scores(relevance, relevance), "bad": tp.evaluate_scores(-relevance, relevance)}
    >>> tp.compare(systems)["good", "bad", "RR"].verdict.name
    'better whatever the ties'

    """
    check_results(results)
    if len(results) < 2:
        raise InputError(
            f"A comparison needs at least two results, not {len(results)}. Pass {{name: result}} for each system.",
            "results",
        )
    if baseline is not None:
        check_choice("baseline", baseline, results)
    check_choice("test", test, get_args(Test))
    if correction is not None:
        check_choice("correction", correction, CORRECTIONS)
    if test == "tukey" and correction not in (None, "holm"):
        raise InputError(
            f"correction={correction!r} does not apply to test='tukey', which tests all pairs at once. Leave out "
            "correction=, or use test='sign-flip'.",
            "correction",
        )
    check_confidence("confidence", confidence)
    results, notes = on_shared(results)
    places = aligned(results)
    if baseline is None:
        pairs = list(combinations(results, 2))
    else:
        pairs = [(name, baseline) for name in results if name != baseline]
    names = common_measures(results, measures)
    columns = columns_of(results, places, [(a, b, name) for name in names for a, b in pairs])
    corrected = None if test == "tukey" else correction
    p_noise = None
    if all(result.evaluated.noisy for result in results.values()):
        p_noise = p_values_of(against_noise(columns, results, places), test, corrected)[1][1]
    differences = _differences_of(results, columns, test, corrected, confidence, p_noise)
    return Comparison(results, places, differences, baseline, test, corrected, confidence, notes)


def _differences_of(
    results: Mapping[str, Result],
    columns: DifferenceColumns,
    test: str,
    correction: str | None,
    confidence: float,
    p_noise: FloatArray | None,
) -> dict[Key, Difference]:
    """Return the difference of each key, computed for the system that is ahead in expectation, as the columns are."""
    p_values, corrected = p_values_of(columns, test, correction)
    intervals = bca(columns.expected, columns.strata, confidence)
    varies = columns.strata.varies(columns.expected)
    differences: dict[Key, Difference] = {}
    for at, key in enumerate(columns.keys):
        behind = bool(columns.ahead[at] < 0)
        *systems, measure = key
        a, b = systems[::-1] if behind else systems
        one, other = results[a][measure], results[b][measure]
        std = math.sqrt(one.std * one.std + other.std * other.std)  # the ties of two systems are broken independently
        mean = Estimate(one.lower - other.upper, one.expected - other.expected, one.upper - other.lower, std)
        expected = columns.expected[:, at]
        wins, losses = int(np.count_nonzero(expected > 0)), int(np.count_nonzero(expected < 0))
        interval = (mean.expected, mean.expected)
        if varies[at]:
            interval = within(-1.0, 1.0, intervals[at], expected)
        sample = Sample(test, len(results), len(expected), wins + losses, bool(varies[at]))
        evidence = Evidence(
            equal=not wins + losses,
            p_value=float(corrected[0, at]),
            p_lower=float(corrected[1, at]),
            lower=mean.lower,
            upper=mean.upper,
            alpha=1 - confidence,
            ahead=bool(columns.ahead[at]),
            p_noise=1.0 if p_noise is None else float(p_noise[at]),
            smallest=smallest_p_value(sample),
        )
        found = Difference(
            **vars(mean),
            interval=interval,
            p_value=float(p_values[0, at]),
            p_lower=float(p_values[1, at]),
            corrected_p_value=evidence.p_value,
            corrected_p_lower=evidence.p_lower,
            effect_size=cohens_d(mean.expected, expected),
            wins=wins,
            losses=losses,
            draws=len(expected) - wins - losses,
            verdict=verdict_on(a, b, measure, mean, evidence, sample),
        )
        if p_noise is not None:
            noise = Bounds(one.noise.lower - other.noise.upper, one.noise.upper - other.noise.lower)
            found = NoisyDifference(**vars(found), noise=noise, corrected_p_noise=evidence.p_noise)
        differences[key] = found.mirrored() if behind else found
    return differences


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
