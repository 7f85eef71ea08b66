"""Arguments and commands of click whose help says what they are, and shows examples."""

from collections.abc import Sequence
from typing import Any

import click


class Argument(click.Argument):
    """An argument that says what it is, for click's own cannot before its version 8.5."""

    def __init__(self, names: Sequence[str], meaning: str, **more: Any) -> None:
        super().__init__(names, **more)
        self.meaning = meaning


class Command(click.Command):
    """A command whose help lists its arguments, too, and shows examples as they are typed."""

    def __init__(self, *args: Any, examples: Sequence[str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; what is wrong with them says which command it is about."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def get_short_help_str(self, limit: int = 0) -> str:
        """The first sentence, which is not cut off at any limit."""
        return str(self.help).partition("\n")[0].partition(". ")[0].removesuffix(".")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the arguments are, then what the options are."""
        arguments = [param for param in self.params if isinstance(param, Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([(each.human_readable_name, each.meaning) for each in arguments])
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, each in one line whatever its length."""
        with formatter.section("Examples"):
            formatter.write("".join(f"  {example}\n" for example in self.examples))
