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
from tieproof.competition import ATTACKS, Competition, check, new
from tieproof.competition.inspection.report import CheckReport, render
from tieproof.competition.platforms import BUNDLES
from tieproof.show.files import MEANS
from tieproof.show.parts import count
from tieproof.show.printable import in_one_line

FOUND, EXPLOITABLE = 4, 3
"""Exit statuses: the check found a fault; points can be gained without a system."""

HELP = (
    "Run a competition that cannot be hacked: make everything that a platform needs from one small file, and attack "
    "it before the competition opens. The guide is docs/competitions.md."
)

NEW = (
    "Make a bundle for a platform from one small file.\n\n"
    "COMPETITION is the file of a competition (docs/competition_file.md), which tieproof judge reads, too. It gives "
    "the title, the task, the measures, the distance, the phases with their data, and what the platform shows and "
    "allows. BUNDLE is the folder to make, or a .zip to upload; it contains pages, the scoring program, the truth, a "
    "baseline and a starting kit. Participants are ranked by the lower bound of the first measure. They see rounded "
    "scores and nothing else of a submission."
)

CHECK = (
    "Run a bundle as its platform would, and attack it.\n\n"
    "BUNDLE is a folder or a .zip for Codabench, EvalAI, Kaggle or Grand Challenge, made by tieproof or written by "
    "yourself. Its scoring program is run for every attack in a process of its own, and without network where "
    "bubblewrap is installed. The report says how many submissions reveal a label, because every score reveals "
    "something.\n\n"
    f"Exit status: 0 if the bundle withstood all attacks, {EXPLOITABLE} if points can be gained without a system, "
    f"{FOUND} if the check found another fault, 2 for bad input.\n\n"
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
    """A command with subcommands."""


@click.command(cls=Group, help=HELP, examples=EXAMPLES)
def command() -> None:
    """Do nothing: click calls the subcommand."""


@command.command("new", cls=Command, help=NEW, examples=EXAMPLES[:1])
@file_argument("competition", meaning="The file of the competition (.toml).")
@file_argument("bundle", meaning="The folder or .zip to make; it must not exist yet.")
@choice_option("--platform", default="codabench", text="The platform of the competition.", choices=BUNDLES)
def make(competition: str, bundle: str, platform: str) -> None:
    """Make the bundle, and print the next command."""
    found = Competition.read(competition)
    made = new(found, bundle, platform=platform)
    what = count(sum(path.is_file() for path in made.rglob("*")), "file") if made.is_dir() else "an archive"
    say(
        f"Wrote {in_one_line(made)} for {platform}: {what}. Participants see its pages, its starting kit and its "
        f"items, and scores rounded to {count(found.platform.digits, 'digit')}. The truth and the scores of single "
        "queries stay with you, so never publish the bundle itself. Before the competition opens, run: "
        f"tieproof competition check {bundle}"
    )


@command.command("check", cls=Command, help=CHECK, examples=CHECK_EXAMPLES)
@file_argument("bundle", meaning="The folder or .zip, as it is uploaded to the platform.")
@file_option(
    "--submission",
    text="A submission that the scoring program accepts; attacks imitate its form. Default: that of the bundle.",
)
@option("--attack", "-a", "attacks", metavar="NAME", multiple=True, text="Run only this attack; repeat it for more.")
@option("--seed", metavar="NUMBER", parser=whole_number, default=0, text="The seed of all random numbers.")
@option("--time-limit", metavar="SECONDS", parser=float, default=60.0, text="The most seconds to score a submission.")
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
    """Return the exit status for a report."""
    return EXPLOITABLE if report.exploitable else 0 if report.held else FOUND
