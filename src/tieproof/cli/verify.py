"""`tieproof verify`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

import tieproof
from tieproof.analyses.neighbors.certificate import NAME as CERTIFICATE
from tieproof.cli.files import as_sides, evaluated
from tieproof.cli.options import COUNT, Option, Text, argument, command, flag, shared
from tieproof.cli.output import Answer, Outputs, answer, written
from tieproof.cli.run import evaluated_files, read_files
from tieproof.errors import InputError
from tieproof.evaluation.saving import EXTENSION

DISAGREES = 4


@command(
    tieproof.evaluate,
    "Repeat the evaluation of a record, or the search of a truth, and report whether every bit agrees.\n\n"
    "RECORD is a file that tieproof evaluate --save or tieproof run --save wrote. It contains the settings of the "
    "evaluation; give the data again: embeddings and labels, or qrels and a run, with the items in any order.\n\n"
    "Or RECORD is a folder that tieproof truth wrote, DATA its queries and MORE its gallery. Some of the queries, "
    "chosen at random, are computed again; the answer tells how probably wrong neighbors escape.\n\n"
    f"Exit status: 0 if everything agrees, {DISAGREES} if anything differs, 2 for bad input.",
    (
        "tieproof verify embeddings.tieproof embeddings.npy labels.npy",
        "tieproof verify queries.tieproof queries.npz --gallery gallery.npz",
        "tieproof verify run.tieproof qrels.txt run.txt",
        "tieproof verify truth/ queries.fbin base.fbin",
        "tieproof verify truth/ queries.fbin base.fbin --all",
    ),
    record=argument("The record, a file that ends in .tieproof, or the folder of a truth."),
    data=argument("The embeddings, the qrels of a run, or the queries of a truth."),
    more=argument(
        "The labels, the run, or the gallery of a truth. Default: the labels in the file of the embeddings.",
        required=False,
    ),
    sample=Option("How many random queries of a truth are computed again. Default: 300.", COUNT),
    whole=flag("Compute all queries of a truth again.", "--all"),
    **shared(
        "exclude gallery gallery_labels groups gallery_groups categories confidence documents memory threads json"
    ),
)
def verify(outputs: Outputs, record: str, sample: int | None, whole: bool, exclude: Text, **given: Any) -> None:
    """Read the record and the data, evaluate again, compare, and show the verification."""
    found: tieproof.Verification | tieproof.TruthVerification
    beside = Path(record).parent.joinpath(CERTIFICATE).is_file() and not record.endswith(EXTENSION)
    if Path(record).is_dir() or beside:  # a file in the folder of a truth is refused by name
        from tieproof.cli.truth import verified_folder

        found = verified_folder(record, sample=sample, whole=whole, outputs=outputs, exclude=exclude, **given)
    elif sample is not None or whole or exclude:
        raise InputError(
            f"--sample, --all and --exclude are for the folder of a truth, but {record} is none. Leave them out."
        )
    else:
        known = tieproof.load(record)
        found = with_data(partial(tieproof.verify, known), known.evaluated.origin.call, record, outputs, **given)
    answer(outputs, found)
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
    documents: Text = None,
    **given: Any,
) -> Answer:
    """Apply a function to the data of a record of this call, and write what it returns to the outputs."""
    memory, threads = given.pop("memory"), given.pop("threads")
    if documents and call != "evaluate_run":
        raise InputError(f"--documents is of a run, but {record} is a record of {call}; leave it out.")
    if call == "evaluate_run":
        if more is None or any(given.values()):
            raise InputError(
                f"{record} is the record of a run; give the qrels and the run, and --categories or --documents if it "
                "was evaluated with them."
            )
        pairs = {"categories": categories, "documents": documents}
        return written(
            lambda: evaluated_files(function, *read_files((data, more), pairs)),
            [Path(path) for path in (record, data, more, categories, documents) if path],
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
