"""All commands, and what the command line shows without one."""

import gc
from importlib import import_module

import click

import tieproof
from tieproof.cli.documented import Command
from tieproof.cli.exits import TRACEBACK
from tieproof.cli.streams import WIDEST, say

COMMANDS = (
    "evaluate",
    "run",
    "neighbors",
    "compare",
    "verify",
    "fnmr",
    "pcf",
    "collisions",
    "neighbor-recall",
    "range-recall",
    "audit",
    "judge",
    "leaderboard",
    "mteb",
    "competition",
    "measures",
    "demo",
)
"""Each is a file of this folder, with a `command`; a hyphen is written as an underscore there."""

HELP = (
    "Score embeddings and rankings so that ties never pay: every measure with its lowest, expected and highest value "
    "over all orderings of items at exactly the same distance. The same data gives the same number, to the last bit, "
    "whatever its order and whatever the machine."
)


class Commands(Command, click.Group):
    """The commands, each imported when it is asked for: all of them take longer to import than some evaluations."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order of the help text."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command of this name."""
        if cmd_name not in COMMANDS:
            from difflib import get_close_matches

            near = "".join(f" Did you mean {name!r}?" for name in get_close_matches(cmd_name, COMMANDS, 1))
            ctx.fail(f"No such command {cmd_name!r}.{near}")
        collects = gc.isenabled()
        gc.disable()  # an import throws nothing away, and looking for it takes a tenth of the time
        try:
            command: click.Command = import_module(f"tieproof.cli.{cmd_name.replace('-', '_')}").command
        finally:
            if collects:
                gc.enable()
        return command


def show_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        say(f"tieproof {tieproof.__version__}")
        ctx.exit()


@click.command(
    cls=Commands,
    help=HELP,
    examples=["tieproof demo"],
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["--help", "-h"],
        "max_content_width": WIDEST,
        "show_default": True,
    },
)
@click.option(
    "--version", is_flag=True, callback=show_version, expose_value=False, is_eager=True, help="Show the version."
)
@click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    help=f"Show where a defect of tieproof is; so does {TRACEBACK}=1.",
)
@click.pass_context
def program(ctx: click.Context) -> None:
    """Without a command, show what there is."""
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())
