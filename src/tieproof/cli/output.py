"""Where results go: to files, which appear whole or not at all, and to standard output."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

from tieproof.cli.options import Text
from tieproof.cli.streams import WIDEST, is_terminal, say
from tieproof.errors import InputError
from tieproof.inputs.readers.remote import File
from tieproof.results.results import Result
from tieproof.views.text.files import MEANS, Formats, output

STANDARD_OUTPUT = "-"

Outputs = Sequence[tuple[Text, Formats]]
"""Paths that were asked for, None where they were not, and what may be written to each."""

Answer = TypeVar("Answer")


def written(make: Callable[[], Answer], read: Sequence[File], outputs: Outputs) -> Answer:
    """What is made, written to each of the outputs; none may be one of the files read, or another of them."""
    shown = (STANDARD_OUTPUT, MEANS)
    files = [(path, formats) for path, formats in outputs if path and (path, formats) != shown]
    for place, (path, _) in enumerate(files):
        if any(same_file(path, file) for file in read):
            raise InputError(f"{path} is read in this evaluation; give the result a file of its own.")
        if is_standard_output(path):
            raise InputError(f"{path} is where standard output goes; give the result a file of its own.")
        for other, _ in files[:place]:
            if same_file(path, other):
                both = path if path == other else f"{other} and {path}, which are the same file,"
                raise InputError(f"{both} would be written twice; give each output a file of its own.")
    with ExitStack() as stack:
        writers = [stack.enter_context(output(path, formats)) for path, formats in files]
        made = make()
        for write in writers:
            write(made)
    return made


def showing(evaluate: Callable[..., Result], ci: float | None) -> Callable[..., Result]:
    """The evaluation, of which the result shows confidence intervals over the queries where that was asked for."""
    if ci is None:
        return evaluate
    return lambda *given, **options: evaluate(*given, **options).with_ci(ci)


def same_file(path: str, other: str | File) -> bool:
    """Whether two paths lead to one file, which may not be there yet."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def is_standard_output(path: str) -> bool:
    """Whether the shell sends what is printed to this file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (AttributeError, OSError, ValueError):
        return False  # no such file yet, or no file behind standard output


def answer(json: Text, render: Callable[[Any, int | None, bool], str], what: Any) -> None:
    """Print a result, as JSON where that was asked for."""
    if json == STANDARD_OUTPUT:
        say(what.to_json())
    else:
        show(render, what)


def show(render: Callable[[Any, int | None, bool], str], what: object) -> None:
    """Print a report in the width and with the colours of the terminal, if it is one."""
    terminal = is_terminal(sys.stdout)
    width = min(shutil.get_terminal_size().columns, WIDEST) if terminal else None
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    say(render(what, width, terminal and not plain))
