"""The command line: read files, evaluate, show a table; one line on standard error where something is wrong.

arguments ──► commands.py: which command ──► evaluate.py, run.py, fnmr.py, pcf.py, … ──► output.py: screen and files
          ──► exits.py: whatever they raise becomes one line and a status
"""

import atexit
import gc
import sys
from collections.abc import Sequence
from typing import NoReturn

from tieproof.cli.commands import program
from tieproof.cli.exits import status_of

__all__ = ["main"]

atexit.register(gc.freeze)  # a process that ends need not look for cycles once more: 20 ms


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status.

    0 : all is well
    2 : bad input or usage; one line on standard error says what is wrong
    1 : a defect of tieproof
    130 : interrupted from the keyboard; 128 + n: ended by the signal n, such as 143 by SIGTERM

    A reader that closes the pipe early, such as `head`, changes no status. `tieproof audit` has two more of its own,
    and `tieproof verify` one.
    """
    sys.exit(status_of(program, sys.argv[1:] if args is None else list(args)))
