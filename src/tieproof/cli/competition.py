"""`tieproof competition new`, `tieproof competition check`, and `tieproof judge`, which runs systems."""

from functools import partial
from pathlib import Path
from typing import Any

import click

import tieproof.trials.judge
from tieproof.cli import options
from tieproof.cli.audit import EXPLOITABLE, FOUND, exit_with
from tieproof.cli.commands import CommandWithExamples
from tieproof.cli.exits import say, shows_progress
from tieproof.cli.options import Option, OptionKind, command, repeated, shared
from tieproof.cli.output import Outputs, answer, check_lines, written
from tieproof.show.parts import count
from tieproof.show.printable import in_one_line
from tieproof.trials.competition import ATTACKS, Competition, check, new
from tieproof.trials.competition.platforms import PLATFORMS
from tieproof.trials.judge.items import contest_of


class _Group(CommandWithExamples, click.Group):
    """A command with subcommands."""


@command(
    new,
    "Make a bundle for a platform from one small file.\n\n"
    "COMPETITION is the file of a competition (docs/guides/competitions.md), which tieproof judge reads, too. It "
    "gives the title, the task, the measures, the distance, the phases with their data, and what the platform shows "
    "and allows. BUNDLE is the folder to make, or a .zip to upload; it contains pages, the scoring program, the "
    "truth, a baseline and a starting kit. Participants are ranked by the lower bound of the first measure. They "
    "see rounded scores and nothing else of a submission.",
    ["tieproof competition new competition.toml bundle/ --platform codabench"],
    competition="The file of the competition (.toml).",
    bundle="The folder or .zip to make; it must not exist yet.",
    platform=Option("The platform of the competition.", options.choice(PLATFORMS)),
)
def _new(competition: str, bundle: str, platform: str) -> None:
    settings = Competition.read(competition)
    made = new(settings, bundle, platform=platform)
    what = count(sum(path.is_file() for path in made.rglob("*")), "file") if made.is_dir() else "an archive"
    say(
        f"Wrote {in_one_line(made)} for {platform}: {what}. Participants see its pages, its starting kit and its "
        f"items, and scores rounded to {count(settings.platform.digits, 'digit')}. The truth and the scores of "
        "single queries stay with you, so never publish the bundle itself. Before the competition opens, run: "
        f"tieproof competition check {bundle}"
    )


@command(
    check,
    "Run a bundle as its platform would, and attack it.\n\n"
    "BUNDLE is a folder or a .zip for Codabench, EvalAI, Kaggle or Grand Challenge, made by tieproof or written by "
    "yourself. Its scoring program is run for every attack in a process of its own, and without network where "
    "bubblewrap is installed. The report says how many submissions reveal a label, because every score reveals "
    "something.\n\n"
    f"Exit status: 0 if the bundle withstood all attacks, {EXPLOITABLE} if points can be gained without a system, "
    f"{FOUND} if the check found another fault, 2 for bad input.\n\n"
    f"Attacks: {', '.join(ATTACKS)}.",
    (
        "tieproof competition check bundle/",
        "tieproof competition check handmade.zip --submission good/ -a zeros -a 'missing ids' --json found.json",
    ),
    bundle="The folder or .zip, as it is uploaded to the platform.",
    submission="A submission that the scoring program accepts; attacks imitate its form. Default: that of the "
    "bundle.",
    attacks=repeated("Run only this attack; repeat it for more.", options.NAME, "--attack", "-a"),
    seed="The seed of all random numbers.",
    time_limit=Option("The most seconds to score a submission.", options.SECONDS),
    **shared("json"),
)
def _check(outputs: Outputs, bundle: str, **settings: Any) -> None:
    settings |= {"attacks": settings["attacks"] or None, "progress": shows_progress()}
    report = written(lambda: check(bundle, **settings), [Path(bundle)], outputs)
    answer(outputs, report)
    exit_with(report)


competition = _Group(
    None,
    {"new": _new, "check": _check},
    help="Run a competition that cannot be hacked: make everything that a platform needs from one small file, and "
    "attack it before the competition opens. The guide is docs/guides/competitions.md.",
    examples=[
        "tieproof competition new competition.toml bundle/ --platform codabench",
        "tieproof competition check bundle/",
    ],
)


@command(
    tieproof.trials.judge.judge,
    "Run a system that nobody trusts on data that it has never seen, and score it. "
    "The creator of the system hands over a program, and never sees the test set.\n\n"
    "COMPETITION is the file of a competition (docs/guides/competitions.md). It gives the measures, the paths of "
    "items and labels, and the limits of time and memory. "
    "The system is given the items under meaningless names, batch by batch, each batch in a process and a folder of "
    "its own, and without network where bubblewrap is installed. It never gets the labels.\n\n"
    "SYSTEM is a command, module:function, podman:IMAGE with a command, or an address. A command contains {items} "
    "(the path of a folder with a file for each item) or {lines} (the path of a file with a line for each item). It "
    "prints a line with the name and the numbers of each item, or writes an array to {answers}. If the competition "
    "asks for distances, {pairs} is the path of the file of pairs.\n\n"
    "If the judge was killed, call it again: it resumes where it stopped.",
    (
        "tieproof judge competition.toml --system './system {items}'",
        "tieproof judge competition.toml --system 'python3 embed.py {lines} {answers}' --show model --name ours",
        "tieproof judge competition.toml --system my_system:embed --name random --runs 3 --json judgment.json",
    ),
    competition="The file of the competition, in TOML.",
    system=Option("The system to judge.", OptionKind("SYSTEM"), more={"required": True}),
    name=Option("The name of the system, which its files begin with.", options.NAME, more={"default": "system"}),
    out="The folder for records, answers and the log.",
    phase=Option("The phase whose test set is used. Default: the only phase.", options.NAME),
    runs=Option("The number of runs of the system. Default: that of the competition.", options.COUNT),
    seal="How the system is kept from everything but its items.",
    show=repeated("A file or folder that the system may read; repeat it for more.", options.FILE),
    lines=options.lines("only the lower bound by which systems are ranked"),
    **shared("explain json"),
)
def judge(outputs: Outputs, competition: str, system: str, phase: str | None, lines: bool, **settings: Any) -> None:
    """Read the competition, run and score the system, write and show the judgment."""
    check_lines(lines, outputs)
    judged_by = Competition.read(competition)
    settings |= {"phase": phase, "progress": shows_progress()}
    judge_it = partial(tieproof.trials.judge.judge, judged_by, system, **settings)
    judgment = written(judge_it, [*contest_of(judged_by, phase).secrets], outputs)
    if lines:
        say(repr(judgment[judgment.measures[0]].lower))  # the number by which systems are ranked
    else:
        answer(outputs, judgment)
