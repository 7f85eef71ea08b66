"""`tieproof audit`."""

import json as json_format
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

import tieproof
from tieproof.audit import ATTACKS, AuditReport, Command
from tieproof.audit.conventions import CONVENTIONS
from tieproof.cli.options import Json, Text, check_options, choice_option, file_option, one_of, option, whole_number
from tieproof.cli.output import answer, is_terminal, written
from tieproof.cli.report import Report, page_of
from tieproof.distances import DISTANCES
from tieproof.errors import InputError
from tieproof.views.text.audit import MARKDOWN, render
from tieproof.views.text.files import MEANS

FOUND, EXPLOITABLE = 4, 3
"""Exit statuses: something does not hold; a blind system gains from it."""

HELP = (
    "Attack an evaluator: can a system that never looks at its input gain from it, and does its result depend on "
    "what must not matter?\n\n"
    "EVALUATOR is package.module:function, which is imported from here; it returns a number or a dict of numbers. "
    "With --command it is a program that reads TREC files.\n\n"
    f"Exit status: 0 if all held, {EXPLOITABLE} if a blind system gains from the evaluator, {FOUND} if something "
    "else was found, 2 for bad input.\n\n"
    f"Attacks: {', '.join(ATTACKS)}."
)

EXAMPLES = """Examples:

tieproof audit tieproof.audit.examples:lower_bound

tieproof audit tieproof.audit.examples:lower_bound -a zeros --json report.json --markdown issue.md
"""


def command(
    evaluator: Annotated[str | None, typer.Argument(metavar="[EVALUATOR]", help="package.module:function.")] = None,
    command_line: Annotated[
        Text,
        option(
            "--command",
            metavar="COMMAND",
            text="A program instead, such as 'trec_eval -m map {qrels} {run}', with the files that it reads. Its "
            "numbers are those of lines of measure, 'all' and number, or the last one it prints.",
        ),
    ] = None,
    takes: Annotated[
        Text,
        choice_option(
            "--takes",
            text="How the function is called. Default: what the number of its parameters tells.",
            choices=CONVENTIONS,
        ),
    ] = None,
    smaller: Annotated[
        bool, typer.Option("--smaller-is-better", help="The numbers are errors, or the like.")
    ] = False,
    limits: Annotated[
        str,
        option("--limits", metavar="LOW,HIGH", text="What the numbers cannot leave; none where there is nothing."),
    ] = "0,1",
    measure: Annotated[
        Text,
        option(
            "--measure",
            "-m",
            metavar="NAME",
            text="The measure of tieproof that the evaluator computes; compares its numbers with the interval.",
        ),
    ] = None,
    distance: Annotated[
        str, option("--distance", "-d", metavar="NAME", text=f"Its distance, for --measure. {one_of(DISTANCES)}")
    ] = "cosine",
    vary: Annotated[
        list[str],
        option(
            "--vary",
            metavar="NAME=VALUES",
            text="A keyword argument that must not matter and values for it, such as batch_size=1,64; repeat it for "
            "more.",
        ),
    ] = [],  # noqa: B006
    attacks: Annotated[
        list[str], option("--attack", "-a", metavar="NAME", text="Only this attack; repeat it for more.")
    ] = [],  # noqa: B006
    seed: Annotated[int, option("--seed", metavar="NUMBER", text="Of all random numbers.", parser=whole_number)] = 0,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="What one call of the evaluator may take.")
    ] = 30.0,
    isolate: Annotated[
        bool,
        typer.Option(
            "--isolate", help="Import and call it in a process of its own, so that crashes and hangs end there."
        ),
    ] = False,
    json: Json = None,
    markdown: Annotated[Text, file_option("--markdown", text="Write the report as Markdown, for an issue.")] = None,
    page: Report = None,
) -> None:
    """Attack the evaluator, write the report, show it."""
    if (evaluator is None) == (command_line is None):
        raise InputError("Give an evaluator as package.module:function, or a program by --command, and not both.")
    check_options(distance=distance, measure=measure)
    options: dict[str, Any] = {
        "takes": takes,
        "larger_is_better": not smaller,
        "limits": as_limits(limits),
        "measure": measure,
        "distance": distance,
        "vary": as_settings(vary) or None,
        "attacks": attacks or None,
        "seed": seed,
        "time_limit": time_limit,
        "isolate": isolate,
    }
    audited = str(evaluator) if command_line is None else Command(command_line)
    watched = is_terminal(sys.stderr)
    report = written(
        lambda: tieproof.audit(audited, progress=watched, **options),
        [],
        [(json, MEANS), (markdown, MARKDOWN), (page, page_of(page, "audit"))],
    )
    answer(json, render, report)
    raise typer.Exit(status_of(report))


def status_of(report: AuditReport) -> int:
    """What the command exits with, so that scripts can tell."""
    return EXPLOITABLE if report.exploitable else 0 if report.held else FOUND


def as_limits(text: str) -> tuple[float, float] | None:
    """The limits in a text: two numbers, or none."""
    if text == "none":
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise typer.BadParameter(f"'--limits': {text!r} is not two numbers as in 0,1, and not none") from None
    return low, high


def as_settings(texts: list[str]) -> Mapping[str, list[Any]]:
    """Values by keyword; numbers, true, false and null as in JSON, all else as text."""
    settings = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name.isidentifier():
            raise typer.BadParameter(f"'--vary': {text!r} is not written as in batch_size=1,64")
        settings[name] = [as_value(value) for value in values.split(",")]
    return settings


def as_value(text: str) -> Any:
    """A value as in JSON, or the text."""
    try:
        return json_format.loads(text)
    except ValueError:
        return text
