"""`check`: run all attacks on all tasks of a bundle, and report what they gained."""

import math
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError, about
from tieproof.kit import NARROWEST, WIDTH, check_whole, progress_bar, table
from tieproof.trials.competition.inspection import broken_files, guessing
from tieproof.trials.competition.inspection.attacks import BLIND, LEAKS, FileAttack, Material, Secret, secret_in
from tieproof.trials.competition.inspection.forms import form_of
from tieproof.trials.competition.inspection.guessing import GAMES
from tieproof.trials.competition.inspection.judging import DRAWS, JUDGES, Scorer, TaskTrial, luck_of
from tieproof.trials.competition.inspection.tasks import Task
from tieproof.trials.competition.platforms import tasks_of
from tieproof.trials.findings import Finding, Report, Verdict, bad, check_attacks, in_a_sentence, wrapped
from tieproof.trials.sandbox import bubblewrap
from tieproof.trials.sandbox.folders import below, sweep, temporary_folder
from tieproof.trials.sandbox.processes import ending_by_signals

# All attacks by name, in the order in which they run.
ATTACKS: dict[str, FileAttack] = {
    attack.name: attack for attack in (*BLIND, *broken_files.ATTACKS, *guessing.ATTACKS, *LEAKS)
}
CLIMBING = "hill climbing"  # its detail is always shown, because every score reveals something about the labels
HEADER = ("attack", "verdict", "score", "baseline", "random")


@dataclass(frozen=True)
class TaskScale:
    """The scores that the scores of a task are compared with."""

    name: str  # the name of the task
    sample: float  # the score of the task's sample, such as a baseline
    random_mean: float  # random_mean, random_std: the mean and standard deviation of the scores of random systems
    random_std: float


@dataclass(frozen=True, repr=False)
class CheckReport(Report):
    """The findings of a check, one for each attack and task, in the order of `ATTACKS`.

    bundle, platform : the bundle that was checked, and its platform
    sealed : whether the program ran without network, and could write only to its own folders
    seed : the seed of all random numbers
    """

    bundle: str
    platform: str
    sealed: bool
    seed: int
    tasks: Sequence[TaskScale]
    findings: Sequence[Finding]

    def finding(self, attack: str, task: str | None = None) -> Finding:
        """The finding on an attack, for one task or for the first task that has one."""
        return self._found(attack, task)[0]

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain values; in a finding, `task` replaces `measure`."""
        said = super().to_dict()
        tasks, findings = said.pop("tasks"), said.pop("findings")
        for each in findings:
            each["task"] = each.pop("measure")
            del each["reproduce"], each["renamed"]
        scales = [{key: None if value != value else value for key, value in task.items()} for task in tasks]
        return said | {"tasks": scales, "findings": findings}

    def to_text(self, width: int | None = None, color: bool = False) -> str:
        """A table for each task, with a row for each attack, and the bad findings below the tables.

        width : the number of columns to fit into; None for 80
        color : whether to use the escape sequences of a terminal
        """
        width = max(width or WIDTH, NARROWEST)
        parts = []
        for task in self.tasks:
            rows = [_cells(finding, task) for finding in self.findings if finding.measure == task.name]
            parts += [wrapped(f"{task.name}:", width), table(HEADER, [rows], width, color)]
        parts.append("\n".join(wrapped(text, width) for text in _sentences(self)))
        climbed = [finding for finding in self.findings if finding.attack == CLIMBING and finding.verdict.harmless]
        told = [f"{finding.attack}, {finding.measure}: {finding.detail}" for finding in climbed]
        told += [f"{each.attack}, {each.measure}, {each.verdict}: {each.detail}" for each in bad(self.findings)]
        return "\n\n".join([*parts, *(wrapped(text, width) for text in told)])


def _cells(finding: Finding, task: TaskScale) -> Sequence[str]:
    score = "" if finding.score is None else f"{finding.score:.4f}"
    luck = "" if math.isnan(task.random_mean) else f"{task.random_mean:.4f} ± {task.random_std:.4f}"
    return [finding.attack, str(finding.verdict), score, f"{task.sample:.4f}", luck]


def _sentences(report: CheckReport) -> Iterator[str]:
    sealed = (
        "without network, in the folders of the platform."
        if report.sealed
        else "not sealed: bubblewrap (bwrap) is missing or may not be used, so the program could read and write your "
        "files, use the network and leave processes behind."
    )
    yield f"Checked {report.bundle}, a bundle for {report.platform}, {sealed}"
    yield in_a_sentence(
        report, "gained something without any system.", ", though none of them gained anything.", "{} gained nothing."
    )


def check(
    bundle: str | os.PathLike[str],
    *,
    submission: str | os.PathLike[str] | None = None,
    attacks: Sequence[str] | None = None,
    seed: int = 0,
    time_limit: float = 60.0,
    progress: bool = False,
) -> CheckReport:
    """Run a bundle as its platform would, and attack it, to show what participants could exploit.

    Parameters
    ----------
    bundle : path of a folder or a .zip, as it is uploaded
        A bundle made by `new` or in another way, for Codabench (competition.yaml), EvalAI (challenge_config.yaml),
        Kaggle (metric.py and solution.csv), or Grand Challenge (Dockerfile, evaluate.py and folders ground_truth…).
    submission : path of a file or folder
        A submission that the scoring program accepts; all attacks hand in submissions of the same form. Default: the
        one in the bundle, such as a solution on Codabench.
    attacks : names of attacks (`from tieproof.trials.competition import ATTACKS`)
        The attacks to run. Default: all.
    seed : int
        The seed of all random numbers.
    time_limit : seconds
        The time that scoring one submission may take.
    progress : bool
        Show a progress bar on standard error if the check takes longer than two seconds.

    Returns
    -------
    CheckReport
        `exploitable`, `held`, and `findings`, one for each attack and task.

    Raises
    ------
    InputError
        The bundle is not one of a known platform, there is no sample of a submission, or the scoring program gives
        the sample no score.

    Notes
    -----
    The blind systems are those of `tieproof.audit`. The scoring program runs in a separate process with this Python.
    With bubblewrap (on Linux), it runs in the folders of its platform and without network.

    """
    check_attacks(attacks or (), ATTACKS, "attacks")
    chosen = [ATTACKS[name] for name in (ATTACKS if attacks is None else dict.fromkeys(attacks))]
    check_whole("seed", seed, least=0)
    if not isinstance(time_limit, Real) or not 0 < time_limit < float("inf"):
        raise InputError(f"time_limit must be a number of seconds above 0, not {time_limit!r}.", "time_limit")
    sweep()
    with temporary_folder() as room, ending_by_signals(again=True):
        with about("bundle"):
            platform, tasks = tasks_of(Path(bundle), room)
        trials = len(tasks) * (len(chosen) + DRAWS + 1)
        bar = progress_bar(trials, "submissions", 1) if progress else nullcontext(lambda _: None)
        scales, findings = [], list[Finding]()
        with bar as advance:
            for task in tasks:
                trial = _begun(task, None if submission is None else Path(submission), seed, time_limit, advance)
                scales.append(TaskScale(task.name, trial.sample, trial.luck.mean, trial.luck.std))
                for attack in chosen:
                    finding = judge(trial, attack)
                    findings += [] if finding is None else [finding]
                    advance(1)
    return CheckReport(os.fspath(bundle), platform, bubblewrap.works(), seed, scales, findings)


def _begun(
    task: Task, submission: Path | None, seed: int, seconds: float, advance: Callable[[int], None]
) -> TaskTrial:
    sample = submission or task.sample
    if sample is None:
        raise InputError(
            f"The bundle has no sample of a submission for '{task.name}'. Pass one that the scoring program accepts, "
            "as submission.",
            "submission",
        )
    if not sample.exists():
        raise InputError(f"{sample} does not exist; pass a submission that the program accepts.", "submission")
    if sample.is_dir():
        below(sample)  # refuses what is no file, folder or link
    form = form_of(sample)
    secrets: list[Secret] = []

    def hand_in(folder: Path) -> None:
        if sample.is_file():
            shutil.copyfile(sample, form.place_in(folder))
        else:
            shutil.copytree(sample, folder, dirs_exist_ok=True)

    def material(attack: str, draw: int) -> Material:
        """The material of a submission; it is the same in every check with the same seed."""
        words = [zlib.crc32(part.encode()) for part in (task.name, attack)]
        return Material(form, np.random.default_rng([seed, draw, *words]), task.public, task.name, secrets[0])

    scorer = Scorer(task, form.place, seconds)
    outcome = scorer(hand_in, lambda truth: secrets.append(secret_in(truth)))
    if outcome.score is None:
        raise InputError(
            f"The scoring program of '{task.name}' gives the sample no score: {outcome.problem}: {outcome.message}. "
            "Give a submission that it accepts, or correct the program."
        )
    advance(1)
    return TaskTrial(scorer, material, outcome.score, luck_of(scorer, material, advance))


def judge(trial: TaskTrial, attack: FileAttack) -> Finding | None:
    """The finding on an attack; None if this form of submission does not allow it."""
    submission = attack.submission(trial.material(attack.name, 0))
    if submission is None:
        return None
    if attack.kind in GAMES:
        return GAMES[attack.kind](trial, attack, submission)
    outcome = trial.scorer(submission)
    if outcome.problem is not None:
        return trial.without_score(attack, outcome)
    score = math.nan if outcome.score is None else outcome.score
    if not math.isfinite(score):
        return trial.finding(attack, Verdict.NOT_A_NUMBER, score, f"the score is {score}.")
    verdict, score, said = JUDGES[attack.kind](trial, attack, score)
    return trial.finding(attack, verdict, score, f"{attack.does}: {said}.")
