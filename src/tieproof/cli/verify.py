"""`tieproof verify`."""

from pathlib import Path
from typing import Annotated

import typer

import tieproof
from tieproof.cli.evaluate import Categories, Confidence
from tieproof.cli.files import Files, as_sides, evaluated
from tieproof.cli.options import (
    Gallery,
    GalleryGroups,
    GalleryLabels,
    Groups,
    Json,
    Memory,
    Text,
    Threads,
    file_argument,
)
from tieproof.cli.output import answer, written
from tieproof.cli.run import evaluated_files
from tieproof.errors import InputError
from tieproof.views.text.files import MEANS
from tieproof.views.text.verification import render

DISAGREES = 4

HELP = (
    "Evaluate again what a record says it is the result of, and say whether every bit agrees.\n\n"
    "RECORD is a file of tieproof evaluate --save or tieproof run --save. The record says how to evaluate; what it "
    "was evaluated from is given again: EMBEDDINGS and LABELS, or QRELS and RUN. The same items may come in another "
    "order.\n\n"
    f"Exit status: 0 if all agrees, {DISAGREES} if anything differs, 2 for bad input."
)

EXAMPLES = """Examples:

tieproof verify run.tieproof embeddings.npy labels.npy

tieproof verify run.tieproof queries.npz --gallery gallery.npz

tieproof verify run.tieproof qrels.txt run.txt
"""


def command(
    record: Annotated[str, file_argument("RECORD", text="The record, a file that ends in .tieproof.")],
    data: Annotated[str, file_argument("EMBEDDINGS|QRELS", text="The embeddings, or the judgments of a run.")],
    more: Annotated[
        Text,
        file_argument("LABELS|RUN", text="The labels, by default those in the file of the embeddings; or the run."),
    ] = None,
    gallery: Gallery = None,
    gallery_labels: GalleryLabels = None,
    groups: Groups = None,
    gallery_groups: GalleryGroups = None,
    categories: Categories = None,
    confidence: Confidence = None,
    memory: Memory = "1GiB",
    threads: Threads = None,
    json: Json = None,
) -> None:
    """Read, evaluate, compare, show."""
    known = tieproof.load(record)
    call = known.evaluated.origin.call
    if call == "evaluate_run":
        given = (gallery, gallery_labels, groups, gallery_groups, confidence)
        if more is None or any(given):
            raise InputError(f"{record} is of a run; give QRELS and RUN, and --categories where it has some.")
        found = written(
            lambda: evaluated_files(
                lambda qrels, run, **options: tieproof.verify(known, qrels, run, **options), data, more, categories
            ),
            [Path(path) for path in (record, data, more, categories) if path],
            [(json, MEANS)],
        )
    elif call == "evaluate":
        sides = as_sides(Files(data, more, groups, categories, confidence), gallery, gallery_labels, gallery_groups)
        found = evaluated(
            lambda embeddings, labels=None, **options: tieproof.verify(known, embeddings, labels, **options),
            sides,
            [(json, MEANS)],
            memory=memory,
            threads=threads,
        )
    else:
        raise InputError(f"{record} is of {call}, which is called from Python; there tieproof.verify checks it.")
    answer(json, render, found)
    if not found.agrees:
        raise typer.Exit(DISAGREES)
