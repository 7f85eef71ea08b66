"""`tieproof fnmr`."""

from typing import Annotated

import tieproof
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
    Threads,
    choice_option,
    share_option,
)
from tieproof.cli.output import answer
from tieproof.results.rates import METHODS
from tieproof.views.text.files import MEANS
from tieproof.views.text.rates import render

HELP = (
    "The false non-match rate (FNMR) at given false match rates (FMR), pooled over all pairs.\n\n"
    "A threshold is the FMR-quantile of the distances between pairs that are not relevant; FNMR is the share of "
    "relevant pairs at or beyond it. Without --gallery every item is compared with all the others. Files are those "
    "that tieproof evaluate reads. In tables, tie std is the standard deviation over the orderings of pairs at "
    "exactly the same distance."
)

EXAMPLES = """Examples:

tieproof fnmr embeddings.npy labels.npy --fmr 0.1

tieproof fnmr queries.npz --gallery gallery.npz --fmr 0.01 --fmr 0.001 --method exact

tieproof fnmr data.npz --json rates.json
"""

RATES = [0.1]


def command(
    embeddings: Embeddings,
    labels: Labels = None,
    fmr: Annotated[list[float], share_option("--fmr", text="A false match rate; repeat it for more.")] = RATES,
    method: Annotated[
        str,
        choice_option(
            "--method",
            text="Quantiles between two distances, or distances themselves with all that ties leave open.",
            choices=METHODS,
        ),
    ] = "linear",
    gallery: Gallery = None,
    gallery_labels: GalleryLabels = None,
    distance: Distance = "cosine",
    groups: Groups = None,
    gallery_groups: GalleryGroups = None,
    bits: Bits = None,
    memory: Memory = "1GiB",
    threads: Threads = None,
    json: Json = None,
) -> None:
    """Read, count, write, show."""
    rates = evaluated(
        tieproof.fnmr_at_fmr,
        as_sides(Files(embeddings, labels, groups), gallery, gallery_labels, gallery_groups),
        [(json, MEANS)],
        distance=distance,
        fmr=fmr,
        method=method,
        memory=memory,
        threads=threads,
        bits=bits,
    )
    answer(json, render, rates)
