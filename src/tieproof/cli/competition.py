"""`tieproof competition new` and `tieproof competition check`."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.options import Text, choice_option, file_argument, file_option, option, whole_number
from tieproof.cli.output import answer, written
from tieproof.cli.streams import is_terminal, say
from tieproof.competition import ATTACKS, check, new
from tieproof.competition.bundles import BUNDLES
from tieproof.competition.inspection.report import CheckReport, render
from tieproof.views.printable import in_one_line
from tieproof.views.text.files import MEANS
from tieproof.views.text.parts import count

FOUND, EXPLOITABLE = 4, 3
"""Exit statuses: something does not hold; something is to be gained without a system."""

HELP = (
    "Run a competition that cannot be hacked: make all that a platform needs from one small file, and attack it "
    "before it opens. docs/competitions.md is the guide."
)

NEW = (
    "Make a bundle for a platform from one small file.\n\n"
    "COMPETITION is the file of a competition (docs/competition_file.md), the one that tieproof judge reads, too: "
    "title, task, measures, distance, phases with their data, and what the platform shows and allows. BUNDLE is the "
    "folder to make, or a .zip to upload: pages, scoring program, truth, baseline, starting kit. The lower bound of "
    "the first measure ranks."
)

CHECK = (
    "Run a bundle as its platform would, and attack it.\n\n"
    "BUNDLE is a folder or a .zip for Codabench, EvalAI, Kaggle or Grand Challenge, made by tieproof or by hand. Its "
    "scoring program is run for every attack, in a process of its own, and without network where bubblewrap is "
    "installed.\n\n"
    f"Exit status: 0 if all held, {EXPLOITABLE} if something is to be gained without a system, {FOUND} if something "
    "else was found, 2 for bad input.\n\n"
    f"Attacks: {', '.join(ATTACKS)}."
)

EXAMPLES = (
    "tieproof competition new competition.toml bundle/ --platform codabench",
    "tieproof competition check bundle/",
)
CHECK_EXAMPLES = (
    "tieproof competition check bundle/",
    "tieproof competition check handmade.zip --submission good/ -a zeros -a 'missing ids' --json found.json",
)


class Group(Command, click.Group):
    """A command that has commands of its own."""


@click.command(cls=Group, help=HELP, examples=EXAMPLES)
def command() -> None:
    """Which of the two is wanted, click finds out."""


@command.command("new", cls=Command, help=NEW, examples=EXAMPLES[:1])
@file_argument("competition", meaning="The file of the competition (.toml).")
@file_argument("bundle", meaning="The folder to make, or a .zip; nothing may be there yet.")
@choice_option("--platform", default="codabench", text="Where the competition is to run.", choices=BUNDLES)
def make(competition: str, bundle: str, platform: str) -> None:
    """Make the bundle, and say what comes next."""
    made = new(competition, bundle, platform=platform)
    what = count(sum(path.is_file() for path in made.rglob("*")), "file") if made.is_dir() else "an archive"
    say(f"Wrote {in_one_line(made)} for {platform}: {what}. Before it opens: tieproof competition check {bundle}")


@command.command("check", cls=Command, help=CHECK, examples=CHECK_EXAMPLES)
@file_argument("bundle", meaning="A folder or a .zip, as it is uploaded.")
@file_option(
    "--submission",
    text="A submission that the program takes, whose form all attacks have. Default: that of the bundle.",
)
@option("--attack", "-a", "attacks", metavar="NAME", multiple=True, text="Only this attack; repeat it for more.")
@option("--seed", metavar="NUMBER", parser=whole_number, default=0, text="Of all random numbers.")
@option("--time-limit", metavar="SECONDS", parser=float, default=60.0, text="What scoring a submission may take.")
@options.json
def attack(bundle: str, submission: Text, attacks: Sequence[str], seed: int, time_limit: float, json: Text) -> None:
    """Attack the bundle, write the report, show it."""

    def checked() -> CheckReport:
        return check(
            bundle,
            submission=submission,
            attacks=attacks or None,
            seed=seed,
            time_limit=time_limit,
            progress=is_terminal(sys.stderr),
        )

    found = written(checked, [Path(bundle)], [(json, MEANS)])
    answer(json, render, found)
    click.get_current_context().exit(status_of(found))


def status_of(report: CheckReport) -> int:
    """What the command exits with, so that scripts can tell."""
    return EXPLOITABLE if report.exploitable else 0 if report.held else FOUND
