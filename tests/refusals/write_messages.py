"""Write messages.md, the wording of all errors and warnings, from the cases of the tests."""

import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tieproof as tp

PAGE = Path(__file__).with_name("messages.md")
TESTS = PAGE.parents[1]


def render(said: Callable[[Any], str] | None = None) -> str:
    """The page, with what is said of each case; by default, the message of its error or warning."""
    sys.path[:0] = [str(TESTS), str(TESTS / "tools")]
    try:
        from refusals import SECTIONS
    finally:
        del sys.path[:2]
    lines = ["# Errors and warnings", ""]
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
