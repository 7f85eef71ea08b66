"""Arguments and commands of click whose help explains the arguments and shows examples."""

from collections.abc import Sequence
from typing import Any

import click


class Argument(click.Argument):
    """An argument with an explanation in the help text, which arguments of click have only from version 8.5 on."""

    def __init__(self, names: Sequence[str], meaning: str, **more: Any) -> None:
        super().__init__(names, **more)
        self.meaning = meaning


class Command(click.Command):
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
