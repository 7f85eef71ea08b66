"""Attacks by what must not matter: changes of the data, of its order or of its format that keep every ranking.

A change makes a new case from a case. The evaluator's numbers before and after the change are compared, on tied,
random and real data; the finding reports the largest difference.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tieproof.attacks import Finding, Verdict, rank_of
from tieproof.audit.cases import CLASSES, DATA, MEMORY, Case
from tieproof.audit.conventions import Convention
from tieproof.audit.examination import Attack, Examination, Options, data_case
from tieproof.audit.luck import LEVEL, Luck, rounding, tail
from tieproof.audit.outcomes import Outcome
from tieproof.audit.truth import claimed
from tieproof.ties import IntArray

Sets = Callable[[Examination], Mapping[str, Case]]
"""A function that makes cases by the name of their data set."""


def usual_sets(examination: Examination) -> dict[str, Case]:
    """The data sets of the usual size."""
    return {name: data_case(examination, name) for name in DATA}


SIZES = ((257, 60), (1500, 60), (100, 257), (100, 1500))
"""Numbers of items and queries: one more than a power of two, which leaves one over in most batches, and many."""


def sets_of_other_sizes(examination: Examination) -> dict[str, Case]:
    """Random data of other sizes; in leave-one-out without separate queries."""
    if examination.convention.kind == "leave-one-out":
        sizes = {f"{items} random items as": (items, 0) for items, _ in SIZES[:2]}
    else:
        sizes = {f"{items} random items and {queries} queries as": (items, queries) for items, queries in SIZES}
    return {name: data_case(examination, "random", both) for name, both in sizes.items()}


Random = np.random.Generator
Change = Callable[[Case, Random], Case]
Asked = tuple[str, Callable[[], Outcome]]
"""A change in words, as "with permuted items", and a call after the change."""

Variants = Callable[[Examination, Case, Random], Iterator[Asked]]

REPEATS = 2
"""The number of random changes of each kind that are tried on each data set."""

AGAIN = "calling again"
"""The name of the attack to which a number is put down that changes without any change of the data."""


def invariance(
    name: str,
    variants: Variants,
    does: str,
    why: str,
    applies: Callable[[Convention, Options], bool] = lambda convention, options: True,
    verdict: Verdict = Verdict.CHANGES,
    source: str = "",
    start: Callable[[Case], Case] = lambda case: case,
    sets: Sets = usual_sets,
) -> Attack:
    """An attack by a change that must not matter.

    verdict : the verdict if it does matter
    start : prepares the case of each data set before it is changed
    sets : makes the data sets
    """

    def run(examination: Examination) -> Iterator[Finding]:
        """The worst finding on each measure; among equal verdicts, the one with the largest change."""
        findings: dict[tuple[str, str], list[tuple[Finding, float]]] = {}
        for data, case in sets(examination).items():
            for finding, change in _on_data(name, variants, verdict, start(case), examination, data):
                findings.setdefault((finding.attack, finding.measure), []).append((finding, change))
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
    for what, ask in variants(examination, case, examination.random(name, data)):
        after = ask()
        if after.problem:
            yield from ((finding, 0.0) for finding in examination.failed(name, after, f"{where}, {what}"))
            continue
        for measure, value in before.values.items():
            changed = after.value(measure)
            reached, spread = Verdict.HELD, ""
            if examination.differ(measure, value, changed):
                reached, spread = _confirmed(examination, measure, (before, after), (case, ask), verdict)
            if name == AGAIN and spread:
                reached = verdict
            if reached is Verdict.NOT_A_MEAN and (
                examination.options.average == "mean" or claimed(examination, measure) is not None
            ):
                reached = Verdict.CHANGES  # it was declared to be a mean, as all measures of tieproof are
            change = abs(changed - value)
            detail = f"{where}, {value:.6f} becomes {changed:.6f} {what}, a change of {change:.2g}{spread}."
            finding = Finding(name, measure, reached, changed, detail=detail)
            yield finding, 0.0 if reached is Verdict.HELD else math.inf if math.isnan(change) else change
            if spread and name != AGAIN:  # say it once, of the attack that it is about
                detail = f"{where}, the same call gives {value:.6f}, and {spread[2:]}."
                yield Finding(AGAIN, measure, Verdict.CHANGES, changed, detail=detail), change


CALLS = 9
"""How often equal calls are repeated if two of them differ; minus one, the number is even, as `tail` requires."""


def _confirmed(
    examination: Examination,
    measure: str,
    outcomes: tuple[Outcome, Outcome],
    asked: tuple[Case, Callable[[], Outcome]],
    verdict: Verdict,
) -> tuple[Verdict, str]:
    """The verdict on a change, and the spread of equal calls in words, if equal calls differ.

    Both calls are repeated. If they give the same numbers again, the change is real. If not, it must be larger
    than the spread of equal calls explains, by Student's t at the level of one of all such tests.
    """
    case, ask = asked
    again = examination.score(case), ask()
    if not any(
        examination.differ(measure, one.value(measure), other.value(measure))
        for one, other in zip(outcomes, again, strict=True)
    ):
        return verdict, ""
    examination.is_steady = False
    numbers = [outcomes[0].value(measure), again[0].value(measure)]
    numbers += [examination.score(case).value(measure) for _ in range(CALLS - 2)]
    spread = Luck.of(numbers)
    said = f"; equal calls give {min(numbers):.6f} to {max(numbers):.6f}"
    change = abs(again[1].value(measure) - spread.mean)
    error = spread.std * math.sqrt(1 + 1 / CALLS)
    tests = 2 * len(ATTACKS) * len(DATA) * REPEATS * len(examination.measures)
    if not math.isfinite(spread.mean):
        return Verdict.HELD, said
    explained = change <= rounding(spread.mean) if not error else tail(change / error, CALLS - 1) >= LEVEL / tests
    return Verdict.HELD if explained else verdict, said


def by(change: Change, what: str, times: int = REPEATS) -> Variants:
    """Variants that try a random change a few times."""

    def variants(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
        for _ in range(times):
            yield what, partial(examination.score, change(case, random))

    return variants


def _permute_items(case: Case, random: Random) -> Case:
    return case.take_items(random.permutation(len(case.labels)))


def _permute_queries(case: Case, random: Random) -> Case:
    assert case.query_labels is not None
    return case.take_queries(random.permutation(len(case.query_labels)))


def _permute_all(case: Case, random: Random) -> Case:
    permuted = _permute_items(case, random)
    return permuted if case.query_labels is None else _permute_queries(permuted, random)


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


def _relabeled(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """Calls with other class numbers, or with permuted class numbers if the evaluator accepts no others."""
    for _ in range(REPEATS):
        others, permuted = (_relabel(case, random.permutation(CLASSES) + first) for first in (1, 0))
        accepts = not examination.score(others).problem
        yield "with other class numbers", partial(examination.score, others if accepts else permuted)
    for what, names in LARGE_NUMBERS.items():
        large = _relabel(case, names)
        if not examination.score(large).problem:
            yield what, partial(examination.score, large)


LARGE_NUMBERS = {
    "with class numbers that are 256 apart": 7 + 256 * np.arange(CLASSES),
    "with two class numbers that are 65,536 apart": np.r_[np.arange(CLASSES - 1), 65_536],
}
"""Class numbers that are equal to each other in one byte or in two."""


def _in_pairs(case: Case) -> IntArray:
    """The indices of queries in pairs of the same class; the last query of a class with an odd number is left out.

    >>> _in_pairs(Case(np.eye(2), np.arange(2), query_labels=np.array([5, 7, 5, 5, 7])))
    array([0, 2, 1, 4])
    """
    assert case.query_labels is not None
    places = [np.flatnonzero(case.query_labels == label) for label in np.unique(case.query_labels)]
    return np.concatenate([each[: len(each) // 2 * 2] for each in places])


def _halves(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """The mean of the numbers on two halves of the queries, which should equal the number on all queries."""
    pairs = _in_pairs(case)

    def both() -> Outcome:
        outcomes = [examination.score(case.take_queries(half)) for half in (pairs[::2], pairs[1::2])]
        if problem := next((outcome for outcome in outcomes if outcome.problem), None):
            return problem
        first, second = (outcome.values for outcome in outcomes)
        return Outcome({name: (first[name] + second[name]) / 2 for name in first.keys() & second})

    yield "as the mean of two halves of the queries", both


def _again(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    yield "in a second call", partial(examination.score, case)


def _after_others(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """A call after calls with other data of the same size, which is freed each time."""

    def after() -> Outcome:
        for other in (examination.perfect_case(case), _permute_items(case, random)):
            examination.score(other)
        return examination.score(case)

    yield "after other systems", after


def _elsewhere(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    assert examination.anew is not None
    yield "in a new process", partial(examination.anew, case, {})


def _in_memory(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    for memory in range(1, len(MEMORY)):
        changed = replace(case, writing=case.writing._replace(memory=memory))
        yield f"with arrays that lie in memory {MEMORY[memory]}", partial(examination.score, changed)


def _watched(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    yield "while watched", partial(examination.score, replace(case, writing=case.writing._replace(watched=True)))


def _other_settings(examination: Examination, case: Case, random: Random) -> Iterator[Asked]:
    """Calls with the same case and other keyword arguments, changed one at a time."""
    for name, values in (examination.options.vary or {}).items():
        for value in values:
            yield f"with {name}={value!r}", partial(examination.score, case, **{name: value})


def _has_queries(convention: Convention, options: Options) -> bool:
    return convention.kind != "leave-one-out"


def _is_written(convention: Convention, options: Options) -> bool:
    return convention.written


SAME_DATA = "It is the same data in another order."
ORDER = Verdict.DEPENDS_ON_ORDER

ATTACKS = [
    invariance(
        AGAIN,
        _again,
        "nothing, between two calls",
        "The same input has one score.",
        source="pytrec_eval issue 57; ir_measures issue 42",
    ),
    invariance(
        "other systems before",
        _after_others,
        "nothing, but other systems are scored between two calls",
        "A score must not depend on earlier calls.",
    ),
    invariance(
        "a new process",
        _elsewhere,
        "nothing, but the second call is the first one of a new process",
        "A score must not depend on earlier calls.",
        lambda convention, options: options.isolate,
    ),
    invariance(
        "writing into arguments",
        _watched,
        "nothing; the arguments are compared before and after the call",
        "Whoever calls an evaluator goes on with the same data.",
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
        by(_permute_all, "with permuted items and queries"),
        "the order of the gallery and of the queries",
        SAME_DATA,
        _has_queries,
        ORDER,
    ),
    invariance(
        "permuting at other sizes",
        by(_permute_all, "with permuted items and queries", 1),
        "the order of 257 or 1,500 items or queries, which may leave one over in the last batch",
        SAME_DATA,
        verdict=ORDER,
        sets=sets_of_other_sizes,
    ),
    invariance(
        "memory layout",
        _in_memory,
        "how the arrays lie in memory",
        "These are the same arrays.",
        lambda convention, options: not convention.written,
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
