"""The page on what is refused and what is warned about, from the cases of the tests. Writes refused.md."""

import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tieproof as tp

PAGE = Path(__file__).with_name("refused.md")
TESTS = PAGE.parents[1] / "tests"

INTRODUCTION = """<!-- Written by docs/write_refused.py from the cases in tests/refusals. -->

# What is refused, what is warned about

tieproof never turns bad input into a number: it raises `tieproof.InputError`, whose message says what arrived, what
was expected and what to do. Where the input can be evaluated but probably is not what was meant, it is evaluated,
with a `tieproof.InputWarning`; the command line prints it as one line on standard error. To be stopped by warnings,
too: `warnings.simplefilter("error", tieproof.InputWarning)`. Every line of these tables is a test.

All that tieproof raises on purpose is a `tieproof.TieproofError`: `InputError`, `MissingExtraError` where an optional
library is not installed, `UnsafeProductError` where the matrix product of a machine is less exact than its type
promises, and `ClusterError` where a cluster fails to do a part, again and again.
"""


def render() -> str:
    """The page."""
    sys.path[:0] = [str(TESTS), str(TESTS / "tools")]
    try:
        from refusals import SECTIONS
    finally:
        del sys.path[:2]
    lines = [INTRODUCTION]
    for title, cases in SECTIONS.items():
        lines += [f"## {title}", "", "| what arrives | what it says |", "|---|---|"]
        lines += [f"| {escaped(name)} | {escaped(message)} |" for name, message in messages(cases)]
        lines.append("")
    return "\n".join(lines)


def messages(cases: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What each case says."""
    for name, case in cases.items():
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", tp.InputWarning)
            try:
                case.run(Path(folder))
                (said,) = (str(each.message) for each in caught if issubclass(each.category, tp.InputWarning))
            except tp.TieproofError as error:
                said = str(error)
            yield name, said.replace(f"{folder}/", "")


def escaped(text: str) -> str:
    """A text that Markdown shows as it is, in a cell of a table."""
    for sign in "\\|*_<>`[]":
        text = text.replace(sign, f"\\{sign}")
    return text


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
