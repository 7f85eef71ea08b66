"""`tieproof collisions`."""

from typing import Annotated

import typer

import tieproof
from tieproof.calls.collisions import as_epsilon
from tieproof.cli.files import Files, as_sides, evaluated
from tieproof.cli.options import (
    Bits,
    Distance,
    Embeddings,
    Gallery,
    GalleryGroups,
    GalleryLabels,
    Groups,
    Json,
    Labels,
    Memory,
    PerQuery,
    Text,
    Threads,
    file_option,
    option,
)
from tieproof.cli.output import answer
from tieproof.cli.report import Report, page_of
from tieproof.views.text.collisions import render
from tieproof.views.text.files import COLLISIONS, COLLISIONS_BY_RANK, MEANS, PER_QUERY

HELP = (
    "Find the ties in all rankings: neighbours at exactly the same distance, or closer than --epsilon.\n\n"
    "Without --gallery every item queries all the others. With labels: which ties are ambiguous, and what of the "
    "interval of AP they make. Files are those that tieproof evaluate reads; a single array needs no labels."
)

EXAMPLES = """Examples:

tieproof collisions embeddings.npy

tieproof collisions embeddings.npy labels.npy -d euclidean --epsilon 1e-10

tieproof collisions queries.npz --gallery gallery.npz --json collisions.json

tieproof collisions data.npz --plot collisions.png --plot-ranks ranks.svg
"""


def number(text: str) -> float:
    """A number of at least 0."""
    try:
        return as_epsilon(float(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number of at least 0") from None


def command(
    embeddings: Embeddings,
    labels: Labels = None,
    gallery: Gallery = None,
    gallery_labels: GalleryLabels = None,
    distance: Distance = "cosine",
    epsilon: Annotated[
        float,
        option(
            "--epsilon",
            metavar="NUMBER",
            parser=number,
            text="Neighbours closer than this collide. 0: the same distance.",
        ),
    ] = 0.0,
    groups: Groups = None,
    gallery_groups: GalleryGroups = None,
    bits: Bits = None,
    memory: Memory = "1GiB",
    threads: Threads = None,
    json: Json = None,
    per_query: PerQuery = None,
    plot: Annotated[
        Text, file_option("--plot", text=f"Draw queries x ranks and what collides ({', '.join(COLLISIONS)}).")
    ] = None,
    plot_ranks: Annotated[
        Text,
        file_option("--plot-ranks", text=f"Draw how often items collide at each rank ({', '.join(COLLISIONS)})."),
    ] = None,
    report: Report = None,
) -> None:
    """Read, count, write, show."""
    queries = Files(embeddings, labels, groups, needs_labels=False)
    found = evaluated(
        tieproof.collisions,
        as_sides(queries, gallery, gallery_labels, gallery_groups),
        [
            (json, MEANS),
            (per_query, PER_QUERY),
            (plot, COLLISIONS),
            (plot_ranks, COLLISIONS_BY_RANK),
            (report, page_of(report, "collisions")),
        ],
        distance=distance,
        epsilon=epsilon,
        memory=memory,
        threads=threads,
        bits=bits,
    )
    answer(json, render, found)
