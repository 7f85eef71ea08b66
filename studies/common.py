"""Tools of all studies: options, tables in Markdown, and reports that are written completely or not at all.

A study is `studies/<name>/study.py`, and imports this as `studies.common`.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.show import style
from tieproof.whole_files import atomic_write

DATA = Path(os.environ.get("TIEPROOF_DATA") or Path(__file__).parents[2] / "shared" / "data")
"""The folder of the data, which is not part of the repository; without TIEPROOF_DATA it is next to it."""


class Options(NamedTuple):
    """The options of a study.

    data : the file or the folder that it reads, for a study that reads one
    quick : whether to run only a small part, to check that the study works
    out : the folder that the report and its pictures are written to
    """

    data: Path
    quick: bool
    out: Path


def parse(script: str, description: str | None, data: str = "", arguments: Sequence[str] | None = None) -> Options:
    """Parse the options of the study in the file `script`; `data` is the default name of what it reads, if anything.

    A name without an extension is that of a folder. If the data or the folder `--out` is missing, end the program
    with status 2 and a line that says what to do.
    """
    folder = Path(script).resolve().parent
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    kind = "file" if Path(data).suffix else "folder"
    if data:
        parser.add_argument(
            "--data", type=Path, default=DATA / data, metavar=kind.upper(), help=f"{kind} to read ({data})"
        )
    parser.add_argument("--quick", action="store_true", help="run only a small part; give --out as well")
    parser.add_argument("--out", type=Path, default=folder, metavar="FOLDER", help="folder of the report")
    found = parser.parse_args(arguments)
    if data and not (found.data.is_file() if kind == "file" else found.data.is_dir()):
        parser.error(
            f"there is no {kind} {found.data}; studies/README.md says where {data} comes from. "
            f"Give --data {kind.upper()}."
        )
    if not found.out.is_dir():
        parser.error(f"there is no folder {found.out}; create it first.")
    if found.quick and found.out == folder:
        parser.error("--quick would replace the full report; give --out FOLDER.")
    return Options(found.data if data else Path(), found.quick, found.out)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table in Markdown whose first `words` columns contain words and whose other columns contain numbers.

    >>> print(table(("distance", "mAP"), [("cosine", "0.9555")]), end="")
    | distance | mAP |
    |---|--:|
    | cosine | 0.9555 |
    """
    rule = "".join("---|" if place < words else "--:|" for place in range(len(headings)))
    lines = [f"| {' | '.join(row)} |" for row in (headings, *rows)]
    return "\n".join([lines[0], f"|{rule}", *lines[1:]]) + "\n"


def claims(rows: Iterable[tuple[str, str, str]], source: str = "claim") -> str:
    """A table of the claims of a source, the measurements, and the reasons why they differ or agree."""
    return table((source, "measured", "why"), rows, words=3)


def write_report(options: Options, text: str) -> None:
    """Write report.md, and print it."""
    with atomic_write(options.out / "report.md") as file:
        file.write_text(text, encoding="utf-8")
    print(text, end="")


def save(drawn: Any, path: str | Path) -> None:
    """Write a figure as .svg, .pdf or .png, whole or not at all; the same figure gives the same bytes."""
    with atomic_write(path) as file:
        style.write(drawn, file)


def progress(what: str) -> None:
    """Report the current step on standard error."""
    print(f"{what} …", file=sys.stderr, flush=True)
