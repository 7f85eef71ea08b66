"""`tieproof range-recall`."""

import click

import tieproof
from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.options import Text, file_argument
from tieproof.cli.output import answer, written
from tieproof.errors import InputError
from tieproof.inputs.readers.location import split
from tieproof.inputs.readers.neighbors import read_ranges
from tieproof.recall.range_recall import render
from tieproof.show.files import MEANS, PER_QUERY

HELP = (
    "Compute the share of the items within a radius of each query that an index found.\n\n"
    "Lists are read from .hdf5 and .npz files with neighbors and lims, and from the binary files of "
    "big-ann-benchmarks with any extension. An item that occurs twice in a list counts once."
)

EXAMPLES = ("tieproof range-recall ranges.hdf5 public.rangeres",)


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@file_argument("found", meaning="The items that an index found.")
@file_argument("truth", meaning="The items that are within the radius.")
@options.json
@options.per_query
def command(found: str, truth: str, json: Text, per_query: Text) -> None:
    """Read the lists, compare them, write and show the recall."""
    read = [split(location).path for location in (found, truth)]
    answer(json, render, written(lambda: compared(found, truth), read, [(json, MEANS), (per_query, PER_QUERY)]))


def compared(found: str, truth: str) -> tieproof.RangeRecall:
    """Return the recall of the lists in the files; an error names the files that it is about."""
    lists = read_ranges(found), read_ranges(truth)
    try:
        return tieproof.range_recall(*lists)
    except InputError as error:
        named = {"found": found, "truth": truth}.get(str(error.argument), f"{found}, {truth}")
        raise InputError(f"{named}: {error}", error.argument) from error
