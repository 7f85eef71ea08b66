"""`tieproof verify`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import tieproof
from tieproof.cli.files import as_sides, evaluated
from tieproof.cli.options import Text, argument, command, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.cli.run import evaluated_files
from tieproof.errors import InputError
from tieproof.inputs.readers.location import with_pipes_read

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


@command(
    tieproof.evaluate,
    HELP,
    EXAMPLES,
    record=argument("The record, a file that ends in .tieproof."),
    data=argument("The embeddings, or the qrels of a run."),
    more=argument("The labels, or the run. Default: the labels in the file of the embeddings.", required=False),
    **shared("gallery gallery_labels groups gallery_groups categories confidence memory threads json"),
)
def verify(outputs: Outputs, record: str, **given: Any) -> None:
    """Read the record and the data, evaluate again, compare, and show the verification."""
    known = tieproof.load(record)

    def verified(first: Any, second: Any = None, **options: Any) -> tieproof.Verification:
        return tieproof.verify(known, first, second, **options)

    verification = with_data(verified, known.evaluated.origin.call, record, outputs, **given)
    answer(outputs, verification)
    if not verification.agrees:
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
        given |= {"embeddings": data, "labels": more, "categories": categories}
        sides = as_sides(given)

        def with_given(embeddings: Any, labels: Any = None, **options: Any) -> Answer:
            """Leave out what was not given, because some calls do not take it."""
            given_ones = {name: value for name, value in options.items() if value is not None}
            return function(embeddings, labels, **given_ones)

        return evaluated(with_given, sides, outputs, memory=memory, threads=threads)
    raise InputError(f"{record} is a record of {call}; check it in Python, with tieproof.verify.")
