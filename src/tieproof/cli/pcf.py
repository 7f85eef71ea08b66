"""`tieproof pcf`."""

import json
from collections.abc import Sequence
from typing import NamedTuple

import tieproof
from tieproof.cli.files import naming
from tieproof.cli.options import SHARE, command, repeated, shared
from tieproof.cli.output import Outputs, answer, written
from tieproof.inputs.readers import read_embeddings
from tieproof.inputs.readers.location import split
from tieproof.show.parts import WIDTH, table


class _Fractions(NamedTuple):
    """The fraction for each share of the variance."""

    explained: Sequence[float]
    pcf: Sequence[float]

    def to_json(self) -> str:
        return json.dumps(self._asdict(), indent=2)

    def to_text(self, width: int | None, color: bool) -> str:
        rows = [(f"{share:g}", f"{fraction:.4f}") for share, fraction in zip(*self, strict=True)]
        return table(("explained", "PCF"), [rows], width or WIDTH, color)


@command(
    tieproof.pcf,
    "Compute the principal components fraction (PCF): the share of the principal components that is needed to "
    "explain a share of the variance.\n\n"
    "The files are those that tieproof evaluate reads; labels in them are ignored.",
    ("tieproof pcf embeddings.npy", "tieproof pcf data.npz --explained 0.5 --explained 0.99 --json -"),
    **shared("embeddings"),
    explained=repeated("A share of the variance, from 0 to 1; repeat it for more.", SHARE),
    **shared("json"),
)
def pcf(outputs: Outputs, embeddings: str, explained: Sequence[float]) -> None:
    """Read the embeddings, compute the fractions, write and show them."""

    def fractions_of_file() -> _Fractions:
        array = read_embeddings(embeddings)
        with naming({"embeddings": str(split(embeddings).path)}):
            return _Fractions(explained, tieproof.pcf(array, explained).tolist())

    answer(outputs, written(fractions_of_file, [embeddings], outputs))
