"""`tieproof measures`."""

from collections.abc import Sequence

import click

from tieproof.cli.documented import Command
from tieproof.cli.options import argument, complete_measure
from tieproof.cli.output import show
from tieproof.views.text.measures import find, render

HELP = (
    "Show the measures: meaning, formula, parameters, source, and their names in other libraries.\n\n"
    "With NAMEs only these measures are shown; the names of other libraries are understood, too."
)

EXAMPLES = ("tieproof measures", "tieproof measures nDCG", "tieproof measures map_cut_10")


@click.command(cls=Command, help=HELP, examples=EXAMPLES)
@argument(
    "names",
    nargs=-1,
    metavar="[NAME]...",
    meaning="The measures to show. Default: all.",
    shell_complete=complete_measure,
)
def command(names: Sequence[str]) -> None:
    """Show the measures of the registry."""
    show(render, find(names))
