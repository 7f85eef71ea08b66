"""Audits of evaluators of recall, from lists of found items to findings.

Each attack (recall_attacks.py) hands in lists (recall_cases.py) together with the interval in which their recall
lies, whichever of several tied items are called neighbors. A number above the interval means that an index can gain
without finding more neighbors; a number below it means that an index is not credited with what it found.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from tieproof.errors import InputError
from tieproof.trials.audit.data_sets import MOST_QUERIES
from tieproof.trials.audit.examination import Attack, AttackKind, Examination
from tieproof.trials.audit.first_calls import check_limits, no_answer
from tieproof.trials.audit.luck import differ, step_of
from tieproof.trials.audit.outcomes import Outcome
from tieproof.trials.audit.recall_cases import FIRST, Deck, K, RecallLists, RecallTrial
from tieproof.trials.findings import Finding, Verdict

RECALL: AttackKind = "recall"  # the kind of the convention, and of the attacks that apply to it

TOLERANCE = 1e-4
"""How far outside its interval a recall may be by rounding in a type; a step of decimal digits comes on top."""


def ask(examination: Examination, lists: RecallLists) -> Outcome:
    """Call the evaluator with lists."""
    return examination.score(cast(Any, lists))


def deck(examination: Examination, attack: str) -> Deck:
    """What the lists of an attack are made from."""
    options = examination.options
    return Deck(examination.random("recall", attack), min(options.queries, MOST_QUERIES), options.items)


def exact(examination: Examination) -> Outcome:
    """The outcome for an index that found exactly the nearest items, none of which are tied."""
    key = ("true neighbors",)
    if key not in examination.beside:
        examination.beside[key] = ask(examination, _true_neighbors(examination))
    return examination.beside[key]


def _true_neighbors(examination: Examination) -> RecallLists:
    return deck(examination, "true neighbors").ranking().at(FIRST)


def begin(examination: Examination, title: str) -> None:
    """InputError if the evaluator gives no number for the true neighbors, or one outside the limits."""
    options, outcome = examination.options, exact(examination)
    given = [name for name in ("measure", "average", "pooled", "thresholds", "vary") if getattr(options, name)]
    if given:
        raise InputError(
            f"{given[0]} says nothing of an evaluator of recall. Leave it out with takes='recall'.", given[0]
        )
    if options.limits is None:
        raise InputError(
            "limits is None, but for an evaluator of recall they are the numbers for no and for all true neighbors. "
            "Pass both, such as limits=(0, 100) for percent.",
            "limits",
        )
    if outcome.problem:
        case = _true_neighbors(examination)
        raise no_answer(outcome, "the true neighbors", case, examination.convention, title)
    advice = (
        "Pass the numbers for no and for all true neighbors, such as limits=(0, 100) (--limits 0,100) for percent."
    )
    for name, value in outcome.values.items():
        check_limits(value, name, "the true neighbors", options.limits, TOLERANCE, advice)
    examination.begun.append((cast(Any, _true_neighbors(examination)), outcome))


GRADES = 24  # the number of lists of different recall that show to which step an evaluator rounds


def _step(examination: Examination, measure: str) -> float:
    """The step to which the evaluator rounds a number, from lists all of which have another recall."""
    keys = [("grades", grade) for grade in range(1, GRADES + 1)]
    if keys[0] not in examination.beside:
        cards = deck(examination, "grades")
        ranking = cards.ranking()
        for _, grade in keys:
            near = cards.random.random((cards.queries, K)) < grade / (GRADES + 1)
            examination.beside["grades", grade] = ask(examination, ranking.at(np.where(near, FIRST, cards.far())))
    return step_of([examination.beside[key].value(measure) for key in keys])


def _judged(examination: Examination, attack: str, trial: RecallTrial) -> Iterator[Finding]:
    """The findings on a trial, one for each number of the evaluator."""
    outcome = ask(examination, trial.lists)
    if outcome.problem:
        yield from examination.failed(attack, outcome, f"For {trial.what}")
        return
    assert examination.options.limits is not None
    none, all_ = examination.options.limits[:: examination.sign]
    interval = none + trial.least * (all_ - none), none + trial.most * (all_ - none)
    for name, value in outcome.values.items():
        recall, slack = (value - none) / (all_ - none), TOLERANCE + _step(examination, name) / abs(all_ - none)
        verdict = Verdict.HELD
        if math.isnan(value):
            verdict = Verdict.NOT_A_NUMBER
        elif recall > trial.most + slack:
            verdict = trial.above
        elif recall < trial.least - slack:
            verdict = Verdict.OUTSIDE
        least, most = (f"{bound:.4f}" for bound in interval)
        allowed = least if least == most else f"from {least} to {most}"
        detail = f"For {trial.what}, the score is {value:.4f}; their recall is {allowed}."
        yield Finding(attack, name, verdict, value, detail=detail, interval=(min(interval), max(interval)))


Trials = Callable[[Deck], Iterator[RecallTrial]]  # a function that yields lists whose recall is known


def hand_in(trials: Trials, attack: Attack, examination: Examination) -> Iterator[Finding]:
    """The findings on all trials."""
    for trial in trials(deck(examination, attack.name)):
        yield from _judged(examination, attack.name, trial)


Pairs = Callable[[Deck], Iterator[tuple[str, RecallLists, RecallLists]]]
"""A function that yields pairs of lists that must have the same score, with the change in words."""


def compare(pairs: Pairs, attack: Attack, examination: Examination) -> Iterator[Finding]:
    """The findings on all pairs."""
    for what, one, other in pairs(deck(examination, attack.name)):
        before, after = ask(examination, one), ask(examination, other)
        if before.problem or after.problem:
            yield from examination.failed(attack.name, before if before.problem else after, f"With {what}")
            continue
        for measure, value in before.values.items():
            changed = after.value(measure)
            detail = f"With {what}, {value:.6f} becomes {changed:.6f}."
            reached = Verdict(attack.verdict) if differ(value, changed, _step(examination, measure)) else Verdict.HELD
            yield Finding(attack.name, measure, reached, changed, detail=detail)
