"""The verdict on one blind system: its scores against those of random embeddings on the same labels."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tieproof.audit.cases import Layout
from tieproof.audit.examination import Examination, Rows
from tieproof.audit.luck import REDRAWS, Luck, differ
from tieproof.audit.outcomes import Outcome
from tieproof.audit.verdicts import Finding, Verdict

BASELINE = "random embeddings"
"""What findings on the comparison itself are called."""


class Trial(NamedTuple):
    """A blind system on labels in some order, and what it is compared with.

    attack : its name
    where : the labels, in words
    draw : the outcome of one try; another number stands for other random numbers
    random : whether these change anything; without, tries differ only if the evaluator does
    """

    attack: str
    where: str
    draw: Callable[[int], Outcome]
    random: bool


def judge(
    examination: Examination, attack: str, layout: Layout, rows: Rows, fixed: bool, exploits: Mapping[str, float]
) -> Iterator[Finding]:
    """Findings on blind rows under one layout, one for each measure.

    exploits : how many deviations other layouts have gained already; a score that begins with less is passed over
    """

    def draw(number: int) -> Outcome:
        return examination.score(
            examination.blind_case(layout, rows, examination.random(attack, layout.name, number))
        )

    baseline = examination.baseline(layout)
    where = f"{layout.name} labels"
    if isinstance(baseline, Outcome):
        yield from examination.failed(BASELINE, baseline, where)
    else:
        yield from against_blind(examination, Trial(attack, where, draw, not fixed), baseline, exploits)


def against_blind(
    examination: Examination, trial: Trial, baseline: Mapping[str, Luck], exploits: Mapping[str, float]
) -> Iterator[Finding]:
    """The scores of a trial against those of random embeddings."""
    outcomes = [trial.draw(0)]
    if outcomes[0].problem:
        yield from examination.failed(trial.attack, outcomes[0], trial.where)
        return
    for measure, score in outcomes[0].values.items():
        luck = baseline.get(measure)
        gained = exploits.get(measure)
        if gained is None or luck is None or not luck.deviations(score, examination.sign) <= gained:
            yield compare_one(examination, trial, outcomes, measure, luck)


def compare_one(
    examination: Examination, trial: Trial, outcomes: list[Outcome], measure: str, luck: Luck | None
) -> Finding:
    """The finding on one measure of a trial; `outcomes` holds its first try, and gets what a suspicion asks for."""
    score = outcomes[0].values[measure]
    if luck is None or math.isnan(luck.mean):
        return unlike_random(trial, measure, score)
    if not math.isnan(score) and luck.is_suspicious(score, examination.sign):
        draw_again(trial, outcomes)
    scores = [outcome.values.get(measure, math.nan) for outcome in outcomes]
    return verdict_on(examination, trial, measure, scores, luck)


def draw_again(trial: Trial, outcomes: list[Outcome]) -> None:
    """Add what confirms a suspicion, unless it is there."""
    if len(outcomes) > 1:
        return
    outcomes.append(trial.draw(1))
    same = not any(
        differ(value, outcomes[1].values.get(measure, math.nan)) for measure, value in outcomes[0].values.items()
    )
    if trial.random or not same:
        outcomes += [trial.draw(number) for number in range(2, REDRAWS + 1)]


def verdict_on(examination: Examination, trial: Trial, measure: str, scores: list[float], luck: Luck) -> Finding:
    """The verdict on one measure; a first score that others confirm, or not, counts no more."""
    sign, limits = examination.sign, examination.options.limits
    suspicious = luck.is_suspicious(scores[0], sign)
    again = Luck.of(scores[1:]) if len(scores) > 1 and suspicious else Luck.of(scores[:1])
    score = again.mean
    above = None if math.isnan(score) else luck.deviations(score, sign)
    verdict, said = Verdict.HELD, f"{score:.4f}"
    if math.isnan(score):
        verdict, said = Verdict.NOT_A_NUMBER, "the score is NaN"
    elif suspicious and luck.is_beaten_by(again, sign):
        verdict = Verdict.EXPLOITABLE
    if limits and not math.isnan(score) and not limits[0] - 1e-6 <= score <= limits[1] + 1e-6:
        verdict = max(verdict, Verdict.OUT_OF_RANGE, key=list(Verdict).index)
        said += f", outside [{limits[0]:g}, {limits[1]:g}]"
    drawn = f", the mean of {again.size} draws" if again.size > 1 and again.std else ""
    detail = f"{trial.where}: {said}{drawn}; random embeddings {luck.mean:.4f} ± {luck.std:.4f}."
    return Finding(trial.attack, measure, verdict, score, luck.mean, luck.std, above, detail)


def unlike_random(trial: Trial, measure: str, score: float) -> Finding:
    """A number that random embeddings have not, or only as NaN."""
    return Finding(
        trial.attack,
        measure,
        Verdict.NOT_A_NUMBER,
        score,
        detail=f"{trial.where}: {score:.4f}; random embeddings have no such score, or NaN.",
    )
