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
from tieproof.audit.tables import MARKDOWN, render
from tieproof.cli import options, output
from tieproof.cli.documented import Command
from tieproof.cli.options import (
    Text,
    argument,
    check_options,
    choice_option,
    complete_measure,
    distance_option,
    file_option,
    one_of,
    option,
    whole_number,
)
from tieproof.cli.output import answer, page_of, written
from tieproof.cli.streams import is_terminal
from tieproof.distances import DISTANCES
from tieproof.errors import InputError
from tieproof.show.files import MEANS

FOUND, EXPLOITABLE = 4, 3
"""Exit statuses: the audit found a fault; a blind system gains from the evaluator."""

HELP = (
    "Attack an evaluator: can a system that never looks at its input gain from it, and does its result depend on "
    "anything that must not matter?\n\n"
    "EVALUATOR is package.module:function, a function that returns a number or a dict of numbers. It is imported as "
    "from a script in the current folder. With --command the evaluator is a program that reads TREC files.\n\n"
    f"Exit status: 0 if the evaluator withstood all attacks, {EXPLOITABLE} if a blind system gains from it, {FOUND} "
    "if the audit found another fault, 2 for bad input.\n\n"
    f"Attacks: {', '.join(ATTACKS)}."
)

EXAMPLES = (
    "tieproof audit tieproof.audit.examples:lower_bound",
    "tieproof audit tieproof.audit.examples:lower_bound -a zeros --json report.json --markdown issue.md",
)


def as_limits(text: str) -> tuple[float, float] | None:
    """Parse the limits LOW,HIGH; the text none gives None."""
    if text == "none":
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither two numbers such as 0,1 nor none") from None
    return low, high


def as_setting(text: str) -> tuple[str, list[Any]]:
    """Parse a keyword and its values: numbers, true, false and null as in JSON, anything else as text."""
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier():
        raise click.BadParameter(f"{text!r} is not a name and its values, such as batch_size=1,64")
    return name, [as_value(value) for value in values.split(",")]


def as_value(text: str) -> Any:
    """Parse a value as JSON; a text that is not JSON is returned as it is."""
    try:
        return json_format.loads(text)
    except ValueError:
        return text


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@argument("evaluator", required=False, meaning="The function to audit, as package.module:function.")
@option(
    "--command",
    "program",
    metavar="COMMAND",
    text="A program to audit in place of a function, such as 'trec_eval -m map {qrels} {run}', where {qrels} and "
    "{run} are the files that it reads. Its numbers are read from lines of measure, 'all' and number; without such "
    "lines its last number counts.",
)
@choice_option(
    "--takes",
    text="What the function is called with. Default: told from the number of its parameters.",
    choices=CONVENTIONS,
)
@click.option("--smaller-is-better", is_flag=True, help="Treat smaller numbers as better, as for errors.")
@option(
    "--limits",
    metavar="LOW,HIGH",
    default="0,1",
    parser=as_limits,
    text="The smallest and the largest number that the evaluator can return, or none for no limits.",
)
@option(
    "--measure",
    "-m",
    metavar="NAME",
    shell_complete=complete_measure,
    text="The measure of tieproof that the evaluator computes; its numbers are compared with the exact interval.",
)
@distance_option(
    default="cosine",
    text=f"The distance by which the evaluator ranks, for --measure. {one_of(DISTANCES)}",
)
@choice_option(
    "--average",
    text="How the evaluator combines the values of the queries; other is, for example, a median or a sum over all "
    "pairs.",
    choices=AVERAGES,
)
@click.option("--pooled", is_flag=True, help="Treat the number as pooled over the pairs of all queries.")
@click.option(
    "--thresholds",
    is_flag=True,
    help="Allow for an evaluator that compares distances or scores with fixed thresholds.",
)
@option(
    "--vary",
    metavar="NAME=VALUES",
    multiple=True,
    parser=as_setting,
    text="A keyword argument that must not change the result, and values to try, such as batch_size=1,64; repeat it "
    "for more arguments.",
)
@option("--attack", "-a", "attacks", metavar="NAME", multiple=True, text="Run only this attack; repeat it for more.")
@option("--skip", metavar="NAME", multiple=True, text="Leave out this attack; repeat it for more.")
@option("--items", metavar="NUMBER", parser=whole_number, default=240, text="The number of items in most attacks.")
@option(
    "--queries",
    metavar="NUMBER",
    parser=whole_number,
    default=240,
    text="The number of queries, where the queries are not the items.",
)
@option("--seed", metavar="NUMBER", parser=whole_number, default=0, text="The seed of all random numbers.")
@option(
    "--time-limit",
    metavar="SECONDS",
    parser=float,
    default=30.0,
    text="The most seconds for a call of the evaluator.",
)
@click.option(
    "--isolate",
    is_flag=True,
    help="Import and call the evaluator in a process of its own, so that a crash or a hang does not end the audit.",
)
@options.json
@file_option("--markdown", text="Write the report as Markdown, for an issue.")
@output.report
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
        raise InputError("Give either an evaluator as package.module:function, or a program by --command.")
    check_options(distance=settings["distance"], measure=settings["measure"])
    settings |= {
        "larger_is_better": not smaller_is_better,
        "vary": dict(vary) or None,
        "attacks": attacks or None,
        "progress": is_terminal(sys.stderr),
    }
    audited = str(evaluator) if program is None else Program(program)
    outputs = [(json, MEANS), (markdown, MARKDOWN), (report, page_of(report, "audit.tables"))]
    found = written(lambda: tieproof.audit(audited, **settings), [], outputs)
    answer(json, render, found)
    click.get_current_context().exit(status_of(found))


def status_of(report: AuditReport) -> int:
    """Return the exit status for a report."""
    return EXPLOITABLE if report.exploitable else 0 if report.held else FOUND
