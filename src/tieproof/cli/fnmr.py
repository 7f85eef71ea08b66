"""`tieproof fnmr`."""

from typing import Any

import click

import tieproof
from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.files import Files, as_sides, evaluated
from tieproof.cli.options import Text, choice_option, share_option
from tieproof.cli.output import answer
from tieproof.rates.result import METHODS, render
from tieproof.show.files import MEANS

HELP = (
    "Compute the false non-match rate (FNMR) at given false match rates (FMR), pooled over all pairs.\n\n"
    "The threshold is the FMR-quantile of the distances of pairs that are not relevant; FNMR is the share of "
    "relevant pairs whose distance is at least the threshold. Without --gallery every item is compared with all the "
    "others. The files are those that tieproof evaluate reads. In tables, tie std is the standard deviation over the "
    "orderings of pairs at exactly the same distance."
)

EXAMPLES = (
    "tieproof fnmr embeddings.npy labels.npy --fmr 0.1",
    "tieproof fnmr queries.npz --gallery gallery.npz --fmr 0.01 --fmr 0.001 --method exact",
    "tieproof fnmr data.npz --json rates.json",
)


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@options.embeddings
@options.labels
@share_option("--fmr", multiple=True, default=[0.1], text="A false match rate; repeat it for more.")
@choice_option(
    "--method",
    default="linear",
    text="How quantiles are taken. linear interpolates between two distances; exact takes one of the distances, and "
    "reports the interval that ties leave open.",
    choices=METHODS,
)
@options.gallery
@options.gallery_labels
@options.distance
@options.groups
@options.gallery_groups
@options.bits
@options.memory
@options.threads
@options.json
def command(
    embeddings: str,
    labels: Text,
    groups: Text,
    gallery: Text,
    gallery_labels: Text,
    gallery_groups: Text,
    json: Text,
    **settings: Any,
) -> None:
    """Read the files, count the pairs, write and show the rates."""
    sides = as_sides(Files(embeddings, labels, groups), gallery, gallery_labels, gallery_groups)
    answer(json, render, evaluated(tieproof.fnmr_at_fmr, sides, [(json, MEANS)], **settings))
