"""Attacks by what must not matter: changes of the data, of its order or of its format that keep every ranking.

A change makes a new case from a case. The evaluator's numbers before and after the change are compared, on tied,
random and real data; the finding reports the largest difference.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tieproof.attacks import Finding, Verdict, rank_of
from tieproof.audit.cases import CLASSES, DATA, Case
from tieproof.audit.conventions import Convention
from tieproof.audit.examination import Attack, Examination, Options, data_case
from tieproof.audit.luck import differ
from tieproof.audit.outcomes import Outcome
from tieproof.audit.truth import claimed
from tieproof.ties import IntArray

Random = np.random.Generator
Change = Callable[[Case, Random], Case]
Variants = Callable[[Examination, Case, Random], Iterator[tuple[str, Outcome]]]
"""A function that yields the change in words, as "with permuted items", and the outcome after the change."""

REPEATS = 2
"""The number of random changes of each kind that are tried on each data set."""


def invariance(
    name: str,
    variants: Variants,
    does: str,
    why: str,
    applies: Callable[[Convention, Options], bool] = lambda convention, options: True,
    verdict: Verdict = Verdict.CHANGES,
    source: str = "",
    start: Callable[[Case], Case] = lambda case: case,
) -> Attack:
    """An attack by a change that must not matter.

    verdict : the verdict if it does matter
    start : prepares the case of each data set before it is changed
    """

    def run(examination: Examination) -> Iterator[Finding]:
        """The worst finding on each measure; among equal verdicts, the one with the largest change."""
        findings: dict[str, list[tuple[Finding, float]]] = {}
        for data in DATA:
            case = start(data_case(examination, data))
            for finding, change in _on_data(name, variants, verdict, case, examination, data):
                findings.setdefault(finding.measure, []).append((finding, change))
        for each in findings.values():
            yield max(each, key=lambda pair: (rank_of(pair[0].verdict), pair[1]))[0]

    return Attack(name, "must not matter", does, why, source, run, applies)


def _on_data(
    name: str, variants: Variants, verdict: Verdict, case: Case, examination: Examination, data: str
) -> Iterator[tuple[Finding, float]]:
    """The findings of each variant on each measure, for one data set, each with the change of the number."""
    where = f"On {data} data"
    before = examination.score(case)
    if before.problem:
        yield from ((finding, 0.0) for finding in examination.failed(name, before, where))
        return
    for what, after in variants(examination, case, examination.random(name, data)):
        if after.problem:
            yield from ((finding, 0.0) for finding in examination.failed(name, after, f"{where}, {what}"))
            continue
        for measure, value in before.values.items():
            changed = after.value(measure)
            change = abs(changed - value) if differ(value, changed) else 0.0
            reached = verdict if change else Verdict.HELD
            if reached is Verdict.NOT_A_MEAN and (
                examination.options.average == "mean" or claimed(examination, measure) is not None
            ):
                reached = Verdict.CHANGES  # it was declared to be a mean, as all measures of tieproof are
            detail = f"{where}, {value:.6f} becomes {changed:.6f} {what}, a change of {abs(changed - value):.2g}."
            finding = Finding(name, measure, reached, changed, detail=detail)
            yield finding, math.inf if math.isnan(change) else change


def by(change: Change, what: str) -> Variants:
    """Variants that try a random change a few times."""

    def variants(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
        for _ in range(REPEATS):
            yield what, examination.score(change(case, random))

    return variants


def _permute_items(case: Case, random: Random) -> Case:
    return case.take_items(random.permutation(len(case.labels)))


def _permute_queries(case: Case, random: Random) -> Case:
    assert case.query_labels is not None
    return case.take_queries(random.permutation(len(case.query_labels)))


def _rescale(case: Case, random: Random) -> Case:
    """All numbers times a power of two, which is exact."""
    factor = case.items.dtype.type(2.0 ** random.choice([-6, -3, 4, 7]))
    queries = None if case.queries is None else case.queries * factor
    return replace(case, items=case.items * factor, queries=queries)


def _add_zero_columns(case: Case, random: Random) -> Case:
    """Three more dimensions, at random positions, in which every vector is zero."""
    width = case.items.shape[1]
    places = np.sort(random.integers(width + 1, size=3))
    queries = None if case.queries is None else np.insert(case.queries, places, 0, axis=1)
    return replace(case, items=np.insert(case.items, places, 0, axis=1), queries=queries)


def _rewrite(**writing: Any) -> Change:
    """A change of how the case is written; None is replaced by a random seed."""

    def change(case: Case, random: Random) -> Case:
        drawn: dict[str, Any] = {
            name: int(random.integers(1, 2**31)) if value is None else value for name, value in writing.items()
        }
        return replace(case, writing=case.writing._replace(**drawn))

    return change


def _relabel(case: Case, names: IntArray) -> Case:
    """Other numbers for the classes: class c is called names[c]."""
    asked = None if case.query_labels is None else names[case.query_labels]
    return replace(case, labels=names[case.labels], query_labels=asked)


def _relabeled(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """Outcomes with other class numbers, or with permuted class numbers if the evaluator accepts no others."""
    for _ in range(REPEATS):
        outcome = examination.score(_relabel(case, random.permutation(CLASSES) + 1))
        if outcome.problem:
            outcome = examination.score(_relabel(case, random.permutation(CLASSES)))
        yield "with other class numbers", outcome


def _in_pairs(case: Case) -> IntArray:
    """The indices of queries in pairs of the same class; the last query of a class with an odd number is left out.

    >>> _in_pairs(Case(np.eye(2), np.arange(2), query_labels=np.array([5, 7, 5, 5, 7])))
    array([0, 2, 1, 4])
    """
    assert case.query_labels is not None
    places = [np.flatnonzero(case.query_labels == label) for label in np.unique(case.query_labels)]
    return np.concatenate([each[: len(each) // 2 * 2] for each in places])


def _halves(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """The mean of the numbers on two halves of the queries, which should equal the number on all queries."""
    pairs = _in_pairs(case)
    outcomes = [examination.score(case.take_queries(half)) for half in (pairs[::2], pairs[1::2])]
    what = "as the mean of two halves of the queries"
    for outcome in outcomes:
        if outcome.problem:
            yield what, outcome
            return
    first, second = (outcome.values for outcome in outcomes)
    mean = {name: (first[name] + second[name]) / 2 for name in first.keys() & second}
    yield what, Outcome(mean)


def _again(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    yield "in a second call", examination.score(case)


def _other_settings(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """Outcomes of the same case with other keyword arguments, changed one at a time."""
    for name, values in (examination.options.vary or {}).items():
        for value in values:
            yield f"with {name}={value!r}", examination.score(case, **{name: value})


def _has_queries(convention: Convention, options: Options) -> bool:
    return convention.kind != "leave-one-out"


def _is_written(convention: Convention, options: Options) -> bool:
    return convention.written


SAME_DATA = "It is the same data in another order."
ORDER = Verdict.DEPENDS_ON_ORDER

ATTACKS = [
    invariance(
        "calling again",
        _again,
        "nothing, between two calls",
        "The same input has one score.",
        source="pytrec_eval issue 57; ir_measures issue 42",
    ),
    invariance(
        "permuting items",
        by(_permute_items, "with permuted items"),
        "the order of the items",
        SAME_DATA,
        verdict=ORDER,
    ),
    invariance(
        "permuting queries",
        by(_permute_queries, "with permuted queries"),
        "the order of the queries",
        SAME_DATA,
        _has_queries,
        ORDER,
    ),
    invariance(
        "permuting both",
        by(
            lambda case, random: _permute_queries(_permute_items(case, random), random),
            "with permuted items and queries",
        ),
        "the order of the gallery and of the queries",
        SAME_DATA,
        _has_queries,
        ORDER,
    ),
    invariance(
        "scaling",
        by(_rescale, "with all numbers multiplied by a power of two"),
        "every number, by the same power of two",
        "Scaling by a power of two is exact and changes no ranking by scores, angles, distances or products.",
        lambda convention, options: not options.thresholds,
    ),
    invariance(
        "zero columns",
        by(_add_zero_columns, "with three zero columns"),
        "dimensions in which every vector is zero",
        "Zero columns add nothing to any distance.",
        lambda convention, options: convention.kind != "scores",
    ),
    invariance(
        "splitting queries",
        _halves,
        "the set of queries, by splitting it into two halves with the same number of each class",
        "Every query has the same weight.",
        lambda convention, options: (
            _has_queries(convention, options) and not options.pooled and options.average in (None, "mean")
        ),
        Verdict.NOT_A_MEAN,
        start=lambda case: case.take_queries(_in_pairs(case)),
    ),
    invariance("relabelling", _relabeled, "the numbers of the classes", "Class numbers are only names."),
    invariance(
        "settings",
        _other_settings,
        "batch size, number of threads and other settings, as given by `vary`",
        "These settings say how to compute the number, not which number.",
        lambda convention, options: bool(options.vary),
    ),
    invariance(
        "renaming documents",
        by(_rewrite(names=None), "with renamed documents"),
        "the names of the documents",
        "Document names carry no information.",
        _is_written,
        source="trec_eval issue 22; pytrec_eval issue 51",
    ),
    invariance(
        "order of lines",
        by(_rewrite(lines=None), "with shuffled lines"),
        "the order of the lines",
        SAME_DATA,
        _is_written,
        ORDER,
    ),
    invariance(
        "rank column",
        by(_rewrite(ranks=True), "with reversed ranks"),
        "the rank column of the run, counted down",
        "Scores decide the order; a rank that contradicts them is an error in the file.",
        lambda convention, options: convention.files,
    ),
]
"""The attacks by what must not matter, in the order in which they run."""
