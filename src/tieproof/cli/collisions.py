"""`tieproof collisions`."""

from typing import Any

import click

import tieproof
from tieproof.cli import options, output
from tieproof.cli.documented import Command
from tieproof.cli.files import Files, as_sides, evaluated
from tieproof.cli.options import Text, file_option, option
from tieproof.cli.output import answer, page_of
from tieproof.collision.collisions import as_epsilon
from tieproof.collision.tables import render
from tieproof.show.files import COLLISIONS, COLLISIONS_BY_RANK, MEANS, PER_QUERY

HELP = (
    "Find the ties in all rankings: neighbours at exactly the same distance, or closer than --epsilon.\n\n"
    "Without --gallery every item queries all the others. With labels the report also tells which ties are "
    "ambiguous, and how much of the interval of AP they cause. Labels are optional; the "
    "files are those of tieproof evaluate."
)

EXAMPLES = (
    "tieproof collisions embeddings.npy",
    "tieproof collisions embeddings.npy labels.npy -d euclidean --epsilon 1e-10",
    "tieproof collisions queries.npz --gallery gallery.npz --json collisions.json",
    "tieproof collisions data.npz --plot collisions.png --plot-ranks ranks.svg",
)


def number(text: str) -> float:
    """Parse a number of at least 0."""
    try:
        return as_epsilon(float(text))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number of at least 0") from None


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@options.embeddings
@options.labels
@options.gallery
@options.gallery_labels
@options.distance
@option(
    "--epsilon",
    metavar="NUMBER",
    parser=number,
    default=0.0,
    text="The difference of distances below which neighbours collide; with 0 only equal distances collide.",
)
@options.groups
@options.gallery_groups
@options.bits
@options.memory
@options.threads
@options.json
@options.per_query
@file_option("--plot", text=f"Draw the collisions by query and rank ({', '.join(COLLISIONS)}).")
@file_option("--plot-ranks", text=f"Draw how often items collide at each rank ({', '.join(COLLISIONS)}).")
@output.report
def command(
    embeddings: str,
    labels: Text,
    groups: Text,
    gallery: Text,
    gallery_labels: Text,
    gallery_groups: Text,
    json: Text,
    per_query: Text,
    plot: Text,
    plot_ranks: Text,
    report: Text,
    **settings: Any,
) -> None:
    """Read the files, count the collisions, write and show the report."""
    queries = Files(embeddings, labels, groups, needs_labels=False)
    sides = as_sides(queries, gallery, gallery_labels, gallery_groups)
    pictures = [(plot, COLLISIONS), (plot_ranks, COLLISIONS_BY_RANK)]
    outputs = [(json, MEANS), (per_query, PER_QUERY), *pictures, (report, page_of(report, "collision.tables"))]
    answer(json, render, evaluated(tieproof.collisions, sides, outputs, **settings))
