"""The verdict on what was handed in: against random systems, and against the sample."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tieproof.audit import Finding, Verdict
from tieproof.audit.luck import Luck, differ, rounding
from tieproof.competition.inspection.attacks import FileAttack, Handed, Material
from tieproof.competition.inspection.blind_systems import random_system
from tieproof.competition.inspection.trying import Tried, Trying

DRAWS = 12
"""Random systems that a task is given."""

REDRAWS = 12
"""How often a blind system that seems to gain is drawn again."""

GAIN = 3.0
"""Standard deviations of random systems that a gain must be larger than."""

CERTAIN = 6.0
"""Standard deviations by which a system that knows names or places alone must not be better than random ones, and
standard errors by which the mean of a blind system must not be."""

WITHOUT_SCORE: dict[str, Verdict] = {
    "refused": Verdict.REFUSED,
    "crashed": Verdict.CRASHED,
    "timed out": Verdict.TIMED_OUT,
    "executed": Verdict.EXPLOITABLE,
    "climbed": Verdict.EXPLOITABLE,
}


class Trial(NamedTuple):
    """A task under attack.

    material : (name of an attack, number of a draw) → what a submission is made of
    sample : the score of the sample
    luck : those of random systems
    """

    trying: Trying
    material: Callable[[str, int], Material]
    sample: float
    luck: Luck

    @property
    def sign(self) -> int:
        """1 where larger is better, else -1."""
        return 1 if self.trying.task.larger else -1

    def finding(self, attack: FileAttack, verdict: Verdict, score: float | None, detail: str) -> Finding:
        """A finding on this task."""
        luck = self.luck
        above = None if score is None or math.isnan(score) else luck.deviations(score, self.sign)
        return Finding(attack.name, self.trying.task.name, verdict, score, luck.mean, luck.std, above, detail)

    def judge(self, attack: FileAttack) -> Finding | None:
        """What comes of an attack; None where this form of submission has no room for it."""
        handed = attack.make(self.material(attack.name, 0))
        if handed is None:
            return None
        tried = self.trying(handed)
        if tried.problem is not None:
            return self.finding(attack, WITHOUT_SCORE[tried.problem], None, f"{tried.message}.")
        score = math.nan if tried.score is None else tried.score
        if not math.isfinite(score):
            return self.finding(attack, Verdict.NOT_A_NUMBER, score, f"the score is {score}.")
        return JUDGES[attack.kind](self, attack, score)


def judge_blind(trial: Trial, attack: FileAttack, score: float) -> Finding:
    """A blind system gains where it is better than random ones, also when it is drawn again."""
    if not gains(trial, Luck(score, 0.0, 1)):
        return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: no more than random systems.")
    numbers = range(1, 2 if attack.fixed else REDRAWS + 1)
    again = [trial.trying(handed_in(attack, trial.material(attack.name, number))) for number in numbers]
    confirmed = Luck.of([tried.score if tried.score is not None else math.nan for tried in again])
    if not (math.isfinite(confirmed.mean) and gains(trial, confirmed)):
        return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: more than random systems by luck alone.")
    detail = f"{attack.does}: more than random systems, though it looks at nothing."
    return trial.finding(attack, Verdict.EXPLOITABLE, confirmed.mean, detail)


def gains(trial: Trial, scores: Luck) -> bool:
    """Whether the mean of these scores is better than that of random systems, and not by luck (Welch 1947)."""
    luck = trial.luck
    error = math.sqrt(luck.std**2 / luck.size + scores.std**2 / scores.size)
    return trial.sign * (scores.mean - luck.mean) > max(GAIN * luck.std, CERTAIN * error) + rounding(luck.mean)


def judge_leak(trial: Trial, attack: FileAttack, score: float) -> Finding:
    """A leak is there where a system that sees nothing else is far better than random ones."""
    gain = trial.sign * (score - trial.luck.mean)
    if gain > CERTAIN * trial.luck.std + rounding(trial.luck.mean):
        return trial.finding(attack, Verdict.EXPLOITABLE, score, f"labels can be read off: {attack.does}.")
    return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: that tells no more than luck.")


def judge_damage(trial: Trial, attack: FileAttack, score: float) -> Finding:
    """What is damaged gains where it scores more than when it was whole."""
    gain = trial.sign * (score - trial.sample)
    if gain > GAIN * trial.luck.std + rounding(trial.sample):
        detail = f"{attack.does}: taken, and scored above the {trial.sample:.4f} of the whole sample."
        return trial.finding(attack, Verdict.EXPLOITABLE, score, detail)
    return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: taken, and gains nothing.")


def judge_same(trial: Trial, attack: FileAttack, score: float) -> Finding:
    """What says the same must score the same."""
    if differ(score, trial.sample):
        detail = f"{attack.does}: {score:.6g} instead of {trial.sample:.6g}."
        return trial.finding(attack, Verdict.CHANGES, score, detail)
    return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: the same score.")


JUDGES: dict[str, Callable[[Trial, FileAttack, float], Finding]] = {
    "blind": judge_blind,
    "leak": judge_leak,
    "damage": judge_damage,
    "same": judge_same,
}


def handed_in(attack: FileAttack, material: Material) -> Handed:
    """The submission of an attack that has made one before."""
    handed = attack.make(material)
    assert handed is not None
    return handed


def luck_of(trying: Trying, material: Callable[[str, int], Material], advance: Callable[[int], None]) -> Luck:
    """The scores of random systems; those that are refused do not count."""
    scores = []
    for number in range(DRAWS):
        tried: Tried = trying(random_system(material("random system", number)))
        scores += [] if tried.score is None or not np.isfinite(tried.score) else [tried.score]
        advance(1)
    return Luck.of(scores) if scores else Luck(math.nan, math.nan, 0)
