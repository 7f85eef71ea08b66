"""All commands, and what the command line shows without one."""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

import tieproof
from tieproof.cli.exits import TRACEBACK
from tieproof.cli.output import say

COMMANDS = ("evaluate", "run", "compare", "verify", "fnmr", "pcf", "collisions", "audit", "measures", "demo")
"""Each is a file of this folder, with `command`, `HELP` and `EXAMPLES`."""


def app_for(args: Sequence[str]) -> typer.Typer:
    """The program with the command that the arguments ask for; with all of them where they ask for none of these.

    What the others import takes longer than some evaluations.
    """
    asked = next((word for word in args if not word.startswith("-")), None)
    app = typer.Typer(
        name="tieproof",
        help="Score embeddings and rankings so that ties never pay: every measure with its lowest, expected and "
        "highest value over all orderings of items at exactly the same distance. The same data gives the same "
        "number, to the last bit, whatever its order and whatever the machine.",
        epilog="Example: tieproof demo",
        add_completion=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(top)
    for name in [asked] if asked in COMMANDS else COMMANDS:
        file = import_module(f"tieproof.cli.{name}")
        app.command(name, help=file.HELP, epilog=file.EXAMPLES)(file.command)
    return app


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        say(f"tieproof {tieproof.__version__}")
        raise typer.Exit


def top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
    show_traceback: Annotated[
        bool, typer.Option("--traceback", help=f"Show where a defect of tieproof is; so does {TRACEBACK}=1.")
    ] = False,
) -> None:
    """Without a command, show what there is."""
    if context.invoked_subcommand is None:
        say(context.get_help())
