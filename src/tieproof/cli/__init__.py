"""The command line reads files, evaluates them and shows a table; an error is one line on standard error.

arguments ──► commands.py: which command ──► evaluate.py, run.py, lists.py, … ──► output.py: screen and files
          ──► exits.py: an exception becomes one line and an exit status
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from click import Command

__all__ = ["main"]

atexit.register(gc.freeze)  # skips the last garbage collection of a process that ends: 20 ms


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status.

    0 : success
    2 : bad input or usage; one line on standard error says what is wrong
    1 : a defect of tieproof
    130 : interrupted from the keyboard; 128 + n: ended by the signal n, such as 143 by SIGTERM

    A reader that closes the pipe early, such as `head`, does not change the status. `tieproof audit` and `tieproof
    competition check` have two more statuses, and `tieproof verify` has one more.
    """
    try:
        from tieproof.cli.commands import COMPLETE, program
        from tieproof.cli.exits import status_of
    except KeyboardInterrupt:  # while libraries are imported, which `status_of` comes with
        print("Interrupted; no unfinished file is left.", file=sys.stderr)
        sys.exit(130)
    if asked := os.environ.get(COMPLETE):
        sys.exit(complete(program, COMPLETE, asked))
    sys.exit(status_of(program, sys.argv[1:] if args is None else list(args)))


def complete(program: "Command", variable: str, asked: str) -> int:
    """Answer a shell, which asks for its script or for the words that may follow; a wrong command has none."""
    from click import ClickException
    from click.shell_completion import shell_complete

    with suppress(ClickException):
        return shell_complete(program, {}, "tieproof", variable, asked)
    return 0
