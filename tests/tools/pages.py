"""Run the code that pages of the documentation show as a reader would run it, from the first block to the last."""

import io
import re
import shlex
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from command_line import exit_status

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?:python|\{code-cell\})\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"(?:---\n.*?^---\n)?\n*", re.MULTILINE | re.DOTALL)
"""The options of a cell before its code, such as tags."""

COMMAND = re.compile(r"^!(tieproof .*)$", re.MULTILINE)
"""A command in a cell, as in notebooks."""


def text_of(name: str, section: str = "") -> str:
    """The text of a page or its section, by its path from the root; skips the test if there is no documentation."""
    page = ROOT / name
    if not (ROOT / "README.md").exists():
        pytest.skip("no documents beside the tests")
    text = page.read_text(encoding="utf-8")
    return text.partition(f"\n## {section}\n")[2].partition("\n## ")[0] if section else text


def run_page(name: str, section: str = "") -> dict[str, object]:
    """Run all Python blocks and cells of a page, or of a section, and return the names that they define."""
    names: dict[str, object] = {"run_command": run_command}
    for code in BLOCK.findall(text_of(name, section)):
        exec(as_python(code), names)
    return names


def as_python(code: str) -> str:
    """The code of a block without its options, and with its commands as calls."""
    return COMMAND.sub(lambda found: f"run_command({found[1]!r})", OPTIONS.sub("", code, count=1))


def run_command(line: str) -> None:
    """Run a command by the tested tieproof, and print its output."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = exit_status(*shlex.split(line)[1:])
    assert status == 0, err.getvalue()
    print(out.getvalue() + err.getvalue(), end="")


OUTPUT = re.compile(r"^```(?:python|\{code-cell\})\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
"""A Python block, and its output according to the page."""


def run_and_compare(
    name: str, said: Callable[[], str], unlike: re.Pattern[str], section: str = ""
) -> dict[str, object]:
    """Run all blocks of a page or a section, and compare the output of each with the text that is shown below it.

    said : returns the output since it was last called
    unlike : the parts of the output that may differ between machines
    """
    names: dict[str, object] = {"run_command": run_command}
    for code, shown in OUTPUT.findall(text_of(name, section)):
        exec(as_python(code), names)
        printed = said()
        assert not shown or unlike.sub("…", printed) == unlike.sub("…", shown), code
    return names
