"""`check`: all attacks on all tasks of a bundle."""

import os
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from numbers import Real
from pathlib import Path

import numpy as np

from tieproof.audit import Finding
from tieproof.audit.process_trees import ending_in_order
from tieproof.calls.progress import progress_bar
from tieproof.competition.inspection.all_attacks import ATTACKS
from tieproof.competition.inspection.attacks import FileAttack, Material
from tieproof.competition.inspection.judging import DRAWS, Trial, luck_of
from tieproof.competition.inspection.moulds import Mould, mould_of
from tieproof.competition.inspection.platforms import PLATFORMS, opened
from tieproof.competition.inspection.process import can_seal
from tieproof.competition.inspection.report import CheckReport, TaskScale
from tieproof.competition.inspection.tasks import Task
from tieproof.competition.inspection.trying import Trying, copied, good
from tieproof.errors import InputError
from tieproof.inputs.options import check_whole

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
    """Run a bundle as its platform would, and attack it: what would be possible once it is open.

    Parameters
    ----------
    bundle : path of a folder or a .zip, as it is uploaded
        Made by `new`, or by hand: Codabench (competition.yaml), EvalAI (challenge_config.yaml), Kaggle (metric.py and
        solution.csv), Grand Challenge (Dockerfile, evaluate.py and folders ground_truth…).
    submission : path of a file or folder
        A submission that the program takes; its form is that of all attacks. Default: the one that is in the bundle,
        as a solution on Codabench.
    attacks : names of attacks (`from tieproof.competition import ATTACKS`)
        Default: all.
    seed : int
        Of all random numbers.
    time_limit : seconds
        What scoring one submission may take.
    progress : bool
        Show a bar on standard error where it takes longer than two seconds.

    Returns
    -------
    CheckReport
        `exploitable`, `held`, and `findings`, one for every attack and task.

    Raises
    ------
    InputError
        No bundle of a platform, nothing to take the form of submissions from, or a program that refuses even that.

    Notes
    -----
    The blind systems are those of `tieproof.audit`. The scoring program runs in a process of its own, with this
    Python; with bubblewrap (Linux) in the folders of its platform and without network.

    """
    chosen = attacks_called(attacks)
    check_whole("seed", seed, least=0)
    if not isinstance(time_limit, Real) or not 0 < time_limit < float("inf"):
        raise InputError(f"time_limit must be a number of seconds above 0, not {time_limit!r}.", "time_limit")
    with tempfile.TemporaryDirectory(prefix="tieproof-bundle-") as room, ending_in_order():
        platform, folder = opened(Path(bundle), Path(room))
        tasks = PLATFORMS[platform].tasks(folder, Path(room))
        trials = len(tasks) * (len(chosen) + DRAWS + 1)
        bar = progress_bar(trials, "submissions", 1) if progress else nullcontext(lambda _: None)
        scales, findings = [], list[Finding]()
        with bar as advance:
            for task in tasks:
                trial = begun(task, None if submission is None else Path(submission), seed, time_limit, advance)
                scales.append(TaskScale(task.name, trial.sample, trial.luck.mean, trial.luck.std))
                findings += judged(trial, chosen, advance)
    return CheckReport(os.fspath(bundle), platform, can_seal(), seed, scales, findings)


def attacks_called(names: Sequence[str] | None) -> list[FileAttack]:
    """The attacks of these names, or all."""
    for name in names or ():
        if name not in ATTACKS:
            raise InputError(f"Unknown attack '{name}'. Known: {', '.join(ATTACKS)}.", "attacks")
    return [*ATTACKS.values()] if names is None else [ATTACKS[name] for name in dict.fromkeys(names)]


def begun(task: Task, submission: Path | None, seed: int, seconds: float, advance: Callable[[int], None]) -> Trial:
    """A task whose scale is known: the scores of its sample and of random systems."""
    sample = submission or task.sample
    if sample is None:
        raise InputError(
            f"'{task.name}' has no sample of a submission in its bundle. Give one that the program takes as "
            "submission.",
            "submission",
        )
    if not sample.exists():
        raise InputError(f"{sample} does not exist; give a submission that the program takes.", "submission")
    mould = mould_of(sample)
    trying = Trying(task, mould.place, seconds)
    score = good(trying(copied(sample, mould.place)), task)
    advance(1)
    material = partial(material_of, task, mould, seed)
    return Trial(trying, material, score, luck_of(trying, material, advance))


def material_of(task: Task, mould: Mould, seed: int, attack: str, draw: int) -> Material:
    """What a submission is made of; the same in every check with the same seed."""
    words = [zlib.crc32(part.encode()) for part in (task.name, attack)]
    return Material(mould, np.random.default_rng([seed, draw, *words]), task.public)


def judged(trial: Trial, attacks: Sequence[FileAttack], advance: Callable[[int], None]) -> Iterator[Finding]:
    """The findings of all attacks that there is room for."""
    for attack in attacks:
        finding = trial.judge(attack)
        advance(1)
        if finding is not None:
            yield finding
