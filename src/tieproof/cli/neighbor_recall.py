"""`tieproof neighbor-recall`."""

import sys
from typing import Any

import click

import tieproof
from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.options import Text, check_options, count_option, file_argument, file_option
from tieproof.cli.output import answer, written
from tieproof.cli.streams import is_terminal
from tieproof.errors import InputError
from tieproof.inputs.readers import read_embeddings
from tieproof.inputs.readers.location import split
from tieproof.inputs.readers.neighbors import read_neighbors
from tieproof.recall.result import render
from tieproof.show.files import MEANS, PER_QUERY

HELP = (
    "Compute the share of the true k nearest neighbours that an index found, over all choices of the k nearest.\n\n"
    "The table also shows the recall that ann-benchmarks and big-ann-benchmarks compute from the same lists. Lists "
    "are read from .hdf5 and .npz files with neighbors and distances, as ann-benchmarks and VIBE write them "
    "(FILE:GROUP if there are several groups), from .npy files of ids, and from the binary files of "
    "big-ann-benchmarks with any extension. Without TRUTH the true neighbours are found by an exact search of the "
    "vectors of --gallery."
)

EXAMPLES = (
    "tieproof neighbor-recall index.hdf5 sift-128-euclidean.hdf5 -k 10",
    "tieproof neighbor-recall found.ibin GT.public.1B.ibin -k 1 -k 10 --json recall.json",
    "tieproof neighbor-recall found.npy --queries query.u8bin --gallery base.u8bin -d euclidean -k 10",
)


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@file_argument("found", meaning="The neighbours that an index found.")
@file_argument("truth", required=False, meaning="The true neighbours and their distances.")
@count_option("-k", multiple=True, default=[10], text="The number of nearest neighbours to find; repeat it for more.")
@count_option("--among", text="The number of found neighbours that count for each query. Default: k.")
@count_option("--n-items", text="The number of items in the gallery, if TRUTH is given.")
@file_option("--queries", text="The vectors of the queries, in place of TRUTH.")
@file_option("--gallery", text="The vectors of the gallery, in place of TRUTH.")
@options.distance
@options.bits
@options.memory
@options.threads
@options.json
@options.per_query
def command(
    found: str,
    truth: Text,
    queries: Text,
    gallery: Text,
    json: Text,
    per_query: Text,
    **settings: Any,
) -> None:
    """Read the lists, compare them, write and show the recall."""
    check_options(**settings)
    if (truth is None) == (gallery is None) or (queries is None) != (gallery is None):
        raise InputError("The true neighbours are unknown: give either TRUTH, or both --queries and --gallery.")
    files = {"found": found, "truth": truth, "queries": queries, "gallery": gallery}
    given = {name: location for name, location in files.items() if location}
    settings |= {"progress": is_terminal(sys.stderr)}
    read = [split(location).path for location in given.values()]
    answer(json, render, written(lambda: compared(given, settings), read, [(json, MEANS), (per_query, PER_QUERY)]))


def compared(given: dict[str, str], settings: dict[str, Any]) -> tieproof.NeighborRecall:
    """Return the recall of the lists in the files; an error names the files that it is about."""
    lists = read_neighbors(given["found"])
    arrays: dict[str, Any] = {name: read_embeddings(given[name]) for name in ("queries", "gallery") if name in given}
    if "truth" in given:
        arrays["truth"] = tuple(read_neighbors(given["truth"]))
        if arrays["truth"][1] is None:
            raise InputError(
                f"{given['truth']} contains ids without distances, so that ties cannot be seen. Give a file with "
                "both, or --queries and --gallery to compute both.",
                "truth",
            )
    try:
        return tieproof.neighbor_recall(lists.ids, distances=lists.distances, **arrays, **settings)
    except InputError as error:
        raise InputError(f"{files_meant(error, given)}: {error}", error.argument) from error


def files_meant(error: InputError, given: dict[str, str]) -> str:
    """Return the files of the arguments that an error is about; all files if it names none of the arguments."""
    arguments = (error.argument,) if isinstance(error.argument, str) else error.argument or ()
    about = ["found" if name == "distances" else name for name in arguments]
    named = [given[name] for name in about if name in given]
    return ", ".join(dict.fromkeys(named or given.values()))
