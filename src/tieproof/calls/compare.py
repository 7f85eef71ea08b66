"""`compare`: results of the same queries, system against system.

results ──► same_queries.py: aligned by their queries' ids, or refused
        ──► a column of differences for each pair and measure ──► statistics/: tests and intervals
        ──► corrected measure by measure ──► results/verdicts.py: verdicts ──► Comparison
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from tieproof.calls.same_queries import aligned, common_measures
from tieproof.errors import InputError
from tieproof.inputs.checks import check_choice
from tieproof.measures import Measure
from tieproof.results.comparison import ROUNDING, Comparison, Difference, Procedure, difference, values_in_order
from tieproof.results.intervals import check_confidence, in_groups
from tieproof.results.results import Result
from tieproof.results.verdicts import Evidence, verdict_on
from tieproof.statistics.bootstrap import bca
from tieproof.statistics.corrections import CORRECTIONS
from tieproof.statistics.effect_size import cohens_d
from tieproof.statistics.sign_flip import sign_flip
from tieproof.statistics.strata import Strata
from tieproof.statistics.student import t_test
from tieproof.statistics.wilcoxon import wilcoxon_test
from tieproof.ties import Estimate, FloatArray, IntArray

Test = Literal["sign-flip", "t", "wilcoxon"]
Correction = Literal["holm", "bonferroni", "fdr"]
Key = tuple[str, str, str]
"""Two systems and a measure."""


def compare(
    results: Mapping[str, Result],
    *,
    baseline: str | None = None,
    test: Test = "sign-flip",
    correction: Correction | None = "holm",
    measures: Sequence[str | Measure] | None = None,
    confidence: float = 0.95,
) -> Comparison:
    """Compare systems that were evaluated on the same queries: what ties, and what the queries, leave open.

    Parameters
    ----------
    results : {name: Result}, two or more
        Of the same queries, which are aligned by their ids, with the same labels, measures and policies.
    baseline : one of the names
        The system that all others are compared with; by default every two are compared.
    test : "sign-flip", "t" or "wilcoxon"
    correction : "holm", "bonferroni", "fdr" or None
        For the number of pairs; for each measure on its own.
    measures :
        Those to compare; by default all.
    confidence : float
        Of the intervals over queries; and 1 - confidence is the level at which a p-value is significant.

    Raises
    ------
    InputError
        Results that do not belong together: what differs.

    Examples
    --------
    >>> import tieproof as tp
    >>> relevance = np.eye(10)
    >>> systems = {"good": tp.evaluate_scores(relevance, relevance), "bad": tp.evaluate_scores(-relevance, relevance)}
    >>> tp.compare(systems)["good", "bad", "RR"].verdict.name
    'better whatever the ties'

    """
    check_systems(results, baseline)
    check_choice("test", test, TESTS)
    if correction is not None:
        check_choice("correction", correction, CORRECTIONS)
    check_confidence(confidence)
    places = aligned(results)
    pairs = pairs_of(list(results), baseline)
    names = common_measures(results, measures)
    columns = columns_of(results, places, [(a, b, name) for name in names for a, b in pairs])
    procedure = Procedure(baseline, test, correction, confidence)
    found = differences_of(results, columns, len(pairs), procedure)
    return Comparison(results, places, found, procedure)


def check_systems(results: Any, baseline: Any) -> None:
    """Refuse what is no mapping of names to results, and a baseline that is none of them."""
    if not isinstance(results, Mapping) or isinstance(results, Result):
        raise InputError(f"The results must be {{name: result}}, not {type(results).__name__}.", "results")
    for name, result in results.items():
        if not isinstance(name, str) or not isinstance(result, Result):
            raise InputError(
                f"The results must be {{name: result}}, and {name!r} is {type(result).__name__}. Pass what "
                "evaluate returned, under a name that is a string.",
                "results",
            )
    if len(results) < 2:
        raise InputError(
            f"At least two results are needed for a comparison, and there are {len(results)}.", "results"
        )
    if baseline is not None:
        check_choice("baseline", baseline, results)


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Which systems are compared.

    >>> pairs_of(["a", "b", "c"], "a")
    [('b', 'a'), ('c', 'a')]
    """
    if baseline is None:
        return list(combinations(systems, 2))
    return [(name, baseline) for name in systems if name != baseline]


class Columns(NamedTuple):
    """The differences of n queries for each of k keys, each seen from the system that is ahead in expectation.

    ahead : (k,) 1 where the first system is ahead or none is, -1 where the second is
    expected, against : (n, k) the differences of the expected values; and where all ties are broken against the
        system that is ahead and for the other one
    strata : the categories of the queries, where the mean is over categories; the queries lie category by category
    """

    keys: list[Key]
    ahead: IntArray
    expected: FloatArray
    against: FloatArray
    strata: Strata


def columns_of(results: Mapping[str, Result], places: Mapping[str, IntArray], keys: list[Key]) -> Columns:
    """The differences of every pair and measure; those that are only due to rounding are 0."""
    one = next(iter(results.values()))
    counted = ~np.isnan(one.per_query(keys[0][2]).lower)
    categories = one.category_of_query if one.setting.average == "macro" else None
    estimates = [
        difference(*(values_in_order(results[name], places[name], measure) for name in (a, b)))
        for a, b, measure in keys
    ]
    bounds = np.array([(each.lower, each.expected, each.upper) for each in estimates])[..., counted]
    bounds[np.abs(bounds) <= ROUNDING] = 0.0
    ordered, strata = in_groups(bounds.T, None if categories is None else categories[counted])
    lower, expected, upper = np.moveaxis(ordered, 1, 0)
    weighted = expected * strata.weights[:, None]
    ahead = np.array([-1 if math.fsum(column.tolist()) < 0 else 1 for column in weighted.T])
    return Columns(keys, ahead, expected * ahead, np.where(ahead > 0, lower, -upper), strata)


def differences_of(
    results: Mapping[str, Result], columns: Columns, n_pairs: int, procedure: Procedure
) -> dict[Key, Difference]:
    """What is known of every pair and measure, the pairs of a measure together."""
    p_values = TESTS[procedure.test](columns)
    corrected = np.stack([by_measure(row, n_pairs, procedure.correction) for row in p_values])
    intervals = bca(columns.expected, columns.strata, procedure.confidence)
    found = {}
    for at, (a, b, measure) in enumerate(columns.keys):
        mean = difference_of_means(results[a][measure], results[b][measure])
        expected = columns.expected[:, at] * columns.ahead[at]
        wins, losses = int(np.count_nonzero(expected > 0)), int(np.count_nonzero(expected < 0))
        evidence = Evidence(
            equal=not wins + losses,
            p_value=float(corrected[0, at]),
            p_lower=float(corrected[1, at]),
            lower=mean.lower,
            upper=mean.upper,
            alpha=1 - procedure.confidence,
        )
        found[a, b, measure] = Difference(
            lower=mean.lower,
            expected=mean.expected,
            upper=mean.upper,
            std=mean.std,
            interval=turned(intervals[at], int(columns.ahead[at])),
            p_value=float(p_values[0, at]),
            p_lower=float(p_values[1, at]),
            corrected_p_value=evidence.p_value,
            corrected_p_lower=evidence.p_lower,
            effect_size=cohens_d(mean.expected, expected),
            wins=wins,
            losses=losses,
            draws=len(expected) - wins - losses,
            verdict=verdict_on(a, b, measure, mean, evidence),
        )
    return found


def difference_of_means(a: Estimate[float], b: Estimate[float]) -> Estimate[float]:
    """What the first mean minus the second can be, when the ties of the two systems break independently."""
    std = math.sqrt(a.std * a.std + b.std * b.std)
    return Estimate(a.lower - b.upper, a.expected - b.expected, a.upper - b.lower, std)


def turned(ends: tuple[float, float], ahead: int) -> tuple[float, float]:
    """The ends of an interval, the other way round where the second system is ahead."""
    low, high = ends
    return (low, high) if ahead > 0 else (0.0 - high, 0.0 - low)


def by_measure(p_values: FloatArray, n_pairs: int, correction: str | None) -> FloatArray:
    """P-values (k,) corrected for the pairs of each measure, which follow each other."""
    if correction is None:
        return p_values
    return np.concatenate([CORRECTIONS[correction](part) for part in p_values.reshape(-1, n_pairs)])


def by_sign_flips(columns: Columns) -> FloatArray:
    """P-values of the expected differences and of those against the system ahead, (2, k), by the same signs."""
    weights = columns.strata.weights[:, None]
    expected, against = columns.expected * weights, columns.against * weights
    order = np.lexsort((against, expected), axis=0)
    both = [np.take_along_axis(part, order, axis=0) for part in (expected, against)]
    return sign_flip(np.hstack(both)).reshape(2, -1)


def by_t(columns: Columns) -> FloatArray:
    """The same by Student's t."""
    return np.array(
        [[t_test(column, columns.strata) for column in part.T] for part in (columns.expected, columns.against)]
    )


def by_signed_ranks(columns: Columns) -> FloatArray:
    """The same by Wilcoxon's signed ranks, which know no categories."""
    if len(columns.strata.sizes) > 1:
        raise InputError(
            "test='wilcoxon' ranks all queries together, and these results are means over categories "
            "(average='macro'). Take test='sign-flip'.",
            "test",
        )
    return np.array([[wilcoxon_test(column) for column in part.T] for part in (columns.expected, columns.against)])


TESTS: Mapping[str, Callable[[Columns], FloatArray]] = {
    "sign-flip": by_sign_flips,
    "t": by_t,
    "wilcoxon": by_signed_ranks,
}
