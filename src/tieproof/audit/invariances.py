"""Attacks by what must not matter: changes of the data, of its order or of its format that keep every ranking.

A change makes a new case from a case. The evaluator's numbers before and after the change are compared, on tied,
random and real data; the finding reports the largest difference.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from tieproof.audit.attacks import Attack, register
from tieproof.audit.averages import (
    Change,
    Random,
    add_zero_columns,
    in_pairs,
    permute_items,
    permute_queries,
    relabel,
    rescale,
    rewrite,
    take_queries,
    two_halves,
)
from tieproof.audit.cases import CLASSES, Case
from tieproof.audit.conventions import Convention
from tieproof.audit.data import DATA, data_case
from tieproof.audit.examination import Examination, Options
from tieproof.audit.luck import differ
from tieproof.audit.outcomes import Outcome
from tieproof.audit.report import Finding, Verdict
from tieproof.audit.truth import claimed

Variants = Callable[[Examination, Case, Random], Iterator[tuple[str, Outcome]]]
"""A function that yields the change in words, as "with permuted items", and the outcome after the change."""

REPEATS = 2
"""The number of random changes of each kind that are tried on each data set."""


class Invariance(NamedTuple):
    """A change that must not matter, and the verdict if it does.

    start : prepares the case of each data set before it is changed
    """

    name: str
    variants: Variants
    verdict: Verdict
    start: Callable[[Case], Case]


def examine(invariance: Invariance, examination: Examination) -> Iterator[Finding]:
    """The worst finding on each measure; among equal verdicts, the one with the largest change."""
    found: dict[str, list[Seen]] = {}
    for data in DATA:
        for seen in on_data(invariance, examination, data):
            found.setdefault(seen.finding.measure, []).append(seen)
    order = list(Verdict)
    for each in found.values():
        yield max(each, key=lambda seen: (order.index(seen.finding.verdict), seen.change)).finding


class Seen(NamedTuple):
    """A finding, and how much the number changed."""

    finding: Finding
    change: float


def on_data(invariance: Invariance, examination: Examination, data: str) -> Iterator[Seen]:
    """The findings of each variant on each measure, for one data set."""
    name, where = invariance.name, f"On {data} data"
    case = invariance.start(data_case(examination, data))
    before = examination.score(case)
    if before.problem:
        yield from (Seen(finding, 0.0) for finding in examination.failed(name, before, where))
        return
    for what, after in invariance.variants(examination, case, examination.random(name, data)):
        if after.problem:
            yield from (Seen(finding, 0.0) for finding in examination.failed(name, after, f"{where}, {what}"))
            continue
        for measure, value in before.values.items():
            changed = after.values.get(measure, math.nan)
            change = abs(changed - value) if differ(value, changed) else 0.0
            verdict = invariance.verdict if change else Verdict.HELD
            if verdict is Verdict.NOT_A_MEAN and is_declared_a_mean(examination, measure):
                verdict = Verdict.CHANGES
            detail = f"{where}, {value:.6f} becomes {changed:.6f} {what}, a change of {abs(changed - value):.2g}."
            finding = Finding(name, measure, verdict, changed, detail=detail)
            yield Seen(finding, math.inf if math.isnan(change) else change)


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
    """Register an attack by a change that must not matter."""
    run = partial(examine, Invariance(name, variants, verdict, start))
    return register(Attack(name, "must not matter", does, why, source, run, applies))


def is_declared_a_mean(examination: Examination, measure: str) -> bool:
    """Whether a number was declared to be a mean over queries, as all measures of tieproof are."""
    return examination.options.average == "mean" or claimed(examination, measure) is not None


def by(change: Change, what: str) -> Variants:
    """Variants that try a random change a few times."""

    def variants(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
        for _ in range(REPEATS):
            yield what, examination.score(change(case, random))

    return variants


def relabelled(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """Outcomes with other class numbers, or with permuted class numbers if the evaluator accepts no others."""
    for _ in range(REPEATS):
        outcome = examination.score(relabel(case, random.permutation(CLASSES) + 1))
        if outcome.problem:
            outcome = examination.score(relabel(case, random.permutation(CLASSES)))
        yield "with other class numbers", outcome


def halves(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """The mean of the numbers on two halves of the queries, which should equal the number on all queries."""
    outcomes = [examination.score(part) for part in two_halves(case)]
    what = "as the mean of two halves of the queries"
    for outcome in outcomes:
        if outcome.problem:
            yield what, outcome
            return
    first, second = (outcome.values for outcome in outcomes)
    mean = {name: (first[name] + second[name]) / 2 for name in first.keys() & second}
    yield what, Outcome(mean)


def again(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """The outcome of the same case in a second call."""
    yield "in a second call", examination.score(case)


def other_settings(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """Outcomes of the same case with other keyword arguments, changed one at a time."""
    for name, values in (examination.options.vary or {}).items():
        for value in values:
            yield f"with {name}={value!r}", examination.score(case, **{name: value})


def has_queries(convention: Convention, options: Options) -> bool:
    """Whether queries are separate from the gallery."""
    return convention.kind != "leave-one-out"


def has_vectors(convention: Convention, options: Options) -> bool:
    """Whether the evaluator takes vectors."""
    return convention.kind != "scores"


def is_written(convention: Convention, options: Options) -> bool:
    """Whether documents have names, and lines have an order."""
    return convention.written


SAME_DATA = "It is the same data in another order."
ORDER = Verdict.DEPENDS_ON_ORDER

invariance(
    "calling again",
    again,
    "nothing, between two calls",
    "The same input has one score.",
    source="pytrec_eval issue 57; ir_measures issue 42",
)
invariance(
    "permuting items", by(permute_items, "with permuted items"), "the order of the items", SAME_DATA, verdict=ORDER
)
invariance(
    "permuting queries",
    by(permute_queries, "with permuted queries"),
    "the order of the queries",
    SAME_DATA,
    has_queries,
    ORDER,
)
invariance(
    "permuting both",
    by(lambda case, random: permute_queries(permute_items(case, random), random), "with permuted items and queries"),
    "the order of the gallery and of the queries",
    SAME_DATA,
    has_queries,
    ORDER,
)
invariance(
    "scaling",
    by(rescale, "with all numbers multiplied by a power of two"),
    "every number, by the same power of two",
    "Scaling by a power of two is exact and changes no ranking by scores, angles, distances or products.",
    lambda convention, options: not options.thresholds,
)
invariance(
    "zero columns",
    by(add_zero_columns, "with three zero columns"),
    "dimensions in which every vector is zero",
    "Zero columns add nothing to any distance.",
    has_vectors,
)
invariance(
    "splitting queries",
    halves,
    "the set of queries, by splitting it into two halves with the same number of each class",
    "Every query has the same weight.",
    lambda convention, options: (
        has_queries(convention, options) and not options.pooled and options.average in (None, "mean")
    ),
    Verdict.NOT_A_MEAN,
    start=lambda case: take_queries(case, in_pairs(case)),
)
invariance("relabelling", relabelled, "the numbers of the classes", "Class numbers are only names.")
invariance(
    "settings",
    other_settings,
    "batch size, number of threads and other settings, as given by `vary`",
    "These settings say how to compute the number, not which number.",
    lambda convention, options: bool(options.vary),
)
invariance(
    "renaming documents",
    by(rewrite(names=None), "with renamed documents"),
    "the names of the documents",
    "Document names carry no information.",
    is_written,
    source="trec_eval issue 22; pytrec_eval issue 51",
)
invariance(
    "order of lines",
    by(rewrite(lines=None), "with shuffled lines"),
    "the order of the lines",
    SAME_DATA,
    is_written,
    ORDER,
)
invariance(
    "rank column",
    by(rewrite(ranks=True), "with reversed ranks"),
    "the rank column of the run, counted down",
    "Scores decide the order; a rank that contradicts them is an error in the file.",
    lambda convention, options: convention.files,
)
