"""Files of a result: JSON of the means, a long table of every query, or a picture; written whole or not at all."""

import csv
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import signature, unwrap
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tieproof.errors import InputError, import_extra
from tieproof.show import style
from tieproof.ties import Array
from tieproof.whole_files import naming, unfinished_file

Arguments = ParamSpec("Arguments")
Drawn = TypeVar("Drawn")

Writer = Callable[[Any, Path], None]  # writes a result to a path
# For each extension, a function that returns its writer, or raises MissingExtraError if a library is missing.
Formats = Mapping[str, Callable[[], Writer]]


@contextmanager
def output(path: str | os.PathLike[str], formats: Formats) -> Iterator[Callable[[Any], None]]:
    """Yield a function that writes a result to `path`, which is created or replaced when the block ends.

    The path, the extension and the installed libraries are checked before the block begins, so that no long
    evaluation is lost. If the block raises an exception, `path` is left unchanged.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be the path of a file, as text or Path, not {type(path).__name__}.", "path")
    extension = Path(path).suffix.lower()
    if extension not in formats:
        raise InputError(
            f"{os.fspath(path)} has the extension '{extension}', which cannot be written here. "
            f"Use one of: {', '.join(formats)}."
        )
    writer = formats[extension]()
    with unfinished_file(path) as unfinished:

        def write(result: Any) -> None:
            with naming(path):
                writer(result, unfinished)

        yield write


def _as_text(form: str) -> Callable[[], Writer]:
    def write(result: Any, path: Path) -> None:
        path.write_text(getattr(result, form)().rstrip("\n") + "\n", encoding="utf-8")

    return lambda: write


def storable(columns: Mapping[str, Array]) -> dict[str, Array]:
    r"""Columns whose texts can be encoded in UTF-8; half of a surrogate pair is escaped as in Python: \ud800."""

    def as_utf8(names: Array) -> Array:
        return np.array([name.encode("utf-8", "backslashreplace").decode() for name in names.tolist()])

    return {title: as_utf8(column) if column.dtype.kind == "U" else column for title, column in columns.items()}


# Where a spreadsheet may begin a formula: at the start of a text, and behind what separates cells elsewhere.
_FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n]))(?= *[=+\-@＝＋－＠])|^(?=[\t\r\n])")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def _as_text_cell(text: str) -> str:
    r"""The text with an apostrophe before what a spreadsheet would evaluate, as OWASP advises; numbers are kept.

    >>> [_as_text_cell(text) for text in ("=1+1", "-5", "-5+1", "a;@SUM(1)", "q-1")]
    ["'=1+1", '-5', "'-5+1", "a;'@SUM(1)", 'q-1']
    """
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub("'", text)


def _write_csv(result: Any, path: Path) -> None:
    """Write the columns of a result with floats in full; `std` is over the orderings of a query's tied items."""
    columns = storable(result.columns())
    texts = ("".join(column.tolist()) for column in columns.values() if column.dtype.kind == "U")
    bare = not any("\r" in text for text in texts)  # the writer quotes "\r" only if it quotes every text
    cells = (
        map(_as_text_cell, column.tolist()) if column.dtype.kind == "U" else column.tolist()
        for column in columns.values()
    )
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_MINIMAL if bare else csv.QUOTE_NONNUMERIC)
        table.writerow(columns)
        table.writerows(zip(*cells, strict=True))


def _parquet_writer() -> Writer:
    pyarrow, parquet = (
        import_extra(name, "Writing a .parquet file", "parquet") for name in ("pyarrow", "pyarrow.parquet")
    )
    return lambda result, path: parquet.write_table(pyarrow.table(storable(result.columns())), path)


def pages(contents: Callable[[Any], tuple[str, dict[str, Any]]]) -> Formats:
    """The extension of a page, and its writer by Jinja2; `contents` returns the template and the values it shows."""

    def page_writer() -> Writer:
        from tieproof.show.pages.page import templates  # imports what only pages need

        environment = templates()

        def write(shown: Any, path: Path) -> None:
            template, values = contents(shown)
            text = environment.get_template(template).render(values)
            path.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace", newline="\n")

        return write

    return {".html": page_writer}


def pictures(draw: Callable[..., Any]) -> Formats:
    """The extensions of the pictures that a function by `takes_path` draws of a result."""

    def picture_writer() -> Writer:
        style.matplotlib("Writing a picture")
        return lambda result, path: style.write(unwrap(draw)(result, ax=path).figure, path)

    return dict.fromkeys(style.METADATA, picture_writer)


def takes_path(draw: Callable[Arguments, Drawn]) -> Callable[Arguments, Drawn]:
    """Make a function that draws into `ax` also take the path of a picture there, which it writes."""

    @wraps(draw)
    def drawn(*given: Arguments.args, **options: Arguments.kwargs) -> Drawn:
        path = signature(draw).bind(*given, **options).arguments.get("ax")
        if not isinstance(path, str | os.PathLike):
            return draw(*given, **options)
        with output(path, OF_AXES) as write:
            axes = draw(*given, **options)
            write(axes)
        return axes

    return drawn


OF_AXES: Formats = dict.fromkeys(style.METADATA, lambda: lambda axes, path: style.write(axes.figure, path))
MEANS: Formats = {".json": _as_text("to_json")}  # the result as a whole
LATEX: Formats = {".tex": _as_text("to_latex")}  # the table to paste into a paper
MARKDOWN: Formats = {".md": _as_text("to_markdown")}  # the table to paste into an issue
PAGE = pages(lambda result: result._page())
PER_QUERY: Formats = {".csv": lambda: _write_csv, ".parquet": _parquet_writer}  # a row for each query and measure
