"""`tieproof noise`."""

from typing import Any

import tieproof
from tieproof.cli.files import naming
from tieproof.cli.options import FILE, Text, argument, check_options, command, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.inputs.readers import read_embeddings, read_labels
from tieproof.inputs.readers.location import split

HELP = (
    "Compare two computations of the same embeddings, such as on two machines or in two formats: how far rows moved, "
    "which scores that may change, and which it does change.\n\n"
    "EMBEDDINGS and AGAIN have the same items in the same order. Every item queries all the others."
)

EXAMPLES = (
    "tieproof noise here.npy there.npy labels.npy",
    "tieproof noise here.npy there.npy labels.npy -d euclidean -m AP -m P@1",
    "tieproof noise here.npy there.npy labels.npy --json noise.json",
)


@command(
    tieproof.noise,
    HELP,
    EXAMPLES,
    embeddings=argument("The vectors, one per row.", FILE),
    again=argument("The same items, computed again.", FILE),
    labels=argument("The labels, one per row. Default: those in the file of EMBEDDINGS.", FILE, required=False),
    **shared("distance measures memory threads json"),
)
def noise(outputs: Outputs, embeddings: str, again: str, labels: Text, **settings: Any) -> None:
    """Read the files, compare the two computations, write and show the report."""
    check_options(**settings)
    labels = labels or str(split(embeddings).path)
    files = {"embeddings": embeddings, "noise": again, "labels": labels}

    def compared() -> tieproof.NoiseReport:
        known = read_labels(labels)
        rows, others = (read_embeddings(file, apart=(), labels=known) for file in (embeddings, again))
        with naming(files):
            return tieproof.noise(rows, others, known, **settings)

    answer(outputs, written(compared, [split(file).path for file in files.values()], outputs))
