"""Shared parts of all pages: how a template becomes a file, and the format of numbers and names."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tieproof.errors import MissingExtraError
from tieproof.installed import __version__
from tieproof.views.pages.figures import Axis
from tieproof.views.printable import in_one_line, printable
from tieproof.views.text.files import Formats, output
from tieproof.views.text.parts import count, signed

Contents = Callable[[Any], tuple[str, dict[str, Any]]]
"""A function that returns the name of a result's template and the values that the template shows."""


def fixed(value: float, digits: int = 4) -> str:
    """A number with fixed decimals; a dash for NaN.

    >>> fixed(0.25), fixed(float("nan"))
    ('0.2500', '–')
    """
    return "–" if value != value else f"{value:.{digits}f}"


def chance(value: float) -> str:
    """A p-value with four decimals.

    >>> chance(0.25), chance(1e-9)
    ('0.2500', '< 0.0001')
    """
    return "< 0.0001" if value < 0.0001 else fixed(value)


def isolated(name: object) -> str:
    """A name made printable, and enclosed in Unicode's isolation marks if it is written from right to left.

    Without these marks, two such names would swap places around a minus sign.
    """
    shown = printable(name)
    turns = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in shown)
    return f"\u2068{shown}\u2069" if turns else shown


def pages(contents: Contents) -> Formats:
    """The extension of a page, and its writer by Jinja2."""

    def page_writer() -> Callable[[Any, Path], None]:
        environment = templates()

        def write(shown: Any, path: Path) -> None:
            template, found = contents(shown)
            text = environment.get_template(template).render(found)
            path.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace", newline="\n")

        return write

    return {".html": page_writer}


def write_page(shown: Any, path: str | os.PathLike[str], contents: Contents) -> None:
    """Write a page, whole or not at all; the same contents give the same bytes.

    Raises InputError if the extension is not .html or the path cannot be written to, and MissingExtraError if Jinja2
    is not installed.
    """
    with output(path, pages(contents)) as write:
        write(shown)


def templates() -> Any:
    """The environment of the templates, which escapes all values."""
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError("Writing a page", "report") from None
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tieproof.views.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "ensure_ascii": False, "separators": (",", ":")}
    environment.filters |= {
        "chance": chance,
        "fixed": fixed,
        "signed": signed,
        "whole": lambda number: f"{number:,}",
        "named": isolated,
        "line": in_one_line,
        "count": count,
    }
    environment.globals |= {"version": __version__, "unit": Axis(0.0, 1.0, 0.5)}
    return environment
