"""`compare`: pairwise differences of systems on the same queries.

results ──► same_queries.py: aligned by the ids of their queries, or refused
        ──► a column of differences for each pair and measure ──► measures/statistics/: tests and intervals
        ──► p-values corrected for each measure ──► verdicts.py: verdicts ──► Comparison
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from tieproof.analyses.compare.columns import DifferenceColumns, Key, against_noise, columns_of, p_values_of
from tieproof.analyses.compare.differences import Difference, NoisyDifference
from tieproof.analyses.compare.result import Comparison
from tieproof.analyses.compare.same_queries import aligned, check_results, common_measures, on_shared
from tieproof.analyses.compare.verdicts import Evidence, Sample, smallest_p_value, verdict_on
from tieproof.errors import InputError
from tieproof.evaluation.intervals import check_confidence, within
from tieproof.evaluation.result import Result
from tieproof.inputs.options import check_choice
from tieproof.measures import Measure
from tieproof.measures.statistics.resampling import bca
from tieproof.measures.statistics.tests import CORRECTIONS, cohens_d
from tieproof.ties import Bounds, Estimate, FloatArray

Test = Literal["sign-flip", "t", "wilcoxon", "tukey"]
Correction = Literal["holm", "bonferroni", "fdr"]


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
