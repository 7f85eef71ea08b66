"""`tieproof verify`."""

from pathlib import Path
from typing import Any

import click

import tieproof
from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.files import Files, as_sides, evaluated
from tieproof.cli.options import Text, file_argument
from tieproof.cli.output import answer, written
from tieproof.cli.run import evaluated_files
from tieproof.errors import InputError
from tieproof.views.text.files import MEANS
from tieproof.views.text.verification import render

DISAGREES = 4

HELP = (
    "Evaluate again what a record says it is the result of, and say whether every bit agrees.\n\n"
    "RECORD is a file of tieproof evaluate --save or tieproof run --save. The record says how to evaluate; what it "
    "was evaluated from is given again: embeddings and labels, or qrels and a run, with the items in any order.\n\n"
    f"Exit status: 0 if all agrees, {DISAGREES} if anything differs, 2 for bad input."
)

EXAMPLES = (
    "tieproof verify embeddings.tieproof embeddings.npy labels.npy",
    "tieproof verify queries.tieproof queries.npz --gallery gallery.npz",
    "tieproof verify run.tieproof qrels.txt run.txt",
)


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@file_argument("record", meaning="The record, a file that ends in .tieproof.")
@file_argument("data", meaning="The embeddings, or the qrels of a run.")
@file_argument(
    "more", required=False, meaning="The labels, by default those in the file of the embeddings; or the run."
)
@options.gallery
@options.gallery_labels
@options.groups
@options.gallery_groups
@options.categories
@options.confidence
@options.memory
@options.threads
@options.json
def command(record: str, data: str, more: Text, categories: Text, json: Text, **given: Any) -> None:
    """Read, evaluate, compare, show."""
    known = tieproof.load(record)
    call = known.evaluated.origin.call
    outputs = [(json, MEANS)]
    memory, threads = given.pop("memory"), given.pop("threads")
    if call == "evaluate_run":
        if more is None or any(given.values()):
            raise InputError(f"{record} is of a run; give its qrels and the run, and --categories where it has some.")
        found = written(
            lambda: evaluated_files(
                lambda qrels, run, **options: tieproof.verify(known, qrels, run, **options), data, more, categories
            ),
            [Path(path) for path in (record, data, more, categories) if path],
            outputs,
        )
    elif call in ("evaluate", "evaluate_answers"):
        queries = Files(data, more, given["groups"], categories, given["confidence"])
        sides = as_sides(queries, given["gallery"], given["gallery_labels"], given["gallery_groups"])
        found = evaluated(
            lambda embeddings, labels=None, **options: tieproof.verify(
                known, embeddings, labels, **given_ones(options)
            ),
            sides,
            outputs,
            memory=memory,
            threads=threads,
        )
    else:
        raise InputError(f"{record} is of {call}; tieproof.verify checks it, from Python.")
    answer(json, render, found)
    if not found.agrees:
        raise click.exceptions.Exit(DISAGREES)


def given_ones(options: dict[str, Any]) -> dict[str, Any]:
    """The options that say anything: some calls lack the others."""
    return {name: value for name, value in options.items() if value is not None}
