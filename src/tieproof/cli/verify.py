"""`tieproof verify`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import tieproof
from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.files import Files, as_sides, evaluated
from tieproof.cli.options import Text, file_argument
from tieproof.cli.output import Outputs, answer, written
from tieproof.cli.run import evaluated_files
from tieproof.errors import InputError
from tieproof.inputs.readers.pipes import with_pipes_read
from tieproof.records.verification import render
from tieproof.show.files import MEANS

Answer = TypeVar("Answer")

DISAGREES = 4

HELP = (
    "Repeat the evaluation of a record, and report whether every bit agrees.\n\n"
    "RECORD is a file that tieproof evaluate --save or tieproof run --save wrote. It contains the settings of the "
    "evaluation; give the data again: embeddings and labels, or qrels and a run, with the items in any order.\n\n"
    f"Exit status: 0 if everything agrees, {DISAGREES} if anything differs, 2 for bad input."
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
    "more", required=False, meaning="The labels, or the run. Default: the labels in the file of the embeddings."
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
def command(record: str, json: Text, **given: Any) -> None:
    """Read the record and the data, evaluate again, compare, and show the verification."""
    known = tieproof.load(record)

    def verified(first: Any, second: Any = None, **options: Any) -> tieproof.Verification:
        return tieproof.verify(known, first, second, **options)

    found = with_data(verified, known.evaluated.origin.call, record, [(json, MEANS)], **given)
    answer(json, render, found)
    if not found.agrees:
        raise click.exceptions.Exit(DISAGREES)


def with_data(
    function: Callable[..., Answer],
    call: str,
    record: str,
    outputs: Outputs,
    *,
    data: str,
    more: Text,
    categories: Text,
    **given: Any,
) -> Answer:
    """Apply a function to the data of a record of this call, and write what it returns to the outputs."""
    memory, threads = given.pop("memory"), given.pop("threads")
    if call == "evaluate_run":
        if more is None or any(given.values()):
            raise InputError(
                f"{record} is the record of a run; give the qrels and the run, and --categories if it has categories."
            )
        return written(
            lambda: evaluated_files(function, with_pipes_read(data, more), categories),
            [Path(path) for path in (record, data, more, categories) if path],
            outputs,
        )
    if call in ("evaluate", "evaluate_answers"):
        queries = Files(data, more, given["groups"], categories, given["confidence"])
        sides = as_sides(queries, given["gallery"], given["gallery_labels"], given["gallery_groups"])
        return evaluated(
            lambda embeddings, labels=None, **options: function(embeddings, labels, **given_ones(options)),
            sides,
            outputs,
            memory=memory,
            threads=threads,
        )
    raise InputError(f"{record} is a record of {call}; check it in Python, with tieproof.verify.")


def given_ones(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given; some calls do not take the others."""
    return {name: value for name, value in options.items() if value is not None}
