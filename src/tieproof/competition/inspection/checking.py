"""`check`: run all attacks on all tasks of a bundle."""

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from numbers import Real
from pathlib import Path

import numpy as np

from tieproof.audit import Finding
from tieproof.competition.inspection.all_attacks import ATTACKS
from tieproof.competition.inspection.attacks import FileAttack, Material, Secret
from tieproof.competition.inspection.guessing import secret_in
from tieproof.competition.inspection.judging import DRAWS, Trial, Trying, copied, good, luck_of
from tieproof.competition.inspection.moulds import Mould, mould_of
from tieproof.competition.inspection.report import CheckReport, TaskScale
from tieproof.competition.inspection.tasks import Task
from tieproof.competition.platforms import PLATFORMS, opened
from tieproof.errors import InputError
from tieproof.evaluation.progress import progress_bar
from tieproof.inputs.options import check_whole
from tieproof.sandbox import bubblewrap
from tieproof.sandbox.folders import sweep, temporary_folder
from tieproof.sandbox.processes import ending_by_signals

Place = str | os.PathLike[str]


def check(
    bundle: Place,
    *,
    submission: Place | None = None,
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
    attacks : names of attacks (`from tieproof.competition import ATTACKS`)
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
    chosen = attacks_called(attacks)
    check_whole("seed", seed, least=0)
    if not isinstance(time_limit, Real) or not 0 < time_limit < float("inf"):
        raise InputError(f"time_limit must be a number of seconds above 0, not {time_limit!r}.", "time_limit")
    sweep()
    with temporary_folder() as room, ending_by_signals(again=True):
        platform, folder = opened(Path(bundle), room)
        tasks = PLATFORMS[platform].tasks(folder, room)
        trials = len(tasks) * (len(chosen) + DRAWS + 1)
        bar = progress_bar(trials, "submissions", 1) if progress else nullcontext(lambda _: None)
        scales, findings = [], list[Finding]()
        with bar as advance:
            for task in tasks:
                trial = begun(task, None if submission is None else Path(submission), seed, time_limit, advance)
                scales.append(TaskScale(task.name, trial.sample, trial.luck.mean, trial.luck.std))
                findings += judged(trial, chosen, advance)
    return CheckReport(os.fspath(bundle), platform, bubblewrap.works(), seed, scales, findings)


def attacks_called(names: Sequence[str] | None) -> list[FileAttack]:
    """The attacks with these names, or all attacks."""
    for name in names or ():
        if name not in ATTACKS:
            raise InputError(f"Unknown attack '{name}'. Known: {', '.join(ATTACKS)}.", "attacks")
    return [*ATTACKS.values()] if names is None else [ATTACKS[name] for name in dict.fromkeys(names)]


def begun(task: Task, submission: Path | None, seed: int, seconds: float, advance: Callable[[int], None]) -> Trial:
    """Begin the trial of a task by scoring its sample and random systems."""
    sample = submission or task.sample
    if sample is None:
        raise InputError(
            f"The bundle has no sample of a submission for '{task.name}'. Pass one that the scoring program accepts, "
            "as submission.",
            "submission",
        )
    if not sample.exists():
        raise InputError(f"{sample} does not exist; pass a submission that the program accepts.", "submission")
    mould = mould_of(sample)
    trying = Trying(task, mould.place, seconds)
    secrets: list[Secret | None] = []
    score = good(trying(copied(sample, mould.place), lambda truth: secrets.append(secret_in(truth))), task)
    advance(1)
    material = partial(material_of, task, mould, seed, secrets[0])
    return Trial(trying, material, score, luck_of(trying, material, advance))


def material_of(task: Task, mould: Mould, seed: int, secret: Secret | None, attack: str, draw: int) -> Material:
    """The material of a submission; it is the same in every check with the same seed."""
    words = [zlib.crc32(part.encode()) for part in (task.name, attack)]
    return Material(mould, np.random.default_rng([seed, draw, *words]), task.public, task.name, secret)


def judged(trial: Trial, attacks: Sequence[FileAttack], advance: Callable[[int], None]) -> Iterator[Finding]:
    """The findings of all attacks that this form of submission allows."""
    for attack in attacks:
        finding = trial.judge(attack)
        advance(1)
        if finding is not None:
            yield finding
