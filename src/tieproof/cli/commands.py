"""The list of commands, and what the command line shows when none is given."""

import gc
from importlib import import_module

import click
from click.shell_completion import CompletionItem

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
"""Each name is a file of this folder, with underscores for hyphens; the file defines `command`."""

COMPLETE = "_TIEPROOF_COMPLETE"
"""The variable of the environment by which a shell asks for completions."""

HELP = (
    "Score embeddings and rankings so that ties never pay: every measure with its lowest, expected and highest value "
    "over all orderings of items at exactly the same distance. The same data gives the same number, to the last bit, "
    "in any order and on any machine."
)


class Commands(Command, click.Group):
    """The commands, each imported when it is called: importing all would take longer than some evaluations."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help text."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import the command of this name."""
        if cmd_name not in COMMANDS:
            from difflib import get_close_matches

            near = "".join(f" Did you mean {name!r}?" for name in get_close_matches(cmd_name, COMMANDS, 1))
            ctx.fail(f"No such command {cmd_name!r}.{near}")
        collects = gc.isenabled()
        gc.disable()  # imports leave no garbage, and collecting takes a tenth of their time
        try:
            command: click.Command = import_module(f"tieproof.cli.{cmd_name.replace('-', '_')}").command
        finally:
            if collects:
                gc.enable()
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin so, without importing the commands."""
        commands = [CompletionItem(name) for name in COMMANDS if name.startswith(incomplete)]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]


def show_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    """Print the version and stop."""
    if wanted and not ctx.resilient_parsing:
        say(f"tieproof {tieproof.__version__}")
        ctx.exit()


@click.command(
    cls=Commands,
    help=HELP,
    examples=[
        "tieproof demo",
        f'eval "$({COMPLETE}=bash_source tieproof)"  # completion in bash; zsh_source and fish_source exist, too',
    ],
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["--help", "-h"],
        "max_content_width": WIDEST,
        "show_default": True,
    },
)
@click.option(
    "--version",
    is_flag=True,
    callback=show_version,
    expose_value=False,
    is_eager=True,
    help="Show the version and exit.",
)
@click.option(
    "--traceback",
    is_flag=True,
    expose_value=False,
    help=f"Show the traceback of a defect of tieproof, as {TRACEBACK}=1 in the environment does.",
)
@click.pass_context
def program(ctx: click.Context) -> None:
    """Show the help text if no command is given."""
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())
