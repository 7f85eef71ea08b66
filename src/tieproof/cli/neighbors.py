"""`tieproof neighbors`, `neighbor-recall` and `range-recall`: the lists that an index of neighbors returned."""

from pathlib import Path
from typing import Any

import tieproof
from tieproof.analyses.neighbors.certificate import NAME as CERTIFICATE
from tieproof.cli import options
from tieproof.cli.exits import shows_progress
from tieproof.cli.files import naming
from tieproof.cli.options import COUNT, Option, OptionKind, Text, check_options, command, shared
from tieproof.cli.output import Outputs, answer, showing, written
from tieproof.cli.truth import pairs_of
from tieproof.errors import InputError, warn
from tieproof.inputs.readers import read_embeddings, read_labels
from tieproof.inputs.readers.ann_benchmarks import read_neighbors, read_ranges, read_returned

RETURNED = ("ids", "distances", "scores", "counts")  # the files that an index returned
LABELS = ("labels", "gallery_labels", "groups", "gallery_groups", "categories")  # those of labels


@command(
    tieproof.evaluate_neighbors,
    "Score the lists that an index of nearest neighbors returned, with the whole interval that ties and the items "
    f"missing from the lists leave open. {options.TIE_STD}\n\n"
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
    save=options.save("tieproof.verify checks in Python"),
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


@command(
    tieproof.neighbor_recall,
    "Compute the share of the true k nearest neighbors that an index found, over all choices of the k nearest.\n\n"
    "The table also shows the recall that ann-benchmarks and big-ann-benchmarks compute from the same lists. Lists "
    "are read from .hdf5 and .npz files with neighbors and distances, as ann-benchmarks and VIBE write them "
    "(FILE:GROUP if there are several groups), from .npy and .ivecs files of ids, and from the binary files of "
    "big-ann-benchmarks with any extension. Without TRUTH the true neighbors are found by an exact search of the "
    "vectors of --gallery. TRUTH may be a folder that the command truth wrote, whose ties are complete.",
    (
        "tieproof neighbor-recall index.hdf5 sift-128-euclidean.hdf5 -k 10",
        "tieproof neighbor-recall found.ibin GT.public.1B.ibin -k 1 -k 10 --json recall.json",
        "tieproof neighbor-recall index.hdf5 truth/ -k 10",
        "tieproof neighbor-recall found.npy --queries query.u8bin --gallery base.u8bin -d euclidean -k 10",
    ),
    found="The neighbors that an index found.",
    truth="The true neighbors and their distances.",
    k=options.repeated("The number of nearest neighbors to find; repeat it for more.", COUNT, "-k", default=[10]),
    among=Option("The number of found neighbors that count for each query. Default: k.", COUNT),
    n_items=Option("The number of items in the gallery, if TRUTH is given.", COUNT),
    queries="The vectors of the queries, in place of TRUTH.",
    gallery="The vectors of the gallery, in place of TRUTH.",
    **shared("distance bits memory threads exclude explain json per_query"),
)
def neighbor_recall(outputs: Outputs, found: str, truth: Text, queries: Text, gallery: Text, **settings: Any) -> None:
    """Read the lists, compare them, write and show the recall."""
    check_options(**settings)
    if (truth is None) == (gallery is None) or (queries is None) != (gallery is None):
        raise InputError("The true neighbors are unknown: give either TRUTH, or both --queries and --gallery.")
    _check_folder(found, truth)
    files = {"found": found, "distances": found, "truth": truth, "queries": queries, "gallery": gallery}
    files["exclude"] = settings.pop("exclude")

    def compared() -> tieproof.NeighborRecall:
        lists = read_neighbors(found)
        arrays: dict[str, Any] = {
            name: read_embeddings(file) for name in ("queries", "gallery") if (file := files[name])
        }
        if truth is not None and Path(truth).is_dir():
            arrays["truth"] = truth
        elif truth is not None:
            arrays["truth"] = tuple(read_neighbors(truth))
            if arrays["truth"][1] is None:
                swapped = lists.distances is not None
                raise InputError(
                    f"{truth} contains ids without distances, so that ties cannot be seen. Give a file with both, or "
                    "--queries and --gallery to compute both."
                    + (f" If {found}, which has distances, is the truth, give it second." if swapped else ""),
                    "truth",
                )
            folder = Path(truth).parent
            if (folder / CERTIFICATE).is_file():
                warn(
                    f"{truth} lists neighbors, but nothing of the ties behind them. Give the folder {folder}, which "
                    "has both."
                )
        arrays |= {"exclude": pairs_of(files["exclude"]), "distances": lists.distances, "progress": shows_progress()}
        with naming(files):
            return tieproof.neighbor_recall(lists.ids, **arrays, **settings)

    answer(outputs, written(compared, files.values(), outputs))


@command(
    tieproof.range_recall,
    "Compute the share of the items within a radius of each query that an index found.\n\n"
    "Lists are read from .hdf5 and .npz files with neighbors and lims, and from the binary files of "
    "big-ann-benchmarks with any extension. An item that occurs twice in a list counts once. TRUTH may be a folder "
    "that tieproof truth wrote, with --radius.",
    ("tieproof range-recall ranges.hdf5 public.rangeres", "tieproof range-recall ranges.hdf5 truth/ --radius 0.5"),
    found="The items that an index found.",
    truth="The items that are within the radius.",
    radius=Option(
        "For the folder of a truth: the largest distance of an item that should be found.",
        OptionKind("RADIUS", options.ANY_NUMBER),
    ),
    **shared("explain json per_query"),
)
def range_recall(outputs: Outputs, found: str, truth: str, radius: float | None) -> None:
    """Read the lists, compare them, write and show the recall; an error names the files that it is about."""
    _check_folder(found, truth)

    def compared() -> tieproof.RangeRecall:
        true = truth if Path(truth).is_dir() else read_ranges(truth)
        lists = read_ranges(found)
        with naming({"found": found, "truth": truth, "radius": truth}):
            return tieproof.range_recall(lists, true, radius=radius)

    answer(outputs, written(compared, (found, truth), outputs))


def _check_folder(found: str, truth: Text) -> None:
    """Refuse the folder of a truth as what an index found, and the certificate in it as the truth."""
    if Path(found, CERTIFICATE).is_file():
        raise InputError(
            f"{found} is a folder of true neighbors. Give first what an index found, then the truth: "
            f"{truth or 'FOUND'} {found}"
        )
    if truth is not None and Path(truth).name == CERTIFICATE:
        raise InputError(f"{truth} is the certificate of a truth. Give its folder, {Path(truth).parent}.")
