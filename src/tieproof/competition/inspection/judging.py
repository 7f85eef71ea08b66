"""The verdicts on attacks, from a comparison with random systems or with the sample."""

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
"""The number of random systems that each task scores."""

REDRAWS = 12
"""The number of further draws of a blind system that seems to gain."""

GAIN = 3.0
"""The number of standard deviations of random systems that a gain must exceed."""

CERTAIN = 6.0
"""The number of standard deviations by which a leak must exceed random systems, and the number of standard errors by
which the mean of a blind system must exceed them, to count as a gain."""

WITHOUT_SCORE: dict[str, Verdict] = {
    "refused": Verdict.REFUSED,
    "crashed": Verdict.CRASHED,
    "timed out": Verdict.TIMED_OUT,
    "executed": Verdict.EXPLOITABLE,
    "climbed": Verdict.EXPLOITABLE,
}


class Trial(NamedTuple):
    """A task under attack.

    material : (name of an attack, number of a draw) → the material of a submission
    sample : the score of the sample
    luck : the scores of random systems
    """

    trying: Trying
    material: Callable[[str, int], Material]
    sample: float
    luck: Luck

    @property
    def sign(self) -> int:
        """1 if larger is better, otherwise -1."""
        return 1 if self.trying.task.larger else -1

    def finding(self, attack: FileAttack, verdict: Verdict, score: float | None, detail: str) -> Finding:
        """A finding on this task."""
        luck = self.luck
        above = None if score is None or math.isnan(score) else luck.deviations(score, self.sign)
        return Finding(attack.name, self.trying.task.name, verdict, score, luck.mean, luck.std, above, detail)

    def without_score(self, attack: FileAttack, tried: Tried) -> Finding:
        """The finding on a submission that got no score."""
        return self.finding(attack, WITHOUT_SCORE[str(tried.problem)], None, f"{tried.message}.")

    def judge(self, attack: FileAttack) -> Finding | None:
        """The finding on an attack; None if this form of submission does not allow it."""
        handed = attack.make(self.material(attack.name, 0))
        if handed is None:
            return None
        if attack.kind in PLAYED:
            return PLAYED[attack.kind](self, attack, handed)
        tried = self.trying(handed)
        if tried.problem is not None:
            return self.without_score(attack, tried)
        score = math.nan if tried.score is None else tried.score
        if not math.isfinite(score):
            return self.finding(attack, Verdict.NOT_A_NUMBER, score, f"the score is {score}.")
        return JUDGES[attack.kind](self, attack, score)


def judge_blind(trial: Trial, attack: FileAttack, score: float) -> Finding:
    """The finding on a blind system, which gains if it is better than random systems, and again in further draws."""
    if not gains(trial, Luck(score, 0.0, 1)):
        return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: not better than random systems.")
    numbers = range(1, 2 if attack.fixed else REDRAWS + 1)
    again = [trial.trying(handed_in(attack, trial.material(attack.name, number))) for number in numbers]
    confirmed = Luck.of([tried.score if tried.score is not None else math.nan for tried in again])
    if not (math.isfinite(confirmed.mean) and gains(trial, confirmed)):
        return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: better than random systems only by luck.")
    detail = f"{attack.does}: better than random systems, though it does not look at any input."
    return trial.finding(attack, Verdict.EXPLOITABLE, confirmed.mean, detail)


def gains(trial: Trial, scores: Luck) -> bool:
    """Whether the mean of these scores is better than that of random systems, beyond luck (Welch 1947)."""
    luck = trial.luck
    error = math.sqrt(luck.std**2 / luck.size + scores.std**2 / scores.size)
    return trial.sign * (scores.mean - luck.mean) > max(GAIN * luck.std, CERTAIN * error) + rounding(luck.mean)


def judge_leak(trial: Trial, attack: FileAttack, score: float) -> Finding:
    """The finding on a leak, which exists if a system that knows only this fact is far better than random systems."""
    gain = trial.sign * (score - trial.luck.mean)
    if gain > CERTAIN * trial.luck.std + rounding(trial.luck.mean):
        return trial.finding(attack, Verdict.EXPLOITABLE, score, f"{attack.does}: this reveals labels.")
    return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: not better than luck.")


def judge_damage(trial: Trial, attack: FileAttack, score: float) -> Finding:
    """The finding on a damaged sample, which gains if it scores more than the undamaged sample."""
    gain = trial.sign * (score - trial.sample)
    if gain > GAIN * trial.luck.std + rounding(trial.sample):
        detail = f"{attack.does}: accepted, and scored above the undamaged sample ({trial.sample:.4f})."
        return trial.finding(attack, Verdict.EXPLOITABLE, score, detail)
    return trial.finding(attack, Verdict.HELD, score, f"{attack.does}: accepted, but gains nothing.")


def judge_same(trial: Trial, attack: FileAttack, score: float) -> Finding:
    """The finding on an equivalent submission, which must have the sample's score."""
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


PLAYED: dict[str, Callable[[Trial, FileAttack, Handed], Finding]] = {}
"""The judges of attacks that are scored for the truth and for a guess; `games.py` registers them."""


def handed_in(attack: FileAttack, material: Material) -> Handed:
    """A further submission of an attack that this form of submission allows."""
    handed = attack.make(material)
    assert handed is not None
    return handed


def luck_of(trying: Trying, material: Callable[[str, int], Material], advance: Callable[[int], None]) -> Luck:
    """The scores of random systems, without those that were refused."""
    scores = []
    for number in range(DRAWS):
        tried: Tried = trying(random_system(material("random system", number)))
        scores += [] if tried.score is None or not np.isfinite(tried.score) else [tried.score]
        advance(1)
    return Luck.of(scores) if scores else Luck(math.nan, math.nan, 0)
