"""The attack by the truth, which tests whether a number is inside the interval that tieproof computes.

The interval reaches from the lowest to the highest value over all orderings of tied items. Without ties both are
equal.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tieproof import Estimate, evaluate, evaluate_distances, evaluate_scores
from tieproof.measures import Measure, parse
from tieproof.trials.audit.cases import Case
from tieproof.trials.audit.changes import DATA, data_case
from tieproof.trials.audit.conventions import relevance
from tieproof.trials.audit.examination import Attack, Examination
from tieproof.trials.findings import Finding, Verdict, told

NAME = "interval"
BOUNDS = ("the lower bound", "the expected value", "the upper bound")
VERDICTS = {"outside the interval": Verdict.OUTSIDE, "not a number": Verdict.NOT_A_NUMBER}
TOLERANCE = 1e-4  # how far outside a number may be, because float32 rounding may swap items that are nearly tied


def claimed(examination: Examination, measure: str) -> Measure | None:
    """The measure of tieproof that the evaluator's number of this name is declared to be; None if there is none."""
    said = examination.options.measure
    name = said.get(measure) if isinstance(said, Mapping) else said
    return None if name is None else parse(name)


def _inside_of_truth(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """A finding on each data set and each number that is declared to be a measure of tieproof."""
    for data in DATA:
        case = data_case(examination, data)
        outcome = examination.score(case)
        if outcome.problem:
            yield from examination.failed(NAME, outcome, f"On {data} data")
            continue
        for name, value in outcome.values.items():
            measure = claimed(examination, name)
            if measure is None:
                continue
            estimate = truth(examination, case, measure)
            place = _place_of(value, estimate)
            detail = (
                f"On {data} data, the score is {value:.6f} ({place}); {measure} has the lower bound "
                f"{estimate.lower:.6f}, the expected value {estimate.expected:.6f} and the upper bound "
                f"{estimate.upper:.6f}."
            )
            yield Finding(NAME, name, VERDICTS.get(place, Verdict.HELD), value, detail=detail)


def truth(examination: Examination, case: Case, measure: Measure) -> Estimate[float]:
    """The estimate by tieproof of a measure on a case."""
    options: dict[str, Any] = {"measures": [measure]}
    kind, distance = examination.convention.kind, examination.options.distance
    if kind == "leave-one-out":
        return evaluate(case.items, case.labels, groups=case.groups, distance=distance, **options)[measure]
    if kind == "gallery":
        options |= {"gallery": case.items, "gallery_labels": case.labels}
        options |= {"groups": case.query_groups, "gallery_groups": case.groups}
        return evaluate(case.queries, case.query_labels, distance=distance, **options)[measure]
    lists = evaluate_distances if examination.convention.ascending else evaluate_scores
    return lists(case.items.T, relevance(case), **options)[measure]


def _place_of(value: float, estimate: Estimate[float]) -> str:
    """The position of a value relative to the interval of an estimate, in words.

    >>> _place_of(0.5, Estimate(0.25, 0.5, 1.0, 0.1)), _place_of(0.2, Estimate(0.25, 0.5, 1.0, 0.1))
    ('the expected value', 'outside the interval')
    """
    if math.isnan(value):
        return "not a number"
    if estimate.upper - estimate.lower <= TOLERANCE and abs(value - estimate.lower) <= TOLERANCE:
        return "the only value"
    for bound, name in zip((estimate.lower, estimate.expected, estimate.upper), BOUNDS, strict=True):
        if abs(value - bound) <= TOLERANCE:
            return name
    return "inside the interval" if estimate.lower < value < estimate.upper else "outside the interval"


ATTACKS = [Attack(NAME, "truth", _inside_of_truth, **told(NAME))]
