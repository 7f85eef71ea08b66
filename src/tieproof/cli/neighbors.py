"""`tieproof neighbors`."""

from typing import Any

import tieproof
from tieproof.cli.files import naming
from tieproof.cli.options import TIE_STD, Option, check_options, command, save, shared
from tieproof.cli.output import Outputs, answer, showing, written
from tieproof.errors import InputError
from tieproof.inputs.readers import read_labels
from tieproof.inputs.readers.ann_benchmarks import read_returned

RETURNED = ("ids", "distances", "scores", "counts")
LABELS = ("labels", "gallery_labels", "groups", "gallery_groups", "categories")
"""The files that an index returned, and those of labels."""


@command(
    tieproof.evaluate_neighbors,
    "Score the lists that an index of nearest neighbors returned, with the whole interval that ties and the items "
    f"missing from the lists leave open. {TIE_STD}\n\n"
    "IDS has one row for each query: the positions in the gallery of the items found, and -1 where nothing was "
    "found. DISTANCES has their distances in the same shape; smaller is nearer. Without DISTANCES and --scores each "
    "row is a ranking in the order given. Without --gallery-labels every item queries all the others "
    "(leave-one-out), and is left out of its own list.\n\n"
    "The files are those that tieproof evaluate reads. Name one of several arrays in a file after a colon: "
    "found.npz:ids. By default the array called ids (or neighbors), distances, scores or counts is read.",
    (
        "tieproof neighbors ids.npy distances.npy --labels labels.npy",
        "tieproof neighbors ids.npy --scores scores.npy --labels labels.npy -m P@1,P@5",
        "tieproof neighbors found.npz found.npz --labels labels.npy --search approximate",
        "tieproof neighbors ids.npy distances.npy --labels labels.npy --search returned -m P@10",
        "tieproof neighbors ids.npy distances.npy --labels labels.npy --gallery-labels gallery_labels.npy",
        "tieproof neighbors ids.npy --labels labels.npy --json result.json --save neighbors.tieproof",
    ),
    ids="The items found for each query, nearest first.",
    distances="The distances of these items; smaller is nearer.",
    scores="Scores in place of DISTANCES; larger is nearer.",
    counts="The number of entries in each row that count, if the index fills up the rest (usearch).",
    labels=Option("The labels of the queries.", more={"required": True}),
    gallery_labels="The labels of the gallery. Default: the queries are the gallery.",
    **shared("groups gallery_groups"),
    search="What is known about items that are not listed. exact: none is nearer than the last one listed; "
    "approximate: nothing; returned: they count as not retrieved, so that only what was returned is scored.",
    **shared("duplicates measures categories average empty ci explain json per_query plot"),
    save=save("tieproof.verify checks in Python"),
    **shared("report"),
)
def neighbors(outputs: Outputs, ci: float | None, **settings: Any) -> None:
    """Read the lists, evaluate them, write and show the result; an error names the files that it is about."""
    check_options(measures=settings["measures"])
    files = {name: settings.pop(name) for name in [*settings] if name in RETURNED + LABELS}
    if files["distances"] and files["scores"]:
        raise InputError("DISTANCES and --scores both define what is nearer; give only one of them.")
    given = {name: location for name, location in files.items() if location}

    def evaluated() -> tieproof.Result:
        arrays: dict[str, Any] = {
            name: read_returned(location, name) if name in RETURNED else read_labels(location)
            for name, location in given.items()
        }
        with naming(given):
            return showing(tieproof.evaluate_neighbors, ci)(**arrays, **settings)

    answer(outputs, written(evaluated, given.values(), outputs))
