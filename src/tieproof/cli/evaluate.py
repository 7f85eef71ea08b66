"""`tieproof evaluate`."""

from typing import Any

import click

import tieproof
from tieproof.cli import options, output
from tieproof.cli.documented import Command
from tieproof.cli.files import Files, as_sides, evaluated
from tieproof.cli.options import TIE_STD, Text, choice_option
from tieproof.cli.output import Shown, answer, showing, with_page
from tieproof.evaluation.text import render
from tieproof.inputs.formats import FORMATS
from tieproof.inputs.readers import FILE_FORMATS
from tieproof.records.writing import RECORDS
from tieproof.show.files import MEANS, PER_QUERY, PICTURES

HELP = (
    f"Score embeddings exactly, with the whole interval that ties leave open. {TIE_STD}\n\n"
    "Without --gallery every item queries all the others (leave-one-out); with it, EMBEDDINGS are the queries.\n\n"
    f"Files end in {', '.join(FILE_FORMATS)}. Name one of several arrays in a file, or one column of a table, after "
    "a colon: data.npz:features.\n\n"
    "Embeddings in several files or on another machine are given as a folder, a pattern in quotes, or a URL. They "
    "are read block by block within --memory; LABELS is then the name of a column, or a pattern of files."
)

EXAMPLES = (
    "tieproof evaluate embeddings.npy labels.npy",
    "tieproof evaluate queries.npz --gallery gallery.npz -d euclidean -m P@10",
    "tieproof evaluate embeddings.npy labels.npy --ci 0.95",
    "tieproof evaluate embeddings.npy labels.npy --categories labels.npy -m AP",
    "tieproof evaluate embeddings.npy labels.npy --confidence confidences.npy",
    "tieproof evaluate data.npz --json result.json --per-query queries.csv --plot result.svg",
    "tieproof evaluate embeddings.npy labels.npy --precision float16",
    "tieproof evaluate embeddings.npy labels.npy --save embeddings.tieproof",
    "tieproof evaluate embeddings.npy labels.npy --report report.html --items texts.txt",
    "tieproof evaluate queries.npz --gallery 'gallery/*.parquet' --gallery-labels label --memory 4GiB",
    "tieproof evaluate embeddings.npy labels.npy --cluster auto --checkpoint done",
)


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@options.embeddings
@options.labels
@options.gallery
@options.gallery_labels
@options.distance
@options.measures
@options.groups
@options.gallery_groups
@options.categories
@options.average
@options.confidence
@options.bits
@choice_option(
    "--precision", text="Round every distance to this format before ranking. Default: exact.", choices=FORMATS
)
@options.empty
@options.memory
@options.threads
@options.cluster
@options.checkpoint
@options.ci
@options.json
@options.per_query
@options.plot
@options.save
@output.report
@output.items
@output.gallery_items
def command(
    embeddings: str,
    labels: Text,
    groups: Text,
    categories: Text,
    confidence: Text,
    gallery: Text,
    gallery_labels: Text,
    gallery_groups: Text,
    ci: float | None,
    json: Text,
    per_query: Text,
    plot: Text,
    save: Text,
    report: Text,
    items: Text,
    gallery_items: Text,
    **settings: Any,
) -> None:
    """Read the files, evaluate them, write and show the result."""
    queries = Files(embeddings, labels, groups, categories, confidence)
    sides = as_sides(queries, gallery, gallery_labels, gallery_groups)
    function, page = with_page(tieproof.evaluate, report, Shown(items, gallery_items))
    outputs = [(json, MEANS), (per_query, PER_QUERY), (plot, PICTURES), (save, RECORDS), (report, page)]
    answer(json, render, evaluated(showing(function, ci), sides, outputs, **settings))
