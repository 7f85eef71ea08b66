"""`tieproof audit`."""

import json as json_format
import sys
from collections.abc import Sequence
from typing import Any

import click

import tieproof
from tieproof.audit import ATTACKS, AuditReport
from tieproof.audit import Command as Program
from tieproof.audit.conventions import CONVENTIONS
from tieproof.audit.examination import AVERAGES
from tieproof.cli import options, reports
from tieproof.cli.documented import Command
from tieproof.cli.options import (
    Text,
    argument,
    check_options,
    choice_option,
    file_option,
    one_of,
    option,
    whole_number,
)
from tieproof.cli.output import answer, written
from tieproof.cli.reports import page_of
from tieproof.cli.streams import is_terminal
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

EXAMPLES = (
    "tieproof audit tieproof.audit.examples:lower_bound",
    "tieproof audit tieproof.audit.examples:lower_bound -a zeros --json report.json --markdown issue.md",
)


def as_limits(text: str) -> tuple[float, float] | None:
    """The limits in a text: two numbers, or none."""
    if text == "none":
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not two numbers as in 0,1, and not none") from None
    return low, high


def as_setting(text: str) -> tuple[str, list[Any]]:
    """A keyword and values for it; numbers, true, false and null as in JSON, all else as text."""
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier():
        raise click.BadParameter(f"{text!r} is not written as in batch_size=1,64")
    return name, [as_value(value) for value in values.split(",")]


def as_value(text: str) -> Any:
    """A value as in JSON, or the text."""
    try:
        return json_format.loads(text)
    except ValueError:
        return text


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@argument("evaluator", required=False, meaning="package.module:function.")
@option(
    "--command",
    "program",
    metavar="COMMAND",
    text="A program instead, such as 'trec_eval -m map {qrels} {run}', with the files that it reads. Its numbers are "
    "those of lines of measure, 'all' and number, or the last one it prints.",
)
@choice_option(
    "--takes",
    text="How the function is called. Default: what the number of its parameters tells.",
    choices=CONVENTIONS,
)
@click.option("--smaller-is-better", is_flag=True, help="The numbers are errors, or the like.")
@option(
    "--limits",
    metavar="LOW,HIGH",
    default="0,1",
    parser=as_limits,
    text="What the numbers cannot leave; none where there is nothing.",
)
@option(
    "--measure",
    "-m",
    metavar="NAME",
    text="The measure of tieproof that the evaluator computes; compares its numbers with the interval.",
)
@option(
    "--distance",
    "-d",
    metavar="NAME",
    default="cosine",
    text=f"Its distance, for --measure. {one_of(DISTANCES)}",
)
@choice_option(
    "--average",
    text="What the number is of the values of single queries; other: a median, for example, or a sum over all pairs.",
    choices=AVERAGES,
)
@click.option("--pooled", is_flag=True, help="The number is that of all pairs of all queries together.")
@click.option("--thresholds", is_flag=True, help="The evaluator compares distances or scores with fixed thresholds.")
@option(
    "--vary",
    metavar="NAME=VALUES",
    multiple=True,
    parser=as_setting,
    text="A keyword argument that must not matter and values for it, such as batch_size=1,64; repeat it for more.",
)
@option("--attack", "-a", "attacks", metavar="NAME", multiple=True, text="Only this attack; repeat it for more.")
@option("--skip", metavar="NAME", multiple=True, text="Not this attack; repeat it for more.")
@option("--items", metavar="NUMBER", parser=whole_number, default=240, text="How many items are evaluated, usually.")
@option(
    "--queries", metavar="NUMBER", parser=whole_number, default=240, text="How many queries, where they are no items."
)
@option("--seed", metavar="NUMBER", parser=whole_number, default=0, text="Of all random numbers.")
@option(
    "--time-limit", metavar="SECONDS", parser=float, default=30.0, text="What one call of the evaluator may take."
)
@click.option(
    "--isolate",
    is_flag=True,
    help="Import and call it in a process of its own, so that crashes and hangs end there.",
)
@options.json
@file_option("--markdown", text="Write the report as Markdown, for an issue.")
@reports.report
def command(
    evaluator: Text,
    program: Text,
    smaller_is_better: bool,
    vary: Sequence[tuple[str, list[Any]]],
    attacks: Sequence[str],
    json: Text,
    markdown: Text,
    report: Text,
    **settings: Any,
) -> None:
    """Attack the evaluator, write the report, show it."""
    if (evaluator is None) == (program is None):
        raise InputError("Give an evaluator as package.module:function, or a program by --command, and not both.")
    check_options(distance=settings["distance"], measure=settings["measure"])
    settings |= {
        "larger_is_better": not smaller_is_better,
        "vary": dict(vary) or None,
        "attacks": attacks or None,
        "progress": is_terminal(sys.stderr),
    }
    audited = str(evaluator) if program is None else Program(program)
    outputs = [(json, MEANS), (markdown, MARKDOWN), (report, page_of(report, "audit"))]
    found = written(lambda: tieproof.audit(audited, **settings), [], outputs)
    answer(json, render, found)
    click.get_current_context().exit(status_of(found))


def status_of(report: AuditReport) -> int:
    """What the command exits with, so that scripts can tell."""
    return EXPLOITABLE if report.exploitable else 0 if report.held else FOUND
