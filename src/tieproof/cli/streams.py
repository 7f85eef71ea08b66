"""Standard output and standard error, whoever reads them."""

import os
import sys
from typing import TextIO

WIDEST = 100
"""Columns of a terminal that texts take at most."""


def say(text: str) -> None:
    r"""Print a text; letters that standard output cannot hold appear as \xe4 and the like.

    A reader that has seen enough, such as `head`, closes the pipe: that is no error, and the command goes on to its
    own status.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:
        discard(sys.stdout)


def complain(line: str) -> None:
    """Print on standard error, if anything is there to take it."""
    try:
        if sys.stderr is not None:  # or print would take standard output instead
            print(line, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO | None) -> None:
    """Send what is still unwritten nowhere, or the interpreter would complain at its end; a closed stream is None."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is watching; a closed stream is None."""
    return stream is not None and stream.isatty()
