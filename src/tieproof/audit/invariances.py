"""What must not matter: changes of the data, of its order or of how it is written that leave every ranking as it is.

A change makes a case from a case. What an evaluator gives before and after is compared, on random, tied and real
data; the largest difference is what the finding reports.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tieproof.audit.attacks import Attack, register
from tieproof.audit.cases import CLASSES, Case
from tieproof.audit.conventions import Convention
from tieproof.audit.data import DATA, data_case
from tieproof.audit.examination import Examination, Options
from tieproof.audit.luck import differ
from tieproof.audit.outcomes import Outcome
from tieproof.audit.verdicts import Finding, Verdict
from tieproof.ties import IntArray

Random = np.random.Generator
Change = Callable[[Case, Random], Case]
Variants = Callable[[Examination, Case, Random], Iterator[tuple[str, Outcome]]]
"""Outcomes that must be that of the case itself, each with what was changed."""

REPEATS = 2
"""Random changes of each kind that are tried on each data."""


class Invariance(NamedTuple):
    """What is changed, and what to call it where that matters."""

    name: str
    variants: Variants
    verdict: Verdict


def examine(invariance: Invariance, examination: Examination) -> Iterator[Finding]:
    """The worst finding on each measure: among equal verdicts, that of the largest change."""
    found: dict[str, list[Seen]] = {}
    for data in DATA:
        for seen in on_data(invariance, examination, data):
            found.setdefault(seen.finding.measure, []).append(seen)
    order = list(Verdict)
    for each in found.values():
        yield max(each, key=lambda seen: (order.index(seen.finding.verdict), seen.change)).finding


class Seen(NamedTuple):
    """A finding, and by how much the number changed."""

    finding: Finding
    change: float


def on_data(invariance: Invariance, examination: Examination, data: str) -> Iterator[Seen]:
    """What each variant changes in each measure."""
    name, where = invariance.name, f"{data} data"
    case = data_case(examination, data)
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
            detail = f"{where}, {what}: {value:.6f} becomes {changed:.6f}, a change of {abs(changed - value):.2g}."
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
) -> Attack:
    """Register something that must not matter."""
    run = partial(examine, Invariance(name, variants, verdict))
    return register(Attack(name, "must not matter", does, why, source, run, applies))


def by(change: Change, what: str) -> Variants:
    """A change of the case, tried a few times."""

    def variants(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
        for _ in range(REPEATS):
            yield what, examination.score(change(case, random))

    return variants


def permute_items(case: Case, random: Random) -> Case:
    """The gallery in another order; without a gallery, everything."""
    order = random.permutation(len(case.labels))
    return replace(case, items=case.items[order], labels=case.labels[order])


def take_queries(case: Case, chosen: IntArray) -> Case:
    """Some of the queries, in this order."""
    assert case.query_labels is not None
    query_labels = case.query_labels[chosen]
    if case.queries is None:
        return replace(case, items=case.items[:, chosen], query_labels=query_labels)
    return replace(case, queries=case.queries[chosen], query_labels=query_labels)


def permute_queries(case: Case, random: Random) -> Case:
    """The queries in another order."""
    assert case.query_labels is not None
    return take_queries(case, random.permutation(len(case.query_labels)))


def rescale(case: Case, random: Random) -> Case:
    """All numbers times a power of two, which is exact."""
    factor = case.items.dtype.type(2.0 ** random.choice([-6, -3, 4, 7]))
    queries = None if case.queries is None else case.queries * factor
    return replace(case, items=case.items * factor, queries=queries)


def add_zero_columns(case: Case, random: Random) -> Case:
    """Dimensions in which every vector is zero, anywhere."""
    width = case.items.shape[1]
    places = np.sort(random.integers(width + 1, size=3))
    queries = None if case.queries is None else np.insert(case.queries, places, 0, axis=1)
    return replace(case, items=np.insert(case.items, places, 0, axis=1), queries=queries)


def relabel(case: Case, random: Random) -> Case:
    """Other numbers for the classes."""
    names = random.permutation(CLASSES) + 1
    query_labels = None if case.query_labels is None else names[case.query_labels]
    return replace(case, labels=names[case.labels], query_labels=query_labels)


def halves(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """The mean over both halves of the queries, each with its share of every class."""
    assert case.query_labels is not None
    order = np.argsort(case.query_labels, kind="stable")
    outcomes = [examination.score(take_queries(case, order[start::2])) for start in (0, 1)]
    what = "the mean of two halves"
    for outcome in outcomes:
        if outcome.problem:
            yield what, outcome
            return
    first, second = (outcome.values for outcome in outcomes)
    weight = len(order[::2]) / len(order)
    yield what, Outcome({name: weight * first[name] + (1 - weight) * second[name] for name in first.keys() & second})


def again(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """The score of the same case, called again."""
    yield "called again", examination.score(case)


def other_settings(examination: Examination, case: Case, random: Random) -> Iterator[tuple[str, Outcome]]:
    """The scores of the same case with other keyword arguments, one of them at a time."""
    for name, values in (examination.options.vary or {}).items():
        for value in values:
            yield f"{name}={value!r}", examination.score(case, **{name: value})


def rewrite(**writing: Any) -> Change:
    """Written in another way; a seed stands for a random one."""

    def change(case: Case, random: Random) -> Case:
        drawn: dict[str, Any] = {
            name: int(random.integers(1, 2**31)) if value is None else value for name, value in writing.items()
        }
        return replace(case, writing=case.writing._replace(**drawn))

    return change


def has_queries(convention: Convention, options: Options) -> bool:
    """Whether queries and gallery are two things."""
    return convention.kind != "leave-one-out"


def has_vectors(convention: Convention, options: Options) -> bool:
    """Whether there are vectors."""
    return convention.kind != "scores"


def is_written(convention: Convention, options: Options) -> bool:
    """Whether documents have names and lines an order."""
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
invariance("permuting items", by(permute_items, "permuted"), "the order of the items", SAME_DATA, verdict=ORDER)
invariance(
    "permuting queries",
    by(permute_queries, "queries permuted"),
    "the order of the queries",
    SAME_DATA,
    has_queries,
    ORDER,
)
invariance(
    "permuting both",
    by(lambda case, random: permute_queries(permute_items(case, random), random), "both permuted"),
    "the order of the gallery and of the queries",
    SAME_DATA,
    has_queries,
    ORDER,
)
invariance(
    "scaling",
    by(rescale, "times a power of two"),
    "every number, by the same power of two",
    "It is exact, and changes no ranking by scores, by angles, by distances or by products.",
)
invariance(
    "zero columns",
    by(add_zero_columns, "with three zero columns"),
    "dimensions in which every vector is zero",
    "They add nothing to any distance.",
    has_vectors,
)
invariance("splitting queries", halves, "the queries, into two halves", "Every query counts the same.", has_queries)
invariance("relabelling", by(relabel, "relabelled"), "the numbers of the classes", "They are only names.")
invariance(
    "settings",
    other_settings,
    "batch size, number of threads and the like, as given by `vary`",
    "They say how, not what.",
    lambda convention, options: bool(options.vary),
)
invariance(
    "renaming documents",
    by(rewrite(names=None), "renamed"),
    "the names of the documents",
    "They are only names.",
    is_written,
    source="trec_eval issue 22; pytrec_eval issue 51",
)
invariance(
    "order of lines",
    by(rewrite(lines=None), "lines shuffled"),
    "the order of the lines",
    SAME_DATA,
    is_written,
    ORDER,
)
invariance(
    "rank column",
    by(rewrite(ranks=True), "ranks reversed"),
    "the rank column of the run, counted down",
    "The score decides; a rank that says otherwise is an error of the file.",
    lambda convention, options: convention.files,
)
