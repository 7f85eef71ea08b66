"""`tieproof audit`."""

import json
from collections.abc import Sequence
from typing import Any

import click

import tieproof
from tieproof.cli import options
from tieproof.cli.exits import shows_progress
from tieproof.cli.options import NAME, SECONDS, Option, OptionKind, Text, argument, check_options, choice, command
from tieproof.cli.output import Outputs, answer, written
from tieproof.errors import InputError
from tieproof.show.files import MARKDOWN
from tieproof.trials.audit import ATTACKS
from tieproof.trials.audit import Command as Program
from tieproof.trials.audit.conventions import CONVENTIONS
from tieproof.trials.audit.examination import AVERAGES
from tieproof.trials.audit.recall import RECALL

FOUND, EXPLOITABLE = 4, 3  # exit statuses: the audit found a fault; a blind system gains from the evaluator


def _limits(text: str) -> tuple[float, float] | None:
    """Parse the limits LOW,HIGH; the text none gives None."""
    if text == "none":
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither two numbers such as 0,1 nor none") from None
    return low, high


def _setting(text: str) -> tuple[str, list[Any]]:
    """Parse a keyword and its values: numbers, true, false and null as in JSON, anything else as text."""
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier():
        raise click.BadParameter(f"{text!r} is not a name and its values, such as batch_size=1,64")
    return name, [_value(value) for value in values.split(",")]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@command(
    tieproof.audit,
    "Attack an evaluator: can a system that never looks at its input gain from it, and does its result depend on "
    "anything that must not matter?\n\n"
    "EVALUATOR is package.module:function, a function that returns a number or a dict of numbers. It is imported as "
    "from a script in the current folder. Functions and classes of some libraries, such as "
    "sklearn.metrics:ndcg_score, are called as they expect. With --command the evaluator is a program that reads "
    "TREC files.\n\n"
    f"Exit status: 0 if the evaluator withstood all attacks, {EXPLOITABLE} if a blind system, or an index that finds "
    f"nothing more, gains from it, {FOUND} if the audit found another fault or nearly all attacks were refused, 2 "
    "for bad input, or if the evaluator fails in its first call.\n\n"
    f"Attacks: {', '.join(name for name, attack in ATTACKS.items() if attack.kind != RECALL)}.\n\n"
    f"Attacks with --recall: {', '.join(name for name, attack in ATTACKS.items() if attack.kind == RECALL)}.",
    (
        "tieproof audit tieproof.trials.audit.examples:lower_bound",
        "tieproof audit tieproof.trials.audit.examples:lower_bound -a zeros --json report.json --markdown issue.md",
        "tieproof audit --recall tieproof.trials.audit.examples:neighbor_recall",
    ),
    evaluator=argument("The function to audit, as package.module:function.", NAME, required=False),
    program=Option(
        "A program to audit in place of a function, such as 'trec_eval -m map {qrels} {run}', where {qrels} and "
        "{run} are the files that it reads. Its numbers are read from lines of measure, 'all' and number; without "
        "such lines its last number counts.",
        OptionKind("COMMAND"),
        ("--command",),
    ),
    takes=Option(
        "What the function is called with. Default: told from the number of its parameters.", choice(CONVENTIONS)
    ),
    recall=options.flag(
        "Audit an evaluator of the recall of an index, called with found ids, their distances, and a pair of true "
        "ids and distances; the same as --takes recall."
    ),
    smaller_is_better=options.flag("Treat smaller numbers as better, as for errors."),
    limits=Option(
        "The smallest and the largest number that the evaluator can return, or none for no limits.",
        OptionKind("LOW,HIGH", _limits),
        more={"default": "0,1"},
    ),
    measure=Option(
        "The measure of tieproof that the evaluator computes; its numbers are compared with the exact interval.",
        OptionKind("NAME", complete=options.complete_measure),
        ("--measure", "-m"),
    ),
    distance=options.distance("The distance by which the evaluator ranks, for --measure."),
    average=Option(
        "How the evaluator combines the values of the queries; other is, for example, a median or a sum over all "
        "pairs.",
        choice(AVERAGES),
    ),
    pooled="Treat the number as pooled over the pairs of all queries.",
    thresholds="Allow for an evaluator that compares distances or scores with fixed thresholds.",
    vary=options.repeated(
        "A keyword argument that must not change the result, and values to try, such as batch_size=1,64; repeat it "
        "for more arguments.",
        OptionKind("NAME=VALUES", _setting),
    ),
    attacks=options.repeated("Run only this attack; repeat it for more.", NAME, "--attack", "-a"),
    skip=options.repeated("Leave out this attack; repeat it for more.", NAME),
    items="The number of items in most attacks.",
    queries="The number of queries, where the queries are not the items.",
    seed="The seed of all random numbers.",
    time_limit=Option("The most seconds for a call of the evaluator.", SECONDS),
    isolate="Import and call the evaluator in a process of its own, so that a crash or a hang does not end the "
    "audit.",
    thorough="Make more attacks and look for smaller gains, which takes about ten times as long.",
    explain=options.flag(
        "Show the table of all attacks, and every finding, in place of one finding for each likely cause.",
        "--explain",
        "--verbose",
    ),
    **options.shared("json"),
    markdown=Option("Write the report as Markdown, for an issue.", formats=MARKDOWN),
    **options.shared("report"),
)
def audit(
    outputs: Outputs,
    evaluator: Text,
    program: Text,
    recall: bool,
    smaller_is_better: bool,
    vary: Sequence[tuple[str, list[Any]]],
    attacks: Sequence[str],
    **settings: Any,
) -> None:
    """Attack the evaluator, write the report, show it."""
    if (evaluator is None) == (program is None):
        raise InputError("Give either an evaluator as package.module:function, or a program by --command.")
    check_options(distance=settings["distance"], measure=settings["measure"])
    if recall and (settings["takes"] or "recall") != "recall":
        raise InputError("Give either --recall, or --takes with another convention.")
    if recall and program is not None:
        raise InputError("Give either --recall with a function, or a program by --command.")
    settings |= {
        "takes": "recall" if recall else settings["takes"],
        "larger_is_better": not smaller_is_better,
        "vary": dict(vary) or None,
        "attacks": attacks or None,
        "progress": shows_progress(),
    }
    audited = str(evaluator) if program is None else Program(program)
    report = written(lambda: tieproof.audit(audited, **settings), [], outputs)
    answer(outputs, report)
    exit_with(report)


def exit_with(report: Any) -> None:
    """End with the exit status for the report of an audit, or of a check of a competition."""
    click.get_current_context().exit(EXPLOITABLE if report.exploitable else 0 if report.held else FOUND)
