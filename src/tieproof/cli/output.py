"""Results are written to standard output and to files; a file is written completely or not at all."""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple, TypeVar

from tieproof.cli.options import Text, file_option
from tieproof.cli.streams import WIDEST, is_terminal, say
from tieproof.errors import InputError
from tieproof.evaluation.result import Result
from tieproof.inputs.readers import read_labels, text
from tieproof.inputs.readers.remote import File
from tieproof.show.files import MEANS, Formats, output

STANDARD_OUTPUT = "-"

Outputs = Sequence[tuple[Text, Formats]]
"""Pairs of a path, or None if that output is not wanted, and the formats that can be written to it."""

Answer = TypeVar("Answer")


def written(make: Callable[[], Answer], read: Sequence[File], outputs: Outputs) -> Answer:
    """Make an answer, and write it to each output; no output may be a file that is read, or another output."""
    shown = (STANDARD_OUTPUT, MEANS)
    files = [(path, formats) for path, formats in outputs if path and (path, formats) != shown]
    for place, (path, _) in enumerate(files):
        if any(same_file(path, file) for file in read):
            raise InputError(f"{path} is read in this evaluation; write the result to another file.")
        if is_standard_output(path):
            raise InputError(f"{path} receives standard output; write the result to another file.")
        for other, _ in files[:place]:
            if same_file(path, other):
                both = path if path == other else f"{other} and {path}, which are the same file,"
                raise InputError(f"{both} would be written twice; write each output to another file.")
    with ExitStack() as stack:
        writers = [stack.enter_context(output(path, formats)) for path, formats in files]
        made = make()
        for write in writers:
            write(made)
    return made


def check_lines(lines: bool, json: Text) -> None:
    """Refuse two texts on standard output."""
    if lines and json == STANDARD_OUTPUT:
        raise InputError("--lines (-q) and --json - both print on standard output; write the JSON to a file.")


def showing(evaluate: Callable[..., Result], ci: float | None) -> Callable[..., Result]:
    """Return the evaluation; if `ci` is given, its results have confidence intervals over the queries."""
    if ci is None:
        return evaluate
    return lambda *given, **options: evaluate(*given, **options).with_ci(ci)


def same_file(path: str, other: str | File) -> bool:
    """Whether two paths are those of one file, which need not exist yet."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def is_standard_output(path: str) -> bool:
    """Whether standard output is redirected to this file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (AttributeError, OSError, ValueError):
        return False  # the file does not exist yet, or standard output is not a file


def answer(json: Text, render: Callable[[Any, int | None, bool], str], what: Any) -> None:
    """Print a result, as JSON if `json` names standard output."""
    if json == STANDARD_OUTPUT:
        say(what.to_json())
    else:
        show(render, what)


def show(render: Callable[[Any, int | None, bool], str], what: object) -> None:
    """Print a report, in the width and the colours of the terminal if standard output is one."""
    terminal = is_terminal(sys.stdout)
    width = min(shutil.get_terminal_size().columns, WIDEST) if terminal else None
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    say(render(what, width, terminal and not plain))


report = file_option("--report", text="Write the result as a page (.html).")
items = file_option(
    "--items", text="For --report: a text or the path of an image for each row of EMBEDDINGS, such as one per line."
)
gallery_items = file_option("--gallery-items", text="For --report: the same for each item of the gallery.")
query_texts = file_option(
    "--items", text="For --report: a line for each query, with its name and a text or the path of an image."
)
document_texts = file_option("--gallery-items", text="For --report: the same for each document of the run.")


class Shown(NamedTuple):
    """The files of the texts or images of queries and items, which a page shows in addition to the result."""

    items: Text
    gallery_items: Text

    @property
    def locations(self) -> list[str]:
        """The locations of everything that is read."""
        return [location for location in self if location]

    def check(self, wanted: Text) -> None:
        """Refuse files that no page would show."""
        if wanted is None and self.locations:
            raise InputError("--items and --gallery-items are shown on a page; add --report, or leave them out.")


def read_items(location: str) -> Any:
    """Read texts or paths of images, one for each item, in the order of the items."""
    return [str(item) for item in read_labels(location).tolist()]


def read_named(location: str) -> Any:
    """Read texts or paths of images by the names of the items."""
    return text.read(location, "name", "text")


def with_page(
    evaluate: Callable[..., Result], wanted: Text, shown: Shown, read: Callable[[str], Any] = read_items
) -> tuple[Callable[..., Result], Formats]:
    """Return an evaluation that keeps its arguments, and the page that shows its result with them.

    wanted : the path of the page; None: no page is wanted
    read : reads the texts or images of one side
    """
    shown.check(wanted)
    if wanted is None:
        return evaluate, {}
    from tieproof.evaluation.page import contents
    from tieproof.show.pages.page import pages

    items, gallery_items = (location and read(location) for location in shown)
    given: dict[str, Any] = {}

    def keeping(*arguments: Any, **options: Any) -> Result:
        given.update(signature(evaluate).bind(*arguments, **options).arguments)
        return evaluate(*arguments, **options)

    return keeping, pages(lambda result: contents(result, items, gallery_items, given))


def page_of(wanted: Text, module: str) -> Formats:
    """Return the page that a module of tieproof makes, if one is wanted; only then is it imported."""
    if wanted is None:
        return {}
    from tieproof.show.pages.page import pages

    shown: Formats = pages(import_module(f"tieproof.{module}").contents)
    return shown
