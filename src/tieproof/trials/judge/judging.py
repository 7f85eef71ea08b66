"""The flow of a judgment, from a competition and a system to records, a log and a `Judgment`.

competition ──► items ──► batches: names and order, from the seed ──► running: a batch under its seal and limits
│
Judgment ◄── records, log ◄── evaluation ◄── answers: refused, repeated ◄── journal: what is done stays done
"""

import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tieproof import Result, evaluate, evaluate_answers, evaluate_distances, load
from tieproof.errors import InputError, about
from tieproof.evaluation.answers import Unanswered
from tieproof.evaluation.problems import unwatched
from tieproof.kit import Array, PartsFolder, check_choice, check_whole, progress_bar
from tieproof.trials.competition.settings import LAST, Competition
from tieproof.trials.judge.answers import Answers, all_refused, as_embeddings, assembled, distances_of, embeddings_of
from tieproof.trials.judge.batches import PAIRS, Batch, Dealer, deal_items, deal_pairs
from tieproof.trials.judge.items import Contest, Sequestered, contest_of, read_sequestered
from tieproof.trials.judge.judgment import LOG_ENDING, Judgment, Run, write_judgment
from tieproof.trials.judge.running import Runner, journal
from tieproof.trials.judge.systems import HOW, How, System, as_system, check_hidden, choose_seal
from tieproof.trials.sandbox.folders import below, python_folders, readable, sweep, temporary_folder
from tieproof.trials.sandbox.limits import LATE, ProgramLimits, run_program
from tieproof.trials.sandbox.processes import how

_NAME = re.compile(r"[\w][\w.+-]{0,99}")


def judge(
    competition: Competition | str | os.PathLike[str],
    system: str | Callable[..., Any],
    *,
    name: str,
    out: str | os.PathLike[str] = "judged",
    phase: str | None = None,
    runs: int | None = None,
    seal: How = "auto",
    show: Sequence[str | os.PathLike[str]] = (),
    progress: bool = False,
) -> Judgment:
    r"""Run an untrusted system on a hidden test set, and score it.

    The system is given batches of items under random names and in random order, each batch in a separate process and
    folder. It answers with embeddings or distances. It never sees the labels.

    Parameters
    ----------
    competition : a `Competition`, or the path of its file
    system : a command, "module:function", "podman:IMAGE …", "docker:IMAGE …", an address, or a function
        In a command, fields are replaced by paths: `{items}` (a folder), `{lines}`, `{pairs}`, and `{answers}` if the
        system writes its answers to a file; otherwise it prints them. No shell interprets the command.
    name : the name of the system, for its files and for the leaderboard
    out : the folder for its records and its log
    phase : the name of the phase whose test set is used; default: the only phase
    runs : the number of runs; default: the number in the competition's file
    seal : "auto", "bubblewrap" or "none"
        "auto" uses bubblewrap if it works, and otherwise reports what was not sealed; "bubblewrap" requires
        bubblewrap; "none" does not seal the system.
    show : further files and folders that the system may read
    progress : show a progress bar on standard error if it takes longer than two seconds

    Returns
    -------
    Judgment
        Systems are ranked by `judgment["AP"].lower`; the judgment also has the uncertainties from ties, queries and
        runs. The folder `out` contains a record of each run, `NAME.run-1.tieproof`, its answers, `NAME.run-1.npy`,
        and a log.

    Raises
    ------
    InputError
        The competition, the system or a path is invalid. Whatever the system does is not an error: bad answers are
        refused and logged.

    Notes
    -----
    If a judge is killed, call it again with the same arguments to continue; the files will have the same bytes.
    docs/judge.md describes what systems are asked, and what they could do without a seal. The roles are those of
    Nicolaou et al. 2018, sections 1.2 and 2.2.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tieproof.trials.judge import judge
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     here = Path(folder)
    ...     _ = (here / "items.txt").write_text("a\nbb\nccc\nd\nee\nfff\n")
    ...     _ = (here / "labels.txt").write_text("1\n2\n3\n1\n2\n3\n")
    ...     _ = (here / "seed.txt").write_text("what the organizer keeps")
    ...     _ = (here / "competition.toml").write_text(
    ...         'title = "Lengths"\ndistance = "euclidean"\njudge.seed = "seed.txt"\n'
    ...         '[[phases]]\nname = "Final"\nitems = "items.txt"\nlabels = "labels.txt"\n'
    ...     )
    ...     _ = (here / "system.awk").write_text('{print $1 "," length($2)}')
    ...     system = f"awk -f {here}/system.awk {{lines}}"
    ...     judgment = judge(here / "competition.toml", system, name="lengths", out=here / "judged")
    >>> judgment["AP"].lower
    1.0

    """
    if not hasattr(os, "fork"):
        raise InputError("judge needs a system such as Linux or macOS, where processes can be limited and ended.")
    if not isinstance(competition, Competition):
        competition = Competition.read(competition)
    contest = contest_of(competition, phase)
    check_choice("seal", seal, HOW)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"The name of a system must consist of letters, digits and . + - _, as in 'ours-2', not {name!r}.", "name"
        )
    if runs is not None:
        check_whole("runs", runs)
    with about("system"):
        asked = as_system(system)
    if contest.gives_distances and not asked.is_endpoint and not asked.has("pairs"):
        raise InputError(
            f"The competition asks for distances, but the system lacks {{pairs}}; put it where the path of {PAIRS} "
            f"goes: {asked.spelled}",
            "system",
        )
    chosen = choose_seal(asked, seal)
    named = [Path(place).absolute() for place in show]
    for place in named:
        if not place.exists():
            raise InputError(f"show has {place}, which does not exist. Pass existing files and folders.", "show")
    for place in (*asked.shows, *named):
        if place.is_dir() and place not in python_folders():
            below(place)  # refuses what is no file, folder or link
    shown = tuple(dict.fromkeys([*python_folders(), *asked.shows, *named]))
    folder = Path(out)
    log = folder / f"{name}{LOG_ENDING}"
    if log.exists():
        raise InputError(
            f"{log} exists: a system of this name was judged already. Take another name, or remove its files.", "name"
        )
    check_hidden((*contest.secrets, folder.resolve()), shown)
    test_set, seed = read_sequestered(contest), contest.read_seed()
    # Labels with which no query can be scored are refused before anything is run.
    evaluate_answers(**_sides(test_set, np.full((test_set.size, 1), np.nan)), measures=competition.measures)
    if asked.has("lines"):
        _check_has_lines(contest, test_set, asked)
    wanted = int(runs or competition.judge.runs)
    plan = {
        "competition": contest.digest,
        "test set": test_set.digest,
        "seed": hashlib.sha256(seed).hexdigest(),
        "system": asked.spelled,
        "number of runs": wanted,
        "seal": chosen.by,
        "shown files": [os.fspath(place) for place in show],
    }
    sweep()
    with journal(folder / f"{name}.judging", plan) as kept, readable(shown) as visible:
        runner = Runner(asked, chosen, visible, contest.competition.judge, contest.dimensions, test_set)
        done = []
        for run in range(1, wanted + 1):
            batches = dealt(contest, test_set, Dealer(seed, contest.phase.name, name, run))
            answers = _asked(batches, run, runner, kept, progress)
            done.append(_evaluated(contest, test_set, batches, answers))
        judgment = write_judgment(contest, name, asked.spelled, chosen, done, plan, folder)
        kept.remove()
    return judgment


def _check_has_lines(contest: Contest, test_set: Sequestered, system: System) -> None:
    """Raise InputError for items that contain line breaks, of which there is no file of lines."""
    for at in range(test_set.size):
        if b"\n" in test_set.content(at):
            place = contest.items if at < len(test_set.labels) else contest.phase.gallery
            raise InputError(
                f"The system has {{lines}}, but items of {place} contain line breaks, as arrays and pictures do, so "
                "there is no file with a line for each item. Put {items}, the path of a folder with a file for each "
                f"item: {system.spelled}",
                "system",
            )


def _sides(test_set: Sequestered, embeddings: Array) -> dict[str, Any]:
    """The arguments of `evaluate` for the queries and the gallery of a test set."""
    queries = len(test_set.labels)
    sides = {"embeddings": embeddings[:queries], "labels": test_set.labels, **test_set.groups}
    if test_set.gallery_labels is not None:
        sides |= {"gallery": embeddings[queries:], "gallery_labels": test_set.gallery_labels}
    return sides


def dealt(contest: Contest, test_set: Sequestered, dealer: Dealer) -> Sequence[Batch]:
    """The batches of a run; the same run always has the same batches."""
    count, queries, judging = test_set.size, len(test_set.labels), contest.competition.judge
    if contest.gives_distances:
        gallery = range(count) if test_set.gallery_labels is None else range(queries, count)
        return list(deal_pairs(dealer, range(queries), gallery, judging.symmetric, judging.batch, judging.repeats))
    return deal_items(dealer, count, judging.batch, judging.repeats)


def _asked(batches: Sequence[Batch], run: int, runner: Runner, kept: PartsFolder, progress: bool) -> list[Answers]:
    """The answers to all batches; those that are not kept in the journal are asked for, and written to it."""
    limits, total = runner.limits, len(batches)
    watch = progress_bar(total, f"batches of run {run}", 1.0) if progress else unwatched(total)
    given, used = list[Answers](), 0.0
    with watch as advance:
        for at, batch in enumerate(batches):
            name = f"run-{run}-batch-{at}"
            if name not in kept:
                left = min((limits.total_seconds or math.inf) - used, limits.seconds)
                answers = runner.run(batch, left) if left > 0 else all_refused(batch, LATE)
                kept.write(name, **answers.arrays())
            with kept.opened(name) as arrays:
                given.append(Answers.of(arrays))
            used += given[-1].seconds
            advance(1)
    return given


def _evaluated(contest: Contest, test_set: Sequestered, batches: Sequence[Batch], given: Sequence[Answers]) -> Run:
    """A run with its result: by `evaluate` if every item has an embedding, so that anybody can verify it."""
    rules = contest.competition
    in_bits, symmetric = rules.distance == "hamming", rules.judge.symmetric
    unanswered: Unanswered = "last" if rules.judge.refused == LAST else "worst"
    of_batches = given if contest.gives_distances else [as_embeddings(each, in_bits) for each in given]
    answered = assembled(zip(batches, of_batches, strict=True), symmetric)
    if contest.gives_distances:
        labels, gallery_labels = test_set.labels, test_set.gallery_labels
        answers = distances_of(answered.answers, labels, gallery_labels, symmetric, unanswered == "worst")
        result = evaluate_distances(answers, labels=labels, gallery_labels=gallery_labels, measures=rules.measures)
    else:
        answers = embeddings_of(answered.answers, test_set.size)
        if in_bits and not answered.refused:
            answers = answers.astype(np.bool_)
        options = _sides(test_set, answers) | {"distance": rules.distance, "measures": rules.measures}
        options |= {"unanswered": unanswered} if answered.refused else {}
        total = rules.judge.total_seconds
        seconds = rules.judge.seconds * len(batches) if total is None else total
        in_time = scored(options, seconds if answered.answers else math.inf)
        if in_time is None:
            late = [all_refused(batch, LATE, each.said) for batch, each in zip(batches, given, strict=True)]
            return _evaluated(contest, test_set, batches, late)
        result = in_time
    return Run(result, answered, answers, next((each.said for each in given if each.said), ""))


# The evaluation of embeddings of strangers runs in a process that is ended at a limit of time if it could take long:
# the exact order of nearly equal vectors takes up to hundreds of times as long as that of usual ones, and no system
# may make its judge busy for hours by such answers.
SMALL = 2**18  # up to so much work no answers take longer than about a second, and no process is started
OF_A_PAIR = 16  # the work that a pair of vectors takes in addition to one product for each dimension
START_SECONDS, WORK = 5.0, 1e9  # what is granted to start the process, and the work for each further second
_CODE = "from tieproof.trials.judge.judging import evaluate_here; evaluate_here()"
_ARRAYS, _OPTIONS, _RECORD = "arrays.npz", "options.json", "result.tieproof"
_MOST_WRITTEN = 2**40


def scored(options: Mapping[str, Any], seconds: float) -> Result | None:
    """The result of `evaluate`, or with `unanswered` of `evaluate_answers`; None if it takes too many seconds."""
    items, dimensions = options.get("gallery", options["embeddings"]).shape
    work = len(options["embeddings"]) * items * (dimensions + OF_A_PAIR)
    if work <= SMALL or math.isinf(seconds):
        return _result_of(options)
    with temporary_folder() as folder:
        arrays: dict[str, Any] = {name: each for name, each in options.items() if isinstance(each, np.ndarray)}
        np.savez(folder / _ARRAYS, **arrays)
        others = {name: value for name, value in options.items() if name not in arrays}
        (folder / _OPTIONS).write_text(json.dumps(others), encoding="utf-8")
        path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONPATH": path}
        command, limits = [sys.executable, "-c", _CODE], ProgramLimits(None, _MOST_WRITTEN)
        status, late = run_program(command, environment, limits, seconds + START_SECONDS + work / WORK, cwd=folder)
        if late:
            return None
        if status != 0:
            raise InputError(
                f"The evaluation of the answers ended {how(status)}, perhaps because memory is full. Judge the "
                "system on a machine with more memory."
            )
        return load(folder / _RECORD)


def _result_of(options: Mapping[str, Any]) -> Result:
    return evaluate_answers(**options) if "unanswered" in options else evaluate(**options)


def evaluate_here() -> None:
    """Evaluate what is in the folder of this process, and save the record there."""
    options = json.loads(Path(_OPTIONS).read_text(encoding="utf-8"))
    with np.load(_ARRAYS, allow_pickle=False) as arrays:
        options |= {name: arrays[name] for name in arrays.files}
    _result_of(options).save(_RECORD)
