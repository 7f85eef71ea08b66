"""`tieproof fnmr`."""

import sys
from typing import Annotated

import tieproof
from tieproof.cli.evaluate import Files, from_files
from tieproof.cli.options import (
    Embeddings,
    Json,
    Labels,
    Text,
    check_options,
    choice_option,
    file_option,
    number_option,
    one_of,
    option,
    share_option,
)
from tieproof.cli.output import answer, is_terminal, outputs
from tieproof.distances import DISTANCES, our_name
from tieproof.errors import InputError
from tieproof.inputs.options import parse_memory, parse_threads
from tieproof.inputs.readers.location import split
from tieproof.results.rates import METHODS
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
    gallery: Annotated[Text, file_option("--gallery", text="The retrieval database.")] = None,
    gallery_labels: Annotated[
        Text, file_option("--gallery-labels", text="Its labels. Default: those in its file.")
    ] = None,
    distance: Annotated[str, option("--distance", "-d", metavar="NAME", text=one_of(DISTANCES))] = "cosine",
    groups: Annotated[
        Text, file_option("--groups", text="Items with the query's label and group are excluded.")
    ] = None,
    gallery_groups: Annotated[Text, file_option("--gallery-groups", text="The groups of the gallery.")] = None,
    bits: Annotated[int | None, number_option("--bits", text="Bits of packed codes (hamming).")] = None,
    memory: Annotated[str, option("--memory", metavar="SIZE", text="Memory to use beside the embeddings.")] = "1GiB",
    threads: Annotated[int | None, number_option("--threads", text="Default: one for each processor.")] = None,
    json: Json = None,
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
    sides = [Files(embeddings, labels, groups)]
    if gallery is not None:
        sides.append(Files(gallery, gallery_labels, gallery_groups))
    with outputs(json, None, [split(location).path for side in sides for location in side.locations]) as write:
        rates = from_files(
            tieproof.fnmr_at_fmr,
            sides,
            distance=distance,
            fmr=fmr,
            method=method,
            memory=memory,
            threads=threads,
            bits=bits,
            progress=is_terminal(sys.stderr),
        )
        write(rates)
    answer(json, render, rates)
