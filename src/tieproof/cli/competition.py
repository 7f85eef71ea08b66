"""`tieproof competition new` and `tieproof competition check`."""

from pathlib import Path
from typing import Any

import click

from tieproof.cli.audit import EXPLOITABLE, FOUND, exit_with
from tieproof.cli.commands import CommandWithExamples
from tieproof.cli.exits import say, shows_progress
from tieproof.cli.options import NAME, SECONDS, Option, choice, command, repeated, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.show.parts import count
from tieproof.show.printable import in_one_line
from tieproof.trials.competition import ATTACKS, Competition, check, new
from tieproof.trials.competition.platforms import PLATFORMS


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
    platform=Option("The platform of the competition.", choice(PLATFORMS)),
)
def _new(competition: str, bundle: str, platform: str) -> None:
    """Make the bundle, and print the next command."""
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
    attacks=repeated("Run only this attack; repeat it for more.", NAME, "--attack", "-a"),
    seed="The seed of all random numbers.",
    time_limit=Option("The most seconds to score a submission.", SECONDS),
    **shared("json"),
)
def _check(outputs: Outputs, bundle: str, **settings: Any) -> None:
    """Attack the bundle, write the report, show it."""
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
