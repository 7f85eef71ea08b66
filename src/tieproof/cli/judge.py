"""`tieproof judge`."""

import sys
from collections.abc import Sequence

import click

from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.options import Text, choice_option, count_option, file_argument, file_option, option
from tieproof.cli.output import STANDARD_OUTPUT, answer, written
from tieproof.cli.streams import is_terminal, say
from tieproof.errors import InputError
from tieproof.judge import Competition, judge
from tieproof.judge.contests import contest
from tieproof.judge.sealing import HOW
from tieproof.results.judgments import Judgment
from tieproof.views.text.files import MEANS
from tieproof.views.text.judgment import render

HELP = (
    "Run a system that nobody trusts on data that it does not have, and score it. "
    "Its creator hands over a program, and never sees the test set.\n\n"
    "COMPETITION is the file of a competition (docs/competition_file.md): what is measured, where items and labels "
    "are, and what a system may take. "
    "The system is given items under names that say nothing, batch by batch, each in a process and a folder of its "
    "own, and without network where bubblewrap is installed; the labels stay here. It is a command with {items} (the "
    "path of a folder with a file for each item) or {lines} (of a file with a line for each), which prints a line of "
    "name and numbers for each item, or writes an array to {answers}; or module:function; or podman:IMAGE and a "
    "command; or an address. Where the competition asks for distances, {pairs} is the file of the pairs.\n\n"
    "A judge that was killed goes on where it was when it is called again."
)

EXAMPLES = (
    "tieproof judge competition.toml --system './system {items}'",
    "tieproof judge competition.toml --system 'python3 embed.py {lines} {answers}' --show model --name ours",
    "tieproof judge competition.toml --system my_system:embed --name random --runs 3 --json judgment.json",
)


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@file_argument("competition", meaning="What the organiser has fixed, a file in TOML.")
@option("--system", metavar="SYSTEM", required=True, text="What is judged.")
@option("--name", metavar="NAME", default="system", text="Of the system, by which its files are called.")
@file_option("--out", default="judged", text="The folder for records, answers and the log.")
@option("--phase", metavar="NAME", text="Whose test set it is judged on. Default: the only one.")
@count_option("--runs", text="How often it is run. Default: what the competition says.")
@choice_option("--seal", default="auto", text="What keeps the system from all but its items.", choices=HOW)
@file_option("--show", multiple=True, text="A file or folder that the system may read; repeat it for more.")
@click.option("--quiet", "-q", is_flag=True, help="Print the lower bound that ranks, and nothing else.")
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
    quiet: bool,
    json: Text,
) -> None:
    """Read, run, score, write, show."""
    if quiet and json == STANDARD_OUTPUT:
        raise InputError("-q and --json - both print on standard output; give the JSON a file.")
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
    if quiet:
        say(in_short(judgment))
    else:
        answer(json, render, judgment)


def in_short(judgment: Judgment) -> str:
    """The number that ranks."""
    return repr(judgment[judgment.measures[0]].lower)
