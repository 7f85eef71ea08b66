"""The commands, their help, and what the command line shows when none is given; this imports nothing of NumPy."""

import gc
from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from typing import Any

import click
from click.shell_completion import CompletionItem

import tieproof
from tieproof.cli.exits import TRACEBACK, WIDEST, say

COMMANDS = {
    "evaluate": ("Score", "embeddings with labels"),
    "run": ("Score", "a run against judgments: files of TREC and others"),
    "scores": ("Score", "a table of scores with their relevance"),
    "neighbors": ("Score", "the lists that an index of nearest neighbors returned"),
    "diversity": ("Score", "a run whose documents are judged for subtopics"),
    "fnmr": ("Score", "false non-match rates at false match rates, over all pairs"),
    "det": ("Score", "error rates and decisions of trials with scores"),
    "open-set": ("Score", "first answers by a threshold, if some queries have no match"),
    "confidence": ("Score", "whether confidences tell right answers from wrong ones"),
    "pcf": ("Score", "the share of components that explains a share of variance"),
    "compare": ("Compare", "systems on the same queries, with verdicts"),
    "agree": ("Compare", "the rankings of two runs, by rank-biased overlap"),
    "leaderboard": ("Compare", "many runs by one measure, with the places ties leave open"),
    "noise": ("Compare", "two computations of the same embeddings"),
    "truth": ("Search", "find the true neighbors of queries, and certify them"),
    "neighbor-recall": ("Search", "the share of true neighbors that an index found"),
    "range-recall": ("Search", "the share of items within a radius that an index found"),
    "collisions": ("Check", "find the ties in all rankings"),
    "verify": ("Check", "repeat what a record or a truth claims, bit by bit"),
    "audit": ("Check", "attack an evaluator: can it be fooled?"),
    "competition": ("Organize", "make, check and hold a competition"),
    "judge": ("Organize", "run and score a system that nobody trusts"),
    "measures": ("Organize", "list all measures, or explain one"),
    "demo": ("Organize", "show how ties affect scores, on digits of the package"),
}
"""The group of each command, and its line in the help text; the file of that name in this folder defines it."""

_FILES = {  # of commands that have another name
    **dict.fromkeys(("neighbor-recall", "range-recall"), "neighbors"),
    **dict.fromkeys(("scores", "det", "diversity", "agree"), "lists"),
    **dict.fromkeys(("fnmr", "open-set", "collisions", "noise", "pcf", "confidence"), "embeddings"),
    "judge": "competition",
    "verify": "truth",
}

WRITTEN_BY = ("--json", "--save")  # the options that write a result; many programs call theirs -o
COMPLETE = "_TIEPROOF_COMPLETE"  # the variable of the environment by which a shell asks for completions


class Argument(click.Argument):
    """An argument with an explanation in the help text, which arguments of click have only from version 8.5 on."""

    def __init__(self, names: Sequence[str], meaning: str, **more: Any) -> None:
        super().__init__(names, **more)
        self.meaning = meaning


class CommandWithExamples(click.Command):
    """A command whose help also lists its arguments, and shows examples as they are typed."""

    def __init__(self, *args: Any, examples: Sequence[str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an error in them names the command."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            if isinstance(error, click.NoSuchOption) and error.option_name in ("-o", "--out", "--output"):
                known = [name for param in self.params for name in param.opts if name in WRITTEN_BY]
                if known:
                    raise click.UsageError(
                        f"{error.message} Did you mean {' or '.join(known)}?", error.ctx
                    ) from error
            raise

    def get_short_help_str(self, limit: int = 0) -> str:
        """Return the first sentence of the help text, uncut at any limit."""
        return str(self.help).partition("\n")[0].partition(". ")[0].removesuffix(".")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the explanations of the arguments, then those of the options."""
        arguments = [param for param in self.params if isinstance(param, Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(each.human_readable_name, each.meaning) for each in arguments])
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, each on one line of any length."""
        with formatter.section("Examples"):
            formatter.write("".join(f"  {example}\n" for example in self.examples))


class Commands(CommandWithExamples, click.Group):
    """The commands, each imported when it is called: importing all would take longer than some evaluations."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the help text."""
        return [*COMMANDS]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups of commands, a line for each."""
        for group, commands in groupby(COMMANDS.items(), lambda command: command[1][0]):
            with formatter.section(group):
                formatter.write_dl([(name, line) for name, (_, line) in commands])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import the command of this name."""
        if cmd_name not in COMMANDS:
            from difflib import get_close_matches

            near = "".join(f" Did you mean {name!r}?" for name in get_close_matches(cmd_name, COMMANDS, 1))
            ctx.fail(f"No such command {cmd_name!r}.{near}")
        collects = gc.isenabled()
        gc.disable()  # imports leave no garbage, and collecting takes a tenth of their time
        try:
            file = import_module(f"tieproof.cli.{_FILES.get(cmd_name, cmd_name)}")
        finally:
            if collects:
                gc.enable()
        command: click.Command = getattr(file, cmd_name.replace("-", "_"))
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
    help="Score embeddings and rankings so that ties never pay: every measure with its lowest, expected and highest "
    "value over all orderings of items at exactly the same distance. The same data gives the same number, to the "
    "last bit, in any order and on any machine.",
    examples=[
        "tieproof demo",
        f'eval "$({COMPLETE}=bash_source tieproof)"  # completion in bash; zsh_source and fish_source exist, too',
    ],
    invoke_without_command=True,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": WIDEST, "show_default": True},
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
