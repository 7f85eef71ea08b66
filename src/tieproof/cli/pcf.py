"""`tieproof pcf`."""

import json as json_format
from collections.abc import Sequence
from typing import NamedTuple

import click

import tieproof
from tieproof.cli import options
from tieproof.cli.documented import Command
from tieproof.cli.options import Text, share_option
from tieproof.cli.output import answer, written
from tieproof.errors import InputError
from tieproof.inputs.readers import read_embeddings
from tieproof.inputs.readers.location import split
from tieproof.show.files import MEANS
from tieproof.show.parts import WIDTH, table

HELP = (
    "Compute the principal components fraction (PCF): the share of the principal components that is needed to "
    "explain a share of the variance.\n\n"
    "The files are those that tieproof evaluate reads; labels in them are ignored."
)

EXAMPLES = (
    "tieproof pcf embeddings.npy",
    "tieproof pcf data.npz --explained 0.5 --explained 0.99 --json -",
)


class Fractions(NamedTuple):
    """The fraction for each share of the variance."""

    explained: Sequence[float]
    pcf: Sequence[float]

    def to_json(self) -> str:
        """Return the shares and the fractions as JSON."""
        return json_format.dumps(self._asdict(), indent=2)


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@options.embeddings
@share_option(
    "--explained", multiple=True, default=[0.5], text="A share of the variance, from 0 to 1; repeat it for more."
)
@options.json
def command(embeddings: str, explained: Sequence[float], json: Text) -> None:
    """Read the embeddings, compute the fractions, write and show them."""
    path = split(embeddings).path

    def fractions_of_file() -> Fractions:
        array = read_embeddings(embeddings)
        try:
            return Fractions(explained, tieproof.pcf(array, explained).tolist())
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    answer(json, render, written(fractions_of_file, [path], [(json, MEANS)]))


def render(fractions: Fractions, width: int | None, color: bool) -> str:
    """Return a table with a row for each share."""
    rows = [(f"{share:g}", f"{fraction:.4f}") for share, fraction in zip(*fractions, strict=True)]
    return table(("explained", "PCF"), [rows], width or WIDTH, color)
