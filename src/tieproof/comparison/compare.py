"""`compare`: pairwise differences of systems on the same queries.

results ──► same_queries.py: aligned by the ids of their queries, or refused
        ──► a column of differences for each pair and measure ──► statistics/: tests and intervals
        ──► p-values corrected for each measure ──► comparison/verdicts.py: verdicts ──► Comparison
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from tieproof.comparison.p_values import Columns, Key, columns_of, p_values_of
from tieproof.comparison.result import Comparison, Procedure
from tieproof.comparison.same_queries import aligned, common_measures
from tieproof.comparison.verdicts import Difference, Evidence, Sample, verdict_on
from tieproof.errors import InputError
from tieproof.evaluation.intervals import check_confidence, within
from tieproof.evaluation.result import Result
from tieproof.inputs.options import check_choice
from tieproof.measures import Measure
from tieproof.statistics.resampling import bca
from tieproof.statistics.tests import CORRECTIONS, cohens_d
from tieproof.ties import Estimate

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
    baseline : one of the names
        The system that all others are compared with. By default all pairs are compared.
    test : "sign-flip", "t", "wilcoxon" or "tukey"
        The test that gives the p-values: the paired sign-flip test, exact for up to 32 queries that differ, and
        otherwise by random signs; Student's paired t-test or Wilcoxon's signed-rank test (extra `stats`); or the
        randomised Tukey test.
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
    docs/compare.md explains each number, and docs/verdicts.md gives the rules of the verdicts. Random draws use
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
    check_systems(results, baseline)
    check_choice("test", test, get_args(Test))
    check_correction(correction, test)
    check_confidence("confidence", confidence)
    places = aligned(results)
    pairs = pairs_of(list(results), baseline)
    names = common_measures(results, measures)
    columns = columns_of(results, places, [(a, b, name) for name in names for a, b in pairs])
    procedure = Procedure(baseline, test, None if test == "tukey" else correction, confidence)
    return Comparison(results, places, differences_of(results, columns, procedure), procedure)


def check_systems(results: Any, baseline: Any) -> None:
    """Refuse anything but a mapping of names to results, and a baseline that is not one of the names."""
    if not isinstance(results, Mapping) or isinstance(results, Result):
        raise InputError(f"The results must be {{name: result}}, not {type(results).__name__}.", "results")
    for name, result in results.items():
        if not isinstance(name, str) or not isinstance(result, Result):
            raise InputError(
                f"The results must be {{name: result}}, but {name!r} is {type(result).__name__}. Pass the results "
                "that evaluate returned, with strings as names.",
                "results",
            )
    if len(results) < 2:
        raise InputError(
            f"A comparison needs at least two results, not {len(results)}. Pass {{name: result}} for each system.",
            "results",
        )
    if baseline is not None:
        check_choice("baseline", baseline, results)


def check_correction(correction: Any, test: str) -> None:
    """Refuse an unknown correction, and a correction for Tukey's test, which needs none."""
    if correction is not None:
        check_choice("correction", correction, CORRECTIONS)
    if test == "tukey" and correction not in (None, "holm"):
        raise InputError(
            f"correction={correction!r} does not apply to test='tukey', which tests all pairs at once. Leave out "
            "correction=, or use test='sign-flip'.",
            "correction",
        )


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return the pairs of systems that are compared.

    >>> pairs_of(["a", "b", "c"], "a")
    [('b', 'a'), ('c', 'a')]
    """
    if baseline is None:
        return list(combinations(systems, 2))
    return [(name, baseline) for name in systems if name != baseline]


def differences_of(results: Mapping[str, Result], columns: Columns, procedure: Procedure) -> dict[Key, Difference]:
    """Return the difference of every pair of systems in every measure."""
    p_values, corrected = p_values_of(columns, procedure.test, procedure.correction)
    intervals = bca(columns.expected, columns.strata, procedure.confidence)
    varies = columns.strata.varies(columns.expected)
    found = {}
    for at, (a, b, measure) in enumerate(columns.keys):
        mean = difference_of_means(results[a][measure], results[b][measure])
        ahead = int(columns.ahead[at])
        expected = -columns.expected[:, at] if ahead < 0 else columns.expected[:, at]
        wins, losses = int(np.count_nonzero(expected > 0)), int(np.count_nonzero(expected < 0))
        interval = (mean.expected, mean.expected)
        if varies[at]:
            interval = within(-1.0, 1.0, turned(intervals[at], ahead), expected)
        evidence = Evidence(
            equal=not wins + losses,
            p_value=float(corrected[0, at]),
            p_lower=float(corrected[1, at]),
            lower=mean.lower,
            upper=mean.upper,
            alpha=1 - procedure.confidence,
            ahead=ahead,
        )
        sample = Sample(procedure.test, len(results), len(expected), wins + losses, bool(varies[at]))
        found[a, b, measure] = Difference(
            lower=mean.lower,
            expected=mean.expected,
            upper=mean.upper,
            std=mean.std,
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
    return found


def difference_of_means(a: Estimate[float], b: Estimate[float]) -> Estimate[float]:
    """Return the first mean minus the second, when the ties of the two systems are broken independently."""
    std = math.sqrt(a.std * a.std + b.std * b.std)
    return Estimate(a.lower - b.upper, a.expected - b.expected, a.upper - b.lower, std)


def turned(ends: tuple[float, float], ahead: int) -> tuple[float, float]:
    """Return the ends of an interval, mirrored at 0 if the second system is ahead."""
    low, high = ends
    return (0.0 - high, 0.0 - low) if ahead < 0 else (low, high)
