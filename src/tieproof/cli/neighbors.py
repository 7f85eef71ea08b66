"""`tieproof neighbors`."""

from collections.abc import Mapping
from typing import Any

import click

import tieproof
from tieproof.cli import options, output
from tieproof.cli.documented import Command
from tieproof.cli.options import (
    TIE_STD,
    Text,
    check_options,
    choice_option,
    file_argument,
    file_option,
)
from tieproof.cli.output import answer, page_of, showing, written
from tieproof.errors import InputError
from tieproof.evaluation.neighbors import SEARCHES
from tieproof.evaluation.text import render
from tieproof.inputs.readers import read_labels
from tieproof.inputs.readers.location import split
from tieproof.inputs.readers.neighbors import read_returned
from tieproof.records.writing import RECORDS
from tieproof.show.files import MEANS, PER_QUERY, PICTURES

HELP = (
    "Score the lists that an index of nearest neighbours returned, with the whole interval that ties and the items "
    f"missing from the lists leave open. {TIE_STD}\n\n"
    "IDS has one row for each query: the positions in the gallery of the items found, and -1 where nothing was "
    "found. DISTANCES has their distances in the same shape; smaller is nearer. Without DISTANCES and --scores each "
    "row is a ranking in the order given. Without --gallery-labels every item queries all the others "
    "(leave-one-out), and is left out of its own list.\n\n"
    "The files are those that tieproof evaluate reads. Name one of several arrays in a file after a colon: "
    "found.npz:ids. By default the array called ids (or neighbors), distances, scores or counts is read."
)

EXAMPLES = (
    "tieproof neighbors ids.npy distances.npy --labels labels.npy",
    "tieproof neighbors ids.npy --scores scores.npy --labels labels.npy -m P@1,P@5",
    "tieproof neighbors found.npz found.npz --labels labels.npy --search approximate",
    "tieproof neighbors ids.npy distances.npy --labels labels.npy --search returned -m P@10",
    "tieproof neighbors ids.npy distances.npy --labels labels.npy --gallery-labels gallery_labels.npy",
    "tieproof neighbors ids.npy --labels labels.npy --json result.json --save neighbors.tieproof",
)

RETURNED = ("ids", "distances", "scores", "counts")
"""What an index returned; all other files contain labels."""


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@file_argument("ids", meaning="The items found for each query, nearest first.")
@file_argument("distances", required=False, meaning="The distances of these items; smaller is nearer.")
@file_option("--scores", text="Scores in place of DISTANCES; larger is nearer.")
@file_option(
    "--counts", text="The number of entries in each row that count, if the index fills up the rest (usearch)."
)
@file_option("--labels", required=True, text="The labels of the queries.")
@file_option("--gallery-labels", text="The labels of the gallery. Default: the queries are the gallery.")
@options.groups
@options.gallery_groups
@choice_option(
    "--search",
    default="exact",
    text="What is known about items that are not listed. exact: none is nearer than the last one listed; "
    "approximate: nothing; returned: they count as not retrieved, so that only what was returned is scored.",
    choices=SEARCHES,
)
@options.measures
@options.categories
@options.average
@options.empty
@options.ci
@options.json
@options.per_query
@options.plot
@options.save
@output.report
def command(
    search: str,
    measures: Any,
    average: str,
    empty: str,
    ci: float | None,
    json: Text,
    per_query: Text,
    plot: Text,
    save: Text,
    report: Text,
    **files: Text,
) -> None:
    """Read the lists, evaluate them, write and show the result."""
    check_options(measures=measures)
    if files["distances"] and files["scores"]:
        raise InputError("DISTANCES and --scores both define what is nearer; give only one of them.")
    given = {name: location for name, location in files.items() if location}
    settings = {"search": search, "measures": measures, "average": average, "empty": empty}
    result = written(
        lambda: evaluated_files(given, settings, ci),
        [split(location).path for location in given.values()],
        [
            *((json, MEANS), (per_query, PER_QUERY), (plot, PICTURES), (save, RECORDS)),
            (report, page_of(report, "evaluation.page")),
        ],
    )
    answer(json, render, result)


def evaluated_files(files: Mapping[str, str], settings: Mapping[str, Any], ci: float | None) -> tieproof.Result:
    """Evaluate the lists in the files; an error names the files that it is about."""
    arrays = {
        name: read_returned(location, name) if name in RETURNED else read_labels(location)
        for name, location in files.items()
    }
    try:
        return showing(tieproof.evaluate_neighbors, ci)(**arrays, **settings)
    except InputError as error:
        about = (error.argument,) if isinstance(error.argument, str) else error.argument or ()
        named = [files[argument] for argument in about if argument in files]
        raise InputError(f"{', '.join(named or files.values())}: {error}", error.argument) from error
