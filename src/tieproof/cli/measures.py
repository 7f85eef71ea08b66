"""`tieproof measures`."""

from typing import Annotated

import typer

from tieproof.cli.output import show
from tieproof.views.text.measures import find, render

HELP = (
    "Show the measures: meaning, formula, parameters, source, and what other libraries call them.\n\n"
    "With names, only these; names of other libraries are understood, too."
)

EXAMPLES = """Examples:

tieproof measures

tieproof measures nDCG

tieproof measures map_cut_10
"""


def command(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Default: all of them.")] = None,
) -> None:
    """Show what the registry holds."""
    show(render, find(names or []))
