"""Write refused.md, the page of errors and warnings, from the cases of the tests."""

import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tieproof as tp

PAGE = Path(__file__).with_name("refused.md")
TESTS = PAGE.parents[1] / "tests"

INTRODUCTION = """<!-- Written by docs/write_refused.py from the cases in tests/refusals. -->

# Errors and warnings

tieproof never turns bad input into a number. It raises `tieproof.InputError`, whose message says what arrived, what
was expected and what to do. Input that can be evaluated, but is probably a mistake, is evaluated with a
`tieproof.InputWarning`, which the command line prints as one line on standard error. To turn these warnings into
errors, call `warnings.simplefilter("error", tieproof.InputWarning)`. Every row of the tables below is a test.

Every error that tieproof raises on purpose is a `tieproof.TieproofError`:

- `InputError`, for bad input;
- `MissingExtraError`, if an optional library is not installed;
- `UnsafeProductError`, if the matrix product of the machine is less exact than its type promises;
- `ClusterError`, if a cluster repeatedly fails at a part of an evaluation.
"""


def render(said: Callable[[Any], str] | None = None) -> str:
    """The page, with what is said of each case; by default, the message of its error or warning."""
    sys.path[:0] = [str(TESTS), str(TESTS / "tools")]
    try:
        from refusals import SECTIONS
    finally:
        del sys.path[:2]
    lines = [INTRODUCTION]
    for title, cases in SECTIONS.items():
        lines += [f"## {title}", "", "| input | message |", "|---|---|"]
        lines += [row(name, (said or message)(case)) for name, case in cases.items()]
        lines.append("")
    return "\n".join(lines)


def row(name: str, said: str) -> str:
    """The row of a case."""
    return f"| {escaped(name)} | {escaped(said)} |"


def message(case: Any) -> str:
    """The message of a case, without the folder in which it runs."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tp.InputWarning)
        try:
            case.run(Path(folder))
            (said,) = (str(each.message) for each in caught if issubclass(each.category, tp.InputWarning))
        except tp.TieproofError as error:
            said = str(error)
        return said.replace(f"{folder}/", "")


def escaped(text: str) -> str:
    """A text with the characters escaped that Markdown would interpret in a cell of a table."""
    for sign in "\\|*_<>`[]":
        text = text.replace(sign, f"\\{sign}")
    return text


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
