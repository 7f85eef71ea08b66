"""Results are written to standard output and to files; a file is written completely or not at all."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import click

from tieproof.cli.exits import WIDEST, is_terminal, say
from tieproof.errors import InputError
from tieproof.evaluation.pictures import CURVES
from tieproof.evaluation.result import Result
from tieproof.inputs.readers.location import File, split
from tieproof.measures import PRECISION_RECALL, parse
from tieproof.show.files import LATEX, MARKDOWN, MEANS, Formats, output, pages

# For each option whose file may be -, which is standard output: its formats, and the method of what is printed.
SHOWN = {"--json": (MEANS, "to_json"), "--latex": (LATEX, "to_latex"), "--markdown": (MARKDOWN, "to_markdown")}
Text = str | None
Outputs = list[tuple[Text, Formats]]  # paths, or None if an output is not wanted, with the formats to write to it
Render = Callable[[Any, int | None, bool], str]  # makes a text of a width, with colors or without
Answer = TypeVar("Answer")


def written(make: Callable[[], Answer], read: Iterable[str | File | None], outputs: Outputs) -> Answer:
    """Make an answer, and write it to each output, none of which may be a file that is read, or another output."""
    inputs = [split(file).path if isinstance(file, str) else file for file in read if file]
    if len(_shown(outputs)) > 1:
        named = " and ".join(_shown(outputs))
        raise InputError(f"{named} print on one standard output; write all but one to files.")
    printed = [("-", known) for known, _ in SHOWN.values()]
    files = [(path, formats) for path, formats in outputs if path and (path, formats) not in printed]
    for place, (path, _) in enumerate(files):
        if any(_same_file(path, file) for file in inputs):
            raise InputError(f"{path} is read in this evaluation; write the result to another file.")
        if _is_standard_output(path):
            raise InputError(f"{path} receives standard output; write the result to another file.")
        for other, _ in files[:place]:
            if _same_file(path, other):
                both = path if path == other else f"{other} and {path}, which are the same file,"
                raise InputError(f"{both} would be written twice; write each output to another file.")
    with ExitStack() as stack:
        writers = [stack.enter_context(output(path, formats)) for path, formats in files]
        made = make()
        for write in writers:
            write(made)
    return made


def _shown(outputs: Outputs) -> dict[str, str]:
    """The methods of what is printed on standard output in place of the table, by the options that ask for it."""
    return {f"{option} -": form for option, (known, form) in SHOWN.items() if ("-", known) in outputs}


def check_lines(lines: bool, outputs: Outputs) -> None:
    """Refuse two texts on standard output."""
    for option in _shown(outputs) if lines else ():
        what = "JSON" if option == "--json -" else "table"
        raise InputError(f"--lines (-q) and {option} both print on standard output; write the {what} to a file.")


def measures_of(outputs: Outputs, measures: Sequence[Any]) -> list[Any]:
    """Return the measures, with those that the picture of precision over recall needs if it is wanted."""
    wanted = any(path and formats is CURVES for path, formats in outputs)
    return [*measures, *map(parse, PRECISION_RECALL if wanted else ())]


def showing(evaluate: Callable[..., Result], ci: float | None) -> Callable[..., Result]:
    """Return the evaluation; if `ci` is given, its results have confidence intervals over the queries."""
    if ci is None:
        return evaluate
    return lambda *given, **options: evaluate(*given, **options).with_ci(ci)


def _same_file(path: str, other: str | File) -> bool:
    """Whether two paths are those of one file, which need not exist yet."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def _is_standard_output(path: str) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (AttributeError, OSError, ValueError):
        return False  # the file does not exist yet, or standard output is not a file


def answer(outputs: Outputs, what: Any) -> None:
    """Print the text of a result, or its JSON, LaTeX or Markdown if this is to be written to standard output."""
    for form in _shown(outputs).values():  # at most one, as `written` has checked
        say(getattr(what, form)())
        return
    explain = {"explain": True} if click.get_current_context().params.get("explain") else {}
    show(partial(type(what).to_text, **explain), what)


def show(render: Render, what: Any) -> None:
    """Print a text, in the width and the colors of the terminal if standard output is one."""
    terminal = is_terminal(sys.stdout)
    width = min(shutil.get_terminal_size().columns, WIDEST) if terminal else None
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    say(render(what, width, terminal and not plain))


def with_page(
    evaluate: Callable[..., Result], wanted: Text, items: Text, gallery_items: Text, read: Callable[[str], Any]
) -> tuple[Callable[..., Result], Formats]:
    """Return an evaluation that keeps its arguments, and the page that shows its result with them and with items."""
    if wanted is None:
        if items or gallery_items:
            raise InputError("--items and --gallery-items are shown on a page; add --report, or leave them out.")
        return evaluate, {}
    texts, gallery_texts = (location and read(location) for location in (items, gallery_items))
    folders = [None if location is None else Path(location).parent for location in (items, gallery_items)]
    given: dict[str, Any] = {}

    def keeping(*arguments: Any, **options: Any) -> Result:
        given.update(signature(evaluate).bind(*arguments, **options).arguments)
        return evaluate(*arguments, **options)

    return keeping, pages(lambda result: result._page(texts, gallery_texts, given, folders))
