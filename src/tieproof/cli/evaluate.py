"""`tieproof evaluate`."""

from typing import Annotated

import tieproof
from tieproof.cli.files import Files, as_sides, evaluated
from tieproof.cli.options import (
    MEASURES,
    TIE_STD,
    Average,
    Bits,
    Ci,
    Distance,
    Embeddings,
    Empty,
    Gallery,
    GalleryGroups,
    GalleryLabels,
    Groups,
    Json,
    Labels,
    Measures,
    Memory,
    PerQuery,
    Plot,
    Save,
    Text,
    Threads,
    choice_option,
    file_option,
)
from tieproof.cli.output import answer, showing
from tieproof.cli.report import GalleryItems, Items, Report, Shown, with_page
from tieproof.inputs.formats import FORMATS as PRECISIONS
from tieproof.inputs.readers import FORMATS
from tieproof.views.text.files import MEANS, PER_QUERY, PICTURES, RECORDS
from tieproof.views.text.text import render

HELP = (
    f"Score embeddings exactly, with the whole interval that ties leave open. {TIE_STD}\n\n"
    "Without --gallery every item queries all the others (leave-one-out); with it, EMBEDDINGS are the queries.\n\n"
    f"Files end in {', '.join(FORMATS)}. One of several arrays in a file, or one column of a table, is named behind "
    "a colon: data.npz:features."
)

EXAMPLES = """Examples:

tieproof evaluate embeddings.npy labels.npy

tieproof evaluate queries.npz --gallery gallery.npz -d euclidean -m P@10

tieproof evaluate embeddings.npy labels.npy --ci 0.95

tieproof evaluate embeddings.npy labels.npy --categories labels.npy -m AP

tieproof evaluate embeddings.npy labels.npy --confidence confidences.npy

tieproof evaluate data.npz --json result.json --per-query queries.csv --plot result.svg

tieproof evaluate embeddings.npy labels.npy --precision float16

tieproof evaluate embeddings.npy labels.npy --save run.tieproof
"""


Categories = Annotated[
    Text, file_option("--categories", text="A category for each query; the result is shown for each, too.")
]
Confidence = Annotated[
    Text,
    file_option("--confidence", text="A number for each query; shows the error of the most confident ones, too."),
]


def command(
    embeddings: Embeddings,
    labels: Labels = None,
    gallery: Gallery = None,
    gallery_labels: GalleryLabels = None,
    distance: Distance = "cosine",
    measures: Measures = MEASURES,
    groups: Groups = None,
    gallery_groups: GalleryGroups = None,
    categories: Categories = None,
    average: Average = "micro",
    confidence: Confidence = None,
    bits: Bits = None,
    precision: Annotated[
        Text,
        choice_option(
            "--precision", text="Round every distance to this format, then rank. Default: exact.", choices=PRECISIONS
        ),
    ] = None,
    empty: Empty = "skip",
    memory: Memory = "1GiB",
    threads: Threads = None,
    ci: Ci = None,
    json: Json = None,
    per_query: PerQuery = None,
    plot: Plot = None,
    save: Save = None,
    report: Report = None,
    items: Items = None,
    gallery_items: GalleryItems = None,
) -> None:
    """Read, evaluate, write, show."""
    sides = as_sides(
        Files(embeddings, labels, groups, categories, confidence), gallery, gallery_labels, gallery_groups
    )
    function, page = with_page(tieproof.evaluate, report, Shown(items, gallery_items))
    result = evaluated(
        showing(function, ci),
        sides,
        [(json, MEANS), (per_query, PER_QUERY), (plot, PICTURES), (save, RECORDS), (report, page)],
        distance=distance,
        measures=measures,
        average=average,
        empty=empty,
        memory=memory,
        threads=threads,
        bits=bits,
        precision=precision,
    )
    answer(json, render, result)
