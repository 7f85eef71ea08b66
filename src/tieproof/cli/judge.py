"""`tieproof judge`, which runs systems."""

from typing import Any

import tieproof.trials.judge
from tieproof.cli.exits import say, shows_progress
from tieproof.cli.options import COUNT, FILE, NAME, Option, OptionKind, command, lines, repeated, shared
from tieproof.cli.output import Outputs, answer, check_lines, written
from tieproof.trials.judge import Competition
from tieproof.trials.judge.items import contest_of


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
    name=Option("The name of the system, which its files begin with.", NAME, more={"default": "system"}),
    out="The folder for records, answers and the log.",
    phase=Option("The phase whose test set is used. Default: the only phase.", NAME),
    runs=Option("The number of runs of the system. Default: that of the competition.", COUNT),
    seal="How the system is kept from everything but its items.",
    show=repeated("A file or folder that the system may read; repeat it for more.", FILE),
    lines=lines("only the lower bound by which systems are ranked"),
    **shared("explain json"),
)
def judge(outputs: Outputs, competition: str, system: str, phase: str | None, lines: bool, **settings: Any) -> None:
    """Read the competition, run and score the system, write and show the judgment."""
    check_lines(lines, outputs)
    judged_by = Competition.read(competition)
    judgment = written(
        lambda: tieproof.trials.judge.judge(judged_by, system, phase=phase, progress=shows_progress(), **settings),
        [*contest_of(judged_by, phase).secrets],
        outputs,
    )
    if lines:
        say(repr(judgment[judgment.measures[0]].lower))  # the number by which systems are ranked
    else:
        answer(outputs, judgment)
