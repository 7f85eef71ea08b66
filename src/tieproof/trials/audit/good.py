"""Attacks by a system that knows the labels: it must not score less than random embeddings, and less if it is silent.

A number that is the same for all random embeddings says nothing about a ranking; it is not judged.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tieproof.kit import Array
from tieproof.trials.attacks import Finding, Verdict, told
from tieproof.trials.audit.cases import LAYOUTS, Case
from tieproof.trials.audit.examination import Attack, Examination
from tieproof.trials.audit.luck import EXPLOIT, Luck, rounding
from tieproof.trials.audit.outcomes import Outcome

LAYOUT = LAYOUTS["shuffled"]
ANSWERED = 0
"""The class whose queries are answered: a tenth of all."""

MOST_KEPT = 0.5
"""The share of its gain over random embeddings that a system may keep which answers a tenth of the queries."""

Judge = Callable[[Examination, str, Luck, list[Outcome]], tuple[Verdict, float, str]]


def _judged(attack: Attack, examination: Examination, cases: list[Case], judge: Judge) -> Iterator[Finding]:
    """The findings on the outcomes of some cases, without those that are refused, if there are others."""
    baseline = examination.baseline(LAYOUT)
    assert not isinstance(baseline, Outcome), "no attack runs without it"
    outcomes = [examination.score(case) for case in cases]
    known = [outcome for outcome in outcomes if not outcome.problem]
    if outcomes[0].problem not in (None, "refused") or not known:
        yield from examination.failed(attack.name, outcomes[0], f"On the layout '{LAYOUT.name}'")
        return
    for measure, luck in baseline.items():
        verdict, score, said = judge(examination, measure, luck, known)
        verdict = Verdict.HELD if luck.is_constant else verdict
        beside = f"random embeddings score {luck.mean:.4f} ± {luck.std:.4f}"
        above = luck.deviations(score, examination.sign)
        yield Finding(
            attack.name, measure, verdict, score, luck.mean, luck.std, above, f"{said} {score:.4f}; {beside}."
        )


def _is_above(examination: Examination, measure: str, luck: Luck, score: float, other: float) -> bool:
    """Whether one number is better than another by more than luck and rounding explain."""
    slack = EXPLOIT * luck.std + rounding(luck.mean) + examination.step(measure)
    return examination.sign * (score - other) > slack


def _perfect(examination: Examination) -> list[Case]:
    """Equal vectors for all items of a class; the same with a little noise, so that no two vectors are equal."""
    random = examination.random("a good system")
    case = examination.perfect_case(examination.random_case(examination.board(LAYOUT)))
    noisy = replace(case, items=_with_noise(case.items, random))
    return [case, noisy if case.queries is None else replace(noisy, queries=_with_noise(case.queries, random))]


def _with_noise(rows: Array, random: np.random.Generator) -> Array:
    found: Array = (rows + 0.01 * random.normal(size=rows.shape)).astype(rows.dtype)
    return found


def _knows_the_labels(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on a system that knows the labels; the better one of its numbers, with equal vectors and without."""

    def judge(
        examination: Examination, measure: str, luck: Luck, outcomes: list[Outcome]
    ) -> tuple[Verdict, float, str]:
        best = max((outcome.value(measure) for outcome in outcomes), key=lambda value: examination.sign * value)
        worse = _is_above(examination, measure, luck, luck.mean, best)
        return Verdict.MISJUDGES if worse else Verdict.HELD, best, "A system that knows the labels scores"

    return _judged(attack, examination, _perfect(examination), judge)


def _answers_a_tenth(attack: Attack, examination: Examination) -> Iterator[Finding]:
    """Findings on a good system without answers to the queries of all classes but one."""
    whole, _ = _perfect(examination)
    asked = whole.labels if whole.query_labels is None else whole.query_labels
    answered = asked == ANSWERED
    if examination.convention.written:
        listed = np.tile(answered.astype(np.int64), (len(whole.labels), 1))
        parts = [
            replace(whole, listed=listed, writing=whole.writing._replace(empty=empty)) for empty in (False, True)
        ]
    else:
        parts = [_silent(whole, answered, value) for value in (0.0, np.nan)]
    full = examination.score(whole)

    def judge(
        examination: Examination, measure: str, luck: Luck, outcomes: list[Outcome]
    ) -> tuple[Verdict, float, str]:
        sign, all_ = examination.sign, full.value(measure)
        known = [outcome.value(measure) for outcome in outcomes if not np.isnan(outcome.value(measure))]
        best = max(known, key=lambda value: sign * value) if known else luck.mean
        least = luck.mean + MOST_KEPT * (all_ - luck.mean)
        keeps = _is_above(examination, measure, luck, all_, luck.mean) and _is_above(
            examination, measure, luck, best, least
        )
        said = f"A good system scores {all_:.4f}; if it answers only a tenth of the queries, it scores"
        return Verdict.MISJUDGES if keeps else Verdict.HELD, best, said

    return _judged(attack, examination, parts, judge)


def _silent(case: Case, answered: Array, value: float) -> Case:
    """A case in which only some queries have numbers, and all numbers of the others are the same."""
    if case.query_labels is None:
        return replace(case, items=np.where(answered[:, None], case.items, np.float32(value)))
    if case.queries is None:
        return replace(case, items=np.where(answered, case.items, value))
    return replace(case, queries=np.where(answered[:, None], case.queries, np.float32(value)))


ATTACKS = [
    Attack(name, "good system", run, **told(name))
    for name, run in (("a good system", _knows_the_labels), ("a tenth of the answers", _answers_a_tenth))
]
"""The attacks by a good system, in the order in which they run."""
