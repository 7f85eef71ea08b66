"""All commands, and what the command line shows without one."""

from typing import Annotated

import typer

import tieproof
from tieproof.cli import audit, collisions, demo, evaluate, fnmr, measures, pcf, run
from tieproof.cli.exits import TRACEBACK
from tieproof.cli.output import say

app = typer.Typer(
    name="tieproof",
    help="Score embeddings and rankings so that ties never pay: every measure with its lowest, expected and highest "
    "value over all orderings of items at exactly the same distance. The same data gives the same number, to the "
    "last bit, whatever its order and whatever the machine.",
    epilog="Example: tieproof demo",
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
)

app.command("evaluate", help=evaluate.HELP, epilog=evaluate.EXAMPLES)(evaluate.command)
app.command("run", help=run.HELP, epilog=run.EXAMPLES)(run.command)
app.command("fnmr", help=fnmr.HELP, epilog=fnmr.EXAMPLES)(fnmr.command)
app.command("pcf", help=pcf.HELP, epilog=pcf.EXAMPLES)(pcf.command)
app.command("collisions", help=collisions.HELP, epilog=collisions.EXAMPLES)(collisions.command)
app.command("audit", help=audit.HELP, epilog=audit.EXAMPLES)(audit.command)
app.command("measures", help=measures.HELP, epilog=measures.EXAMPLES)(measures.command)
app.command("demo", help=demo.HELP, epilog=demo.EXAMPLES)(demo.command)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        say(f"tieproof {tieproof.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
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
