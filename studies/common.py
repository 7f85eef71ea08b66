"""What the studies share: their options, tables in Markdown, and reports that appear whole or not at all.

A study is `studies/<name>/study.py`, and imports this as `studies.common`.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tieproof.whole_files import atomic_write

DATA = Path(__file__).parents[2] / "shared" / "data"
"""Where data lies that is not part of the project, beside it."""


class Options(NamedTuple):
    """What a study is asked for.

    data : the file that it reads, for a study that reads one
    quick : whether a small part is enough, to see that it runs
    out : the folder that the report and its pictures are written to
    """

    data: Path
    quick: bool
    out: Path


def parse(script: str, description: str | None, data: str = "", arguments: Sequence[str] | None = None) -> Options:
    """The options of the study in the file `script`; `data` is the usual name of what it reads, if it reads a file.

    Ends the program, with status 2 and a line that says what to do, where that file or the folder `--out` is missing.
    """
    folder = Path(script).resolve().parent
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data:
        parser.add_argument("--data", type=Path, default=DATA / data, metavar="FILE", help=f"usually {data}")
    parser.add_argument("--quick", action="store_true", help="a small part, to see that it runs; give --out, too")
    parser.add_argument("--out", type=Path, default=folder, metavar="FOLDER", help="for the report and its pictures")
    found = parser.parse_args(arguments)
    if data and not found.data.is_file():
        parser.error(
            f"there is no file {found.data}; studies/README.md says where {data} comes from. Give --data FILE."
        )
    if not found.out.is_dir():
        parser.error(f"there is no folder {found.out}; create it first.")
    if found.quick and found.out == folder:
        parser.error("--quick would replace the full report; give --out FOLDER.")
    return Options(found.data if data else Path(), found.quick, found.out)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table in Markdown; the first columns, as many as `words`, are words and the others numbers.

    >>> print(table(("distance", "mAP"), [("cosine", "0.9555")]), end="")
    | distance | mAP |
    |---|--:|
    | cosine | 0.9555 |
    """
    rule = "".join("---|" if place < words else "--:|" for place in range(len(headings)))
    lines = [f"| {' | '.join(row)} |" for row in (headings, *rows)]
    return "\n".join([lines[0], f"|{rule}", *lines[1:]]) + "\n"


def claims(rows: Iterable[tuple[str, str, str]], source: str = "claim") -> str:
    """A table of what a source says, what was measured, and why they differ or agree."""
    return table((source, "measured", "why"), rows, words=3)


def write_report(options: Options, text: str) -> None:
    """Write report.md, and print it."""
    with atomic_write(options.out / "report.md") as file:
        file.write_text(text, encoding="utf-8")
    print(text, end="")


def progress(what: str) -> None:
    """Say what is being done, on standard error."""
    print(f"{what} …", file=sys.stderr, flush=True)
