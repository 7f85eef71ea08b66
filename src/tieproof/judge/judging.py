"""The flow of a judgment, from a competition and a system to records, a log and a `Judgment`.

competition ──► items ──► dealing: names and order, from the seed ──► running: a batch under its seal and limits
│
Judgment ◄── records, log ◄── evaluation ◄── assembly: refused, repeated ◄── journal: what is done stays done
"""

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.competition.settings import LAST, Competition
from tieproof.errors import InputError
from tieproof.evaluation.answers import Unanswered, evaluate_answers
from tieproof.evaluation.embeddings import evaluate
from tieproof.evaluation.lists import evaluate_distances
from tieproof.evaluation.progress import progress_bar
from tieproof.evaluation.result import Result
from tieproof.inputs.options import check_choice, check_whole
from tieproof.judge.assembly import Assembled, assembled, distances_of, embeddings_of
from tieproof.judge.dealing import Batch, Dealer, Sides, deal_items, deal_pairs
from tieproof.judge.items import Contest, Sequestered, contest, read_sequestered
from tieproof.judge.journal import ENDING, LOG_ENDING, Journal, Run, opened, write_judgment
from tieproof.judge.judgment import Judgment
from tieproof.judge.protocol import LATE, all_refused, only_bits
from tieproof.judge.running import Ran, Runner
from tieproof.judge.sealing import HOW, How, check_hidden, choose_seal
from tieproof.judge.systems import System, as_system, check_asks_pairs
from tieproof.problem import unwatched
from tieproof.sandbox.files import python_folders, readable
from tieproof.sandbox.folders import sweep
from tieproof.ties import Array

NAME = re.compile(r"[\w][\w.+-]{0,99}")


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
    >>> from tieproof.judge import judge
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     here = Path(folder)
    ...     _ = (here / "items.txt").write_text("a\nbb\nccc\nd\nee\nfff\n")
    ...     _ = (here / "labels.txt").write_text("1\n2\n3\n1\n2\n3\n")
    ...     _ = (here / "seed.txt").write_text("what the organiser keeps")
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
    held = contest(competition, phase)
    check_choice("seal", seal, HOW)
    check_name(name)
    if runs is not None:
        check_whole("runs", runs)
    found = as_system(system)
    check_asks_pairs(found, held.gives_distances)
    chosen = choose_seal(found, seal)
    shown = shown_to(found, show)
    folder = Path(out)
    log = folder / f"{name}{LOG_ENDING}"
    if log.exists():
        raise InputError(
            f"{log} exists: a system of this name was judged already. Take another name, or remove its files.", "name"
        )
    check_hidden((*held.secrets, folder.resolve()), shown)
    test_set, seed = read_sequestered(held), held.read_seed()
    check_labels(competition, test_set)
    wanted = runs or competition.judge.runs
    plan = {
        "competition": held.digest,
        "test set": test_set.digest,
        "seed": hashlib.sha256(seed).hexdigest(),
        "system": found.spelled,
        "number of runs": wanted,
        "seal": chosen.by,
        "shown": [os.fspath(place) for place in show],
    }
    sweep()
    with opened(folder / f"{name}{ENDING}", plan) as journal, readable(shown) as visible:
        runner = Runner(found, chosen, visible, held.limits, test_set)
        done = []
        for run in range(1, wanted + 1):
            batches = dealt(held, test_set, Dealer(seed, held.phase.name, name, run))
            flow = Flow(held, test_set, batches, run, journal)
            answered(flow, runner, progress)
            done.append(flow.evaluated())
        judgment = write_judgment(held, name, found.spelled, chosen, done, plan, folder)
        journal.remove()
    return judgment


def check_labels(competition: Competition, test_set: Sequestered) -> None:
    """Raise InputError for labels with which no query can be scored, before anything is run."""
    queries, gallery_labels = len(test_set.labels), test_set.gallery_labels
    nothing = np.full((test_set.size, 1), np.nan)
    gallery = None if gallery_labels is None else nothing[queries:]
    evaluate_answers(
        nothing[:queries],
        test_set.labels,
        gallery=gallery,
        gallery_labels=gallery_labels,
        measures=competition.measures,
        **test_set.groups,
    )


def check_name(name: Any) -> None:
    """Raise InputError unless a name is usable in file names."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InputError(
            f"The name of a system must consist of letters, digits and . + - _, as in 'ours-2', not {name!r}.",
            "name",
        )


def shown_to(system: System, show: Sequence[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """The files and folders that a sealed system may read: its own, Python with its packages, and those of `show`."""
    named = [Path(place).absolute() for place in show]
    for place in named:
        if not place.exists():
            raise InputError(f"show has {place}, which does not exist. Pass existing files and folders.", "show")
    return tuple(dict.fromkeys([*python_folders(), *system.shows, *named]))


def dealt(held: Contest, test_set: Sequestered, dealer: Dealer) -> Sequence[Batch]:
    """The batches of a run; the same run always has the same batches."""
    count, queries, judging = test_set.size, len(test_set.labels), held.competition.judge
    if held.gives_distances:
        gallery = range(count) if test_set.gallery_labels is None else range(queries, count)
        sides = Sides(range(queries), gallery, judging.symmetric)
        return list(deal_pairs(dealer, sides, judging.batch, judging.repeats))
    return deal_items(dealer, count, judging.batch, judging.repeats)


class Flow(NamedTuple):
    """One run of a system: its batches, and the evaluation of its answers."""

    held: Contest
    test_set: Sequestered
    batches: Sequence[Batch]
    run: int
    journal: Journal

    @property
    def in_bits(self) -> bool:
        """Whether answers are compared bit by bit."""
        return self.held.competition.distance == "hamming"

    @property
    def unanswered(self) -> Unanswered:
        """The places of items whose answers were refused."""
        return "last" if self.held.competition.judge.refused == LAST else "worst"

    def evaluated(self) -> Run:
        """The result of the answers in the journal."""
        ran = [self.journal.read(self.run, at) for at in range(len(self.batches))]
        given = [only_bits(each.answers) if self.in_bits else each.answers for each in ran]
        symmetric = self.held.competition.judge.symmetric
        found = assembled(zip(self.batches, given, strict=True), symmetric)
        if self.held.gives_distances:
            labels, gallery_labels = self.test_set.labels, self.test_set.gallery_labels
            answers = distances_of(found.answers, labels, gallery_labels, symmetric, self.unanswered == "worst")
            result = evaluate_distances(
                answers,
                labels=labels,
                gallery_labels=gallery_labels,
                measures=self.held.competition.measures,
            )
        else:
            answers = embeddings_of(found.answers, self.test_set.size)
            if self.in_bits and not found.refused:
                answers = answers.astype(np.bool_)
            result = self.evaluated_embeddings(found, answers)
        return Run(result, found, answers, next((each.said for each in ran if each.said), ""))

    def evaluated_embeddings(self, found: Assembled, answers: Array) -> Result:
        """The result of embeddings; by `evaluate` if every item has an answer, so that anybody can verify it."""
        queries, gallery_labels = len(self.test_set.labels), self.test_set.gallery_labels
        rules = self.held.competition
        options: dict[str, Any] = {"distance": rules.distance, "measures": rules.measures, **self.test_set.groups}
        if gallery_labels is not None:
            options |= {"gallery": answers[queries:], "gallery_labels": gallery_labels}
        if not found.refused:
            return evaluate(answers[:queries], self.test_set.labels, **options)
        return evaluate_answers(answers[:queries], self.test_set.labels, unanswered=self.unanswered, **options)


def answered(flow: Flow, runner: Runner, progress: bool) -> None:
    """Run the batches that have no answers yet, and write the answers to the journal."""
    limits, total = flow.held.limits, len(flow.batches)
    watch = progress_bar(total, f"batches of run {flow.run}", 1.0) if progress else unwatched(total)
    with watch as advance:
        used = 0.0
        for at, batch in enumerate(flow.batches):
            if not flow.journal.has(flow.run, at):
                left = limits.seconds if limits.total_seconds is None else limits.total_seconds - used
                left = min(left, limits.seconds)
                ran = runner.run(batch, left) if left > 0 else Ran(all_refused(batch, LATE), 0.0)
                flow.journal.write(flow.run, at, ran)
            used += flow.journal.read(flow.run, at).seconds
            advance(1)
