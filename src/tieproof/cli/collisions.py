"""`tieproof collisions`."""

import sys
from typing import Annotated

import typer

import tieproof
from tieproof.calls.collisions import as_epsilon
from tieproof.cli.evaluate import Files, from_files
from tieproof.cli.options import (
    Embeddings,
    Json,
    Labels,
    PerQuery,
    Text,
    check_options,
    file_option,
    number_option,
    one_of,
    option,
)
from tieproof.cli.output import answer, is_terminal, outputs
from tieproof.distances import DISTANCES, our_name
from tieproof.errors import InputError
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.inputs.readers.location import split
from tieproof.views.text.collisions import render
from tieproof.views.text.files import COLLISIONS, COLLISIONS_BY_RANK

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
    gallery: Annotated[Text, file_option("--gallery", text="The retrieval database.")] = None,
    gallery_labels: Annotated[
        Text, file_option("--gallery-labels", text="Its labels. Default: those in its file.")
    ] = None,
    distance: Annotated[str, option("--distance", "-d", metavar="NAME", text=one_of(DISTANCES))] = "cosine",
    epsilon: Annotated[
        float,
        option(
            "--epsilon",
            metavar="NUMBER",
            parser=number,
            text="Neighbours closer than this collide. 0: the same distance.",
        ),
    ] = 0.0,
    groups: Annotated[
        Text, file_option("--groups", text="Items with the query's label and group are excluded.")
    ] = None,
    gallery_groups: Annotated[Text, file_option("--gallery-groups", text="The groups of the gallery.")] = None,
    bits: Annotated[int | None, number_option("--bits", text="Bits of packed codes (hamming).")] = None,
    memory: Annotated[str, option("--memory", metavar="SIZE", text="Memory to use beside the embeddings.")] = "1GiB",
    threads: Annotated[int | None, number_option("--threads", text="Default: one for each processor.")] = None,
    json: Json = None,
    per_query: PerQuery = None,
    plot: Annotated[
        Text, file_option("--plot", text=f"Draw queries x ranks and what collides ({', '.join(COLLISIONS)}).")
    ] = None,
    plot_ranks: Annotated[
        Text,
        file_option("--plot-ranks", text=f"Draw how often items collide at each rank ({', '.join(COLLISIONS)})."),
    ] = None,
) -> None:
    """Read, count, write, show."""
    check_options(
        {
            "--distance": lambda: our_name(distance),
            "--memory": lambda: parse_memory(memory),
            "--threads": lambda: parse_threads(threads),
        }
    )
    if gallery is None and (gallery_labels or gallery_groups):
        raise InputError("--gallery-labels and --gallery-groups belong to a gallery; give its file with --gallery.")
    sides = [Files(embeddings, labels, groups, needs_labels=False)]
    if gallery is not None:
        sides.append(Files(gallery, gallery_labels, gallery_groups, needs_labels=False))
    read = [split(location).path for side in sides for location in side.locations]
    pictures = [(plot, COLLISIONS), (plot_ranks, COLLISIONS_BY_RANK)]
    with outputs(json, per_query, read, others=pictures) as write:
        found = from_files(
            tieproof.collisions,
            sides,
            distance=distance,
            epsilon=epsilon,
            memory=memory,
            threads=threads,
            bits=bits,
            progress=is_terminal(sys.stderr),
        )
        write(found)
    answer(json, render, found)
