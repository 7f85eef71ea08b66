"""`tieproof judge`."""

import sys
from collections.abc import Sequence

import click

from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.options import (
    EARLIER_NAMES,
    Text,
    choice_option,
    count_option,
    file_argument,
    file_option,
    lines_option,
    option,
)
from tieproof.cli.output import answer, check_lines, written
from tieproof.cli.streams import is_terminal, say
from tieproof.judge import Competition, judge
from tieproof.judge.items import contest
from tieproof.judge.judgment import Judgment, render
from tieproof.judge.sealing import HOW
from tieproof.show.files import MEANS

HELP = (
    "Run a system that nobody trusts on data that it has never seen, and score it. "
    "The creator of the system hands over a program, and never sees the test set.\n\n"
    "COMPETITION is the file of a competition (docs/competition_file.md). It gives the measures, the paths of items "
    "and labels, and the limits of time and memory. "
    "The system is given the items under meaningless names, batch by batch, each batch in a process and a folder of "
    "its own, and without network where bubblewrap is installed. It never gets the labels.\n\n"
    "SYSTEM is a command, module:function, podman:IMAGE with a command, or an address. A command contains {items} "
    "(the path of a folder with a file for each item) or {lines} (the path of a file with a line for each item). It "
    "prints a line with the name and the numbers of each item, or writes an array to {answers}. If the competition "
    "asks for distances, {pairs} is the path of the file of pairs.\n\n"
    "If the judge was killed, call it again: it resumes where it stopped."
)

EXAMPLES = (
    "tieproof judge competition.toml --system './system {items}'",
    "tieproof judge competition.toml --system 'python3 embed.py {lines} {answers}' --show model --name ours",
    "tieproof judge competition.toml --system my_system:embed --name random --runs 3 --json judgment.json",
)


@click.command(cls=Command, help=HELP, examples=EXAMPLES, context_settings=EARLIER_NAMES)
@file_argument("competition", meaning="The file of the competition, in TOML.")
@option("--system", metavar="SYSTEM", required=True, text="The system to judge.")
@option("--name", metavar="NAME", default="system", text="The name of the system, which its files begin with.")
@file_option("--out", default="judged", text="The folder for records, answers and the log.")
@option("--phase", metavar="NAME", text="The phase whose test set is used. Default: the only phase.")
@count_option("--runs", text="The number of runs of the system. Default: that of the competition.")
@choice_option("--seal", default="auto", text="How the system is kept from everything but its items.", choices=HOW)
@file_option("--show", multiple=True, text="A file or folder that the system may read; repeat it for more.")
@lines_option("only the lower bound by which systems are ranked")
@options.json
def command(
    competition: str,
    system: str,
    name: str,
    out: str,
    phase: str | None,
    runs: int | None,
    seal: str,
    show: Sequence[str],
    lines: bool,
    json: Text,
) -> None:
    """Read the competition, run and score the system, write and show the judgment."""
    check_lines(lines, json)
    found = Competition.read(competition)
    judgment = written(
        lambda: judge(
            found,
            system,
            name=name,
            out=out,
            phase=phase,
            runs=runs,
            seal=seal,  # type: ignore[arg-type]
            show=show,
            progress=is_terminal(sys.stderr),
        ),
        [*contest(found, phase).secrets],
        [(json, MEANS)],
    )
    if lines:
        say(in_short(judgment))
    else:
        answer(json, render, judgment)


def in_short(judgment: Judgment) -> str:
    """Return the number by which systems are ranked."""
    return repr(judgment[judgment.measures[0]].lower)
