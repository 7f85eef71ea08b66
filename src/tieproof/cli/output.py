"""Where results go: to files, which appear whole or not at all, and to standard output."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from tieproof.cli.options import Text
from tieproof.errors import InputError
from tieproof.reports.files import MEANS, PER_QUERY, PICTURES, output

STANDARD_OUTPUT = "-"
WIDEST = 100


@contextmanager
def outputs(json: Text, per_query: Text, read: Sequence[Path], plot: Text = None) -> Iterator[Callable[[Any], None]]:
    """Yield what writes a result to the files asked for; none may be one of those that are read."""
    wanted = [(None if json == STANDARD_OUTPUT else json, MEANS), (per_query, PER_QUERY), (plot, PICTURES)]
    files = [(path, formats) for path, formats in wanted if path]
    for path, _ in files:
        if os.path.exists(path) and any(file.exists() and file.samefile(path) for file in read):
            raise InputError(f"{path} is read in this evaluation; give the result a file of its own.")
    with ExitStack() as stack:
        writers = [stack.enter_context(output(path, formats)) for path, formats in files]

        def write(result: Any) -> None:
            for writer in writers:
                writer(result)

        yield write


def show(render: Callable[[Any, int | None, bool], str], what: object) -> None:
    """Print a report in the width and with the colours of the terminal, if it is one."""
    terminal = is_terminal(sys.stdout)
    width = min(shutil.get_terminal_size().columns, WIDEST) if terminal else None
    say(render(what, width, terminal and not os.environ.get("NO_COLOR")))


def say(text: str) -> None:
    r"""Print a text; letters that standard output cannot hold appear as \xe4 and the like."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is watching; a closed stream is None."""
    return stream is not None and stream.isatty()
