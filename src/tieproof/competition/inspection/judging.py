"""The trial of one submission: it is laid out in the folders of the platform and scored in a separate process."""

import builtins
import math
import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from tieproof.audit import Finding, Verdict
from tieproof.audit.luck import Luck, differ, rounding
from tieproof.competition.inspection.attacks import FileAttack, Handed, Material
from tieproof.competition.inspection.blind_systems import random_system
from tieproof.competition.inspection.broken_files import CLIMBED, INSIDE, MARK
from tieproof.competition.inspection.process import Ended, Layout, run
from tieproof.competition.inspection.tasks import Task
from tieproof.errors import InputError
from tieproof.sandbox.folders import PREFIX, temporary_folder
from tieproof.show.printable import in_one_line

Problem = Literal["refused", "crashed", "timed out", "executed", "climbed"]

TRACEBACK = "Traceback (most recent call last)"
REFUSING = (ValueError, AssertionError)
PLAIN = (RuntimeError, Exception, SystemExit)
LONGEST_MESSAGE = 200
DEEPEST = 30
"""The depth down to which folders are searched for what an attack has written."""


class Tried(NamedTuple):
    """The outcome of a submission: its score, or why it has none, with the message.

    numbers : all numbers that the run has left, by name
    shown : all text of the run that a participant sees
    """

    score: float | None
    problem: Problem | None = None
    message: str = ""
    numbers: Mapping[str, float] = {}
    shown: str = ""


class Trying(NamedTuple):
    """Tries submissions to a task.

    place : the path of the file within a submission
    seconds : the time limit for scoring one submission
    """

    task: Task
    place: str
    seconds: float

    def __call__(self, hand_in: Callable[[Path], None], prepare: Callable[[Path], object] | None = None) -> Tried:
        """Try the submission that `hand_in` writes, after preparing the folder of the truth."""
        with temporary_folder() as folder:
            submission, room = folder / "submission", folder / "room"
            submission.mkdir()
            room.mkdir()
            hand_in(submission)
            layout = self.task.lay(room, submission, self.place)
            if prepare is not None:
                prepare(layout.here(self.task.truth))
            known = set(files_in(room))
            ended = run(layout, self.seconds)
            return self.outcome(layout, ended, [path for path in files_in(room) if path not in known])

    def outcome(self, layout: Layout, ended: Ended, new: list[Path]) -> Tried:
        """The outcome of a run, given the new files that it made."""
        names = {path.name for path in new}
        if MARK in names:
            return Tried(None, "executed", "the submission was unpickled, and the code in it was executed")
        inside = [path.parent for path in new if path.name == INSIDE]
        if any(path.name == CLIMBED and not any(map(path.is_relative_to, inside)) for path in new):
            return Tried(None, "climbed", "the archive was unpacked, and wrote outside of its folder")
        if ended.status is None:
            return Tried(None, "timed out", f"scoring took more than {self.seconds:g} seconds, or printed too much")
        if ended.status:
            return failed(ended.err)
        try:
            found = self.task.numbers(layout, ended.out)
            score = found[self.task.key] if self.task.key else next(iter(found.values()))
            return Tried(score, numbers=found, shown=self.task.shown(layout, ended))
        except Exception as error:  # whatever the program wrote is data, and may be nested or spelled in any way
            return Tried(None, "crashed", f"the scoring program left no score: {shortened(repr(error))}")


def failed(said: str) -> Tried:
    """The outcome of a program that ended with an error: a refusal if it printed a message, otherwise a crash."""
    last = said.strip().rpartition("\n")[2]
    if TRACEBACK not in said:
        return Tried(None, "refused" if last else "crashed", shortened(last) or "it failed without a message")
    kind, _, words = last.partition(": ")
    known = getattr(builtins, kind, None)
    refuses = known is None or known in PLAIN or (isinstance(known, type) and issubclass(known, REFUSING))
    return Tried(None, "refused" if refuses and words else "crashed", shortened(last))


def shortened(text: str) -> str:
    """A message in one line that fits into a report, without the temporary folders of a trial."""
    plain = re.sub(rf"/\S*/{PREFIX}[^/\s]+/room", "", in_one_line(text))
    plain = plain.rstrip(".")
    return plain if len(plain) <= LONGEST_MESSAGE else f"{plain[:LONGEST_MESSAGE]}…"


def files_in(folder: Path) -> list[Path]:
    """All files and folders below a folder, except for those that are nested deeper than any attack of ours."""
    found, inner = list[Path](), [folder]
    for _ in range(DEEPEST):
        inner, before = [], inner
        for each in before:
            with suppress(OSError), os.scandir(each) as entries:
                for entry in entries:
                    found.append(Path(entry))
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(Path(entry))
    return found


def good(tried: Tried, task: Task) -> float:
    """The score of the sample; InputError if it has none, because attacks are compared with it."""
    if tried.score is None:
        raise InputError(
            f"The scoring program of '{task.name}' gives the sample no score: {tried.problem}: {tried.message}. "
            "Give a submission that it accepts, or correct the program."
        )
    return tried.score


def copied(sample: Path, place: str) -> Callable[[Path], None]:
    """A function that hands in the unchanged sample."""

    def hand_in(folder: Path) -> None:
        if sample.is_file():
            target = folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(sample, target)
        else:
            shutil.copytree(sample, folder, dirs_exist_ok=True)

    return hand_in


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
