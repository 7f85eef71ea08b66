"""`tieproof truth`, and `tieproof verify` for the folder of a truth."""

import warnings
from typing import Any

import tieproof
from tieproof.analyses.neighbors.formats import FORMATS
from tieproof.cli.exits import shows_progress
from tieproof.cli.files import naming
from tieproof.cli.options import COUNT, FILE, FOLDER, Option, Text, check_options, choice, command, repeated, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.errors import InputError
from tieproof.inputs.readers import read_embeddings
from tieproof.inputs.readers.ann_benchmarks import read_neighbors
from tieproof.inputs.shards.files import are_shards

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
        "A format to write; repeat it for more. Default: bigann and vecs.", choice(FORMATS), "--format", default=None
    ),
    check=Option("The lists of true neighbors to examine, in place of --out.", FILE),
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
    """Verify the truth in a folder by the files of its queries and of its gallery.

    given : the other options of `tieproof verify`, of which only memory, threads and exclude apply
    """
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


SAMPLE = 300
"""The number of random queries that are computed again."""
