"""Printing on standard output and standard error, also if they are closed."""

import os
import sys
from typing import TextIO

WIDEST = 100
"""The most columns of a terminal that a text uses."""


def say(text: str) -> None:
    r"""Print a text; letters that standard output cannot encode are printed as escapes such as \xe4.

    A reader such as `head` may close the pipe early: that is no error, and does not change the exit status.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        discard(sys.stdout)


def complain(line: str) -> None:
    """Print a line on standard error, unless it is closed."""
    try:
        if sys.stderr is not None:  # with None, print would use standard output
            print(line, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO | None) -> None:
    """Discard unwritten output, which the interpreter would otherwise report at exit; a closed stream is None."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_terminal(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal; a closed stream is None."""
    return stream is not None and stream.isatty()
