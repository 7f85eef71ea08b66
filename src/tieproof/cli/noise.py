"""`tieproof noise`."""

from typing import Any

import tieproof
from tieproof.cli.files import naming
from tieproof.cli.options import FILE, Option, Text, argument, check_options, command, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.errors import InputError
from tieproof.inputs.readers import read_embeddings, read_labels
from tieproof.inputs.readers.location import split


@command(
    tieproof.noise,
    "Compare two computations of the same embeddings, such as on two machines or in two formats: how far rows moved, "
    "which scores that may change, and which it does change; and whether a comparison with another model survives "
    "it.\n\n"
    "EMBEDDINGS and AGAIN have the same items in the same order. Every item queries all the others.",
    (
        "tieproof noise here.npy there.npy labels.npy",
        "tieproof noise here.npy there.npy labels.npy -d euclidean -m AP -m P@1",
        "tieproof noise here.npy there.npy labels.npy --json noise.json --per-query queries.csv",
        "tieproof noise here.npy there.npy labels.npy --against other.npy --against-again other_there.npy",
    ),
    embeddings=argument("The vectors, one per row.", FILE),
    again=argument("The same items, computed again.", FILE),
    labels=argument("The labels, one per row. Default: those in the file of EMBEDDINGS.", FILE, required=False),
    against=Option("The embeddings of another model, which is compared with the first computation.", FILE),
    against_again=Option("The same items of the other model, computed again.", FILE),
    **shared("distance measures memory threads explain json per_query"),
)
def noise(
    outputs: Outputs, embeddings: str, again: str, labels: Text, against: Text, against_again: Text, **settings: Any
) -> None:
    """Read the files, compare the two computations, write and show the report."""
    check_options(**settings)
    labels = labels or str(split(embeddings).path)
    if against_again and not against:
        raise InputError("--against-again is another computation of the embeddings of --against; add that, too.")
    files = {"embeddings": embeddings, "noise": again, "labels": labels}
    others = {name: file for name, file in (("embeddings", against), ("noise", against_again)) if file}

    def compared() -> tieproof.NoiseReport:
        known = read_labels(labels)

        def read(file: Text) -> Any:
            return file and read_embeddings(file, apart=(), labels=known)

        rows, moved, other, other_moved = map(read, (embeddings, again, against, against_again))
        with naming(others | {"labels": labels}):
            compared_with = None if other is None else tieproof.evaluate(other, known, noise=other_moved, **settings)
        with naming(files):
            return tieproof.noise(rows, moved, known, against=compared_with, **settings)

    answer(outputs, written(compared, (*files.values(), *others.values()), outputs))
