"""The trial of one submission: it is laid out in the folders of the platform and scored in a separate process."""

import builtins
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tieproof.kit import in_one_line
from tieproof.trials.audit.luck import Luck, differ, rounding
from tieproof.trials.competition.inspection.attacks import FileAttack, Material, WriteSubmission, random_system
from tieproof.trials.competition.inspection.broken_files import CLIMBED, INSIDE, MARK
from tieproof.trials.competition.inspection.tasks import Program, ProgramRun, Task, run
from tieproof.trials.findings import Finding, Verdict
from tieproof.trials.sandbox.folders import PREFIX, entries, temporary_folder

TRACEBACK = "Traceback (most recent call last)"
REFUSING = (ValueError, AssertionError)
PLAIN = (RuntimeError, Exception, SystemExit)
LONGEST_MESSAGE = 200
DEEPEST = 30  # the depth down to which folders are searched for what an attack has written


class Scored(NamedTuple):
    """What scoring a submission gave: its score, or the verdict on why it has none, with the message."""

    score: float | None
    problem: Verdict | None = None
    message: str = ""
    numbers: Mapping[str, float] = {}  # all numbers that the run has left, by name
    shown: str = ""  # all text of the run that a participant sees


class Scorer(NamedTuple):
    """Scores submissions to a task."""

    task: Task
    place: str  # the path of the file within a submission
    seconds: float  # the time limit for scoring one submission

    def __call__(self, hand_in: WriteSubmission, prepare: Callable[[Path], object] | None = None) -> Scored:
        """Score the submission that `hand_in` writes, after preparing the folder of the truth."""
        with temporary_folder() as folder:
            submission, room = folder / "submission", folder / "room"
            submission.mkdir()
            room.mkdir()
            hand_in(submission)
            program = self.task.lay(room, submission, self.place)
            if prepare is not None:
                prepare(program.here(self.task.truth))
            known = set(_files_in(room))
            ended = run(program, self.seconds)
            return self._outcome(program, ended, [path for path in _files_in(room) if path not in known])

    def _outcome(self, program: Program, run: ProgramRun, new: list[Path]) -> Scored:
        """The outcome of a run, given the new files that it made."""
        names = {path.name for path in new}
        if MARK in names:
            message = "the submission was unpickled, and the code in it was executed"
            return Scored(None, Verdict.EXPLOITABLE, message)
        inside = [path.parent for path in new if path.name == INSIDE]
        if any(path.name == CLIMBED and not any(map(path.is_relative_to, inside)) for path in new):
            return Scored(None, Verdict.EXPLOITABLE, "the archive was unpacked, and wrote outside of its folder")
        if run.status is None:
            message = f"scoring took more than {self.seconds:g} seconds, or printed too much"
            return Scored(None, Verdict.TIMED_OUT, message)
        if run.status:
            return _failed(run.err)
        try:
            numbers = self.task.numbers(program, run.out)
            score = numbers[self.task.key] if self.task.key else next(iter(numbers.values()))
            return Scored(score, numbers=numbers, shown=self.task.shown(program, run))
        except Exception as error:  # whatever the program wrote is data, and may be nested or spelled in any way
            return Scored(None, Verdict.CRASHED, f"the scoring program left no score: {_shortened(repr(error))}")


def _failed(said: str) -> Scored:
    """The outcome of a program that ended with an error: a refusal if it printed a message, otherwise a crash."""
    last = said.strip().rpartition("\n")[2]
    if TRACEBACK not in said:
        verdict = Verdict.REFUSED if last else Verdict.CRASHED
        return Scored(None, verdict, _shortened(last) or "it failed without a message")
    kind, _, words = last.partition(": ")
    known = getattr(builtins, kind, None)
    refuses = known is None or known in PLAIN or (isinstance(known, type) and issubclass(known, REFUSING))
    return Scored(None, Verdict.REFUSED if refuses and words else Verdict.CRASHED, _shortened(last))


def _shortened(text: str) -> str:
    """A message in one line that fits into a report, without the temporary folders of a trial."""
    plain = re.sub(rf"/\S*/{PREFIX}[^/\s]+/room", "", in_one_line(text)).rstrip(".")
    return plain if len(plain) <= LONGEST_MESSAGE else f"{plain[:LONGEST_MESSAGE]}…"


def _files_in(folder: Path) -> list[Path]:
    """All files and folders below a folder, except for those that are nested deeper than any attack of ours."""
    return [Path(entry) for entry, depth in entries(folder, lambda error: None) if depth < DEEPEST]


DRAWS = 12  # the number of random systems that each task scores
REDRAWS = 12  # the number of further draws of a blind system that seems to gain
GAIN = 3.0  # the number of standard deviations of random systems that a gain must exceed
CERTAIN = 6.0  # the same for a leak, and the number of standard errors that the gain of a blind system must exceed


class TaskTrial(NamedTuple):
    """A task under attack."""

    scorer: Scorer
    material: Callable[[str, int], Material]  # (name of an attack, number of a draw) → the material of a submission
    sample: float  # the score of the sample
    luck: Luck  # the scores of random systems

    @property
    def sign(self) -> int:
        """1 if larger is better, otherwise -1."""
        return 1 if self.scorer.task.larger else -1

    def finding(self, attack: FileAttack, verdict: Verdict, score: float | None, detail: str) -> Finding:
        """A finding on this task."""
        luck = self.luck
        above = None if score is None or math.isnan(score) else luck.deviations(score, self.sign)
        return Finding(attack.name, self.scorer.task.name, verdict, score, luck.mean, luck.std, above, detail)

    def without_score(self, attack: FileAttack, outcome: Scored) -> Finding:
        """The finding on a submission that got no score."""
        return self.finding(attack, outcome.problem or Verdict.CRASHED, None, f"{outcome.message}.")


Judged = tuple[Verdict, float, str]  # the verdict on an accepted submission, its score, and the reason in words


def _judge_blind(trial: TaskTrial, attack: FileAttack, score: float) -> Judged:
    """A blind system gains if it is better than random systems, and again in further draws."""
    if not _gains(trial, Luck(score, 0.0, 1)):
        return Verdict.HELD, score, "not better than random systems"
    numbers = range(1, 2 if attack.fixed else REDRAWS + 1)
    submissions = (attack.submission(trial.material(attack.name, number)) for number in numbers)
    again = (trial.scorer(submission).score for submission in submissions if submission is not None)
    confirmed = Luck.of([math.nan if score is None else score for score in again])
    if not (math.isfinite(confirmed.mean) and _gains(trial, confirmed)):
        return Verdict.HELD, score, "better than random systems only by luck"
    said = "better than random systems, though it does not look at any input"
    return Verdict.EXPLOITABLE, confirmed.mean, said


def _gains(trial: TaskTrial, scores: Luck) -> bool:
    """Whether the mean of these scores is better than that of random systems, beyond luck (Welch 1947)."""
    luck = trial.luck
    error = math.sqrt(luck.std**2 / luck.size + scores.std**2 / scores.size)
    return trial.sign * (scores.mean - luck.mean) > max(GAIN * luck.std, CERTAIN * error) + rounding(luck.mean)


def _judge_leak(trial: TaskTrial, attack: FileAttack, score: float) -> Judged:
    """A leak exists if a system that knows only this fact is far better than random systems."""
    if trial.sign * (score - trial.luck.mean) > CERTAIN * trial.luck.std + rounding(trial.luck.mean):
        return Verdict.EXPLOITABLE, score, "this reveals labels"
    return Verdict.HELD, score, "not better than luck"


def _judge_damage(trial: TaskTrial, attack: FileAttack, score: float) -> Judged:
    """A damaged sample gains if it scores more than the undamaged sample."""
    if trial.sign * (score - trial.sample) > GAIN * trial.luck.std + rounding(trial.sample):
        return Verdict.EXPLOITABLE, score, f"accepted, and scored above the undamaged sample ({trial.sample:.4f})"
    return Verdict.HELD, score, "accepted, but gains nothing"


def _judge_same(trial: TaskTrial, attack: FileAttack, score: float) -> Judged:
    if differ(score, trial.sample):
        return Verdict.CHANGES, score, f"{score:.6g} instead of {trial.sample:.6g}"
    return Verdict.HELD, score, "the same score"


JUDGES = {"blind": _judge_blind, "leak": _judge_leak, "damage": _judge_damage, "same": _judge_same}


def luck_of(scorer: Scorer, material: Callable[[str, int], Material], advance: Callable[[int], None]) -> Luck:
    """The scores of random systems, without those that were refused."""
    scores = []
    for number in range(DRAWS):
        score = scorer(random_system(material("random system", number))).score
        scores += [] if score is None or not math.isfinite(score) else [score]
        advance(1)
    return Luck.of(scores) if scores else Luck(math.nan, math.nan, 0)
