"""`tieproof demo`."""

from tieproof.cli.output import show

HELP = "Show what ties do to scores, on 1,797 handwritten digits that come with the package."
EXAMPLES = "Example: tieproof demo"


def command() -> None:
    """Evaluate the digits."""
    from tieproof.cli import digits as demo

    show(demo.render, demo.run())
