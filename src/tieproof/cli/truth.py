"""`tieproof truth`, and `tieproof verify`, which repeats what a truth or a record claims."""

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

import tieproof
from tieproof.analyses.neighbors.certificate import NAME as CERTIFICATE
from tieproof.analyses.neighbors.formats import FORMATS
from tieproof.cli import options
from tieproof.cli.exits import shows_progress
from tieproof.cli.files import as_sides, evaluated, naming
from tieproof.cli.options import COUNT, FOLDER, Option, Text, argument, check_options, command, repeated, shared
from tieproof.cli.output import Answer, Outputs, answer, written
from tieproof.cli.run import evaluated_files, read_files
from tieproof.errors import InputError
from tieproof.evaluation.saving import EXTENSION
from tieproof.inputs.readers import read_embeddings
from tieproof.inputs.readers.ann_benchmarks import read_neighbors
from tieproof.inputs.shards.files import are_shards

DISAGREES = 4  # the exit status of a verification
SAMPLE = 300  # the number of random queries of a truth that are computed again
CHOSEN = ("bigann", "vecs")


@command(
    tieproof.truth,
    "Find the true neighbors of queries, with all ties at rank k, and certify them. "
    "Or examine those that others published, with --check.\n\n"
    "The folder OUT gets truth.npz, the files of --format and certificate.json, with digests of the data and of the "
    "neighbors. If the command is killed, the same command continues where it stopped. tieproof verify OUT QUERIES "
    "GALLERY checks a truth, and tieproof neighbor-recall takes OUT as the truth.\n\n"
    "Files of vectors are those that tieproof evaluate reads. A folder, a pattern or a URL of shards is read piece "
    "by piece within --memory, here or by the workers of --cluster.",
    (
        "tieproof truth queries.fbin base.fbin -k 100 -d euclidean --out truth/",
        "tieproof truth queries.npy base.npy --format hdf5 --format parquet --out truth/",
        "tieproof truth queries.npy base.npy --exclude filtered.npy --out truth/",
        "tieproof truth queries.fbin base.fbin -d euclidean --check theirs.hdf5",
    ),
    queries="The vectors of the queries.",
    gallery="The vectors of the items; ids are their positions.",
    k=Option(
        "How many nearest items to find. Default: 100; with --check the length of the lists.",
        COUNT,
        ("-k",),
        more={"default": None},
    ),
    out=Option("The folder to write to, new or empty.", FOLDER, more={"required": False}),
    formats=repeated(
        "A format to write; repeat it for more. Default: bigann and vecs.",
        options.choice(FORMATS),
        "--format",
        default=None,
    ),
    check=Option("The lists of true neighbors to examine, in place of --out.", options.FILE),
    **shared("distance bits memory threads cluster exclude explain json per_query"),
)
def truth(
    outputs: Outputs,
    queries: str,
    gallery: str,
    out: Text,
    formats: tuple[str, ...] | None,
    check: Text,
    **settings: Any,
) -> None:
    """Read the vectors; write a truth, or examine one; and show what is certified or found."""
    check_options(**{name: value for name, value in settings.items() if name != "k"})
    if (out is None) == (check is None):
        raise InputError("Give either --out, the folder to write to, or --check, the lists to examine.")
    per_query = [path for path, kinds in outputs if path and ".csv" in kinds]
    if per_query and check is None:
        raise InputError("--per-query writes the faults of each list; it needs --check.")
    k, cluster, exclude = (settings.pop(name) for name in ("k", "cluster", "exclude"))
    for option, value in (("format", formats), ("cluster", cluster), ("exclude", exclude)):
        if value and out is None:
            raise InputError(f"--{option} is for a truth that is written to --out; leave it out.")
    files = {"queries": queries, "gallery": gallery, "truth": check, "exclude": exclude}

    def made() -> Any:
        sides = rows_of(queries), rows_of(gallery)
        with naming(files):
            if check is not None:
                ids = read_neighbors(check).ids
                return tieproof.examine_truth(ids, *sides, k=k, progress=shows_progress(), **settings)
            given: dict[str, Any] = {"out": out, "formats": formats or CHOSEN, "progress": shows_progress()}
            given["exclude"] = pairs_of(exclude)
            return tieproof.truth(sides[0], sides[1], k or 100, cluster=cluster, **given, **settings)

    answer(outputs, written(made, files.values(), outputs))


def rows_of(location: str) -> Any:
    """Read vectors into memory, or open those of shards, which are read piece by piece."""
    return tieproof.open(location) if are_shards(location) else read_embeddings(location)


def pairs_of(location: Text) -> Any:
    """Read the pairs that are left out; None: there is no file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tieproof.InputWarning)  # names of columns are no dimensions
        return None if location is None else read_embeddings(location)


def verified_folder(
    folder: str, data: str, more: Text, sample: int | None, whole: bool, outputs: Outputs, **given: Any
) -> tieproof.TruthVerification:
    """Verify the truth in a folder; of the other options of `tieproof verify`, memory, threads and exclude apply."""
    memory, threads, exclude = (given.pop(name) for name in ("memory", "threads", "exclude"))
    strange = [name for name, value in given.items() if value is not None]
    if strange:
        raise InputError(
            f"--{strange[0].replace('_', '-')} is for records, but {folder} is a folder. Leave the option out."
        )
    if more is None:
        raise InputError(f"{folder} is the folder of a truth, which is verified with its queries and its gallery.")
    if whole and sample is not None:
        raise InputError("--all and --sample were both given. Give only one.")
    check_options(memory=memory, threads=threads)

    def verified() -> tieproof.TruthVerification:
        sides = rows_of(data), rows_of(more)
        with naming({"truth": folder, "queries": data, "gallery": more, "exclude": exclude}):
            return tieproof.verify_truth(
                folder,
                *sides,
                exclude=pairs_of(exclude),
                sample=None if whole else sample or SAMPLE,
                memory=memory,
                threads=threads,
                progress=shows_progress(),
            )

    return written(verified, (data, more, exclude), outputs)


@command(
    tieproof.evaluate,
    "Repeat the evaluation of a record, or the search of a truth, and report whether every bit agrees.\n\n"
    "RECORD is a file that tieproof evaluate --save or tieproof run --save wrote. It contains the settings of the "
    "evaluation; give the data again: embeddings and labels, or qrels and a run, with the items in any order.\n\n"
    "Or RECORD is a folder that tieproof truth wrote, DATA its queries and MORE its gallery. Some of the queries, "
    "chosen at random, are computed again; the answer tells how probably wrong neighbors escape.\n\n"
    f"Exit status: 0 if everything agrees, {DISAGREES} if anything differs, 2 for bad input.",
    (
        "tieproof verify embeddings.tieproof embeddings.npy labels.npy",
        "tieproof verify queries.tieproof queries.npz --gallery gallery.npz",
        "tieproof verify run.tieproof qrels.txt run.txt",
        "tieproof verify truth/ queries.fbin base.fbin",
        "tieproof verify truth/ queries.fbin base.fbin --all",
    ),
    record=argument("The record, a file that ends in .tieproof, or the folder of a truth."),
    data=argument("The embeddings, the qrels of a run, or the queries of a truth."),
    more=argument(
        "The labels, the run, or the gallery of a truth. Default: the labels in the file of the embeddings.",
        required=False,
    ),
    sample=Option("How many random queries of a truth are computed again. Default: 300.", COUNT),
    whole=options.flag("Compute all queries of a truth again.", "--all"),
    **shared(
        "exclude gallery gallery_labels groups gallery_groups categories confidence documents memory threads json"
    ),
)
def verify(outputs: Outputs, record: str, sample: int | None, whole: bool, exclude: Text, **given: Any) -> None:
    """Read the record and the data, evaluate again, compare, and show the verification."""
    found: tieproof.Verification | tieproof.TruthVerification
    beside = Path(record).parent.joinpath(CERTIFICATE).is_file() and not record.endswith(EXTENSION)
    if Path(record).is_dir() or beside:  # a file in the folder of a truth is refused by name
        found = verified_folder(record, sample=sample, whole=whole, outputs=outputs, exclude=exclude, **given)
    elif sample is not None or whole or exclude:
        raise InputError(
            f"--sample, --all and --exclude are for the folder of a truth, but {record} is none. Leave them out."
        )
    else:
        known = tieproof.load(record)
        found = with_data(partial(tieproof.verify, known), known.evaluated.origin.call, record, outputs, **given)
    answer(outputs, found)
    if not found.agrees:
        raise click.exceptions.Exit(DISAGREES)


def with_data(
    function: Callable[..., Answer],
    call: str,
    record: str,
    outputs: Outputs,
    *,
    data: str,
    more: Text,
    categories: Text,
    documents: Text = None,
    **given: Any,
) -> Answer:
    """Apply a function to the data of a record of this call, and write what it returns to the outputs."""
    memory, threads = given.pop("memory"), given.pop("threads")
    if documents and call != "evaluate_run":
        raise InputError(f"--documents is of a run, but {record} is a record of {call}; leave it out.")
    if call == "evaluate_run":
        if more is None or any(given.values()):
            raise InputError(
                f"{record} is the record of a run; give the qrels and the run, and --categories or --documents if it "
                "was evaluated with them."
            )
        pairs = {"categories": categories, "documents": documents}
        read = [Path(path) for path in (record, data, more, categories, documents) if path]
        return written(lambda: evaluated_files(function, *read_files((data, more), pairs)), read, outputs)
    if call in ("evaluate", "evaluate_answers"):
        given |= {"embeddings": data, "labels": more, "categories": categories}
        sides = as_sides(given)

        def with_given(embeddings: Any, labels: Any = None, **options: Any) -> Answer:
            """Leave out what was not given, because some calls do not take it."""
            given_ones = {name: value for name, value in options.items() if value is not None}
            return function(embeddings, labels, **given_ones)

        return evaluated(with_given, sides, outputs, memory=memory, threads=threads)
    raise InputError(f"{record} is a record of {call}; check it in Python, with tieproof.verify.")
