"""The code that pages of the documents show, run as a reader would run it: from the first block to the last."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?:python|\{code-cell\})\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"(?:---\n.*?^---\n)?\n*", re.MULTILINE | re.DOTALL)
"""What a cell says of itself before its code, such as tags."""

COMMAND = re.compile(r"^!(tieproof .*)$", re.MULTILINE)
"""A command in a cell, as notebooks have them."""


def text_of(name: str) -> str:
    """A page, by its path from the root of the repository; the test is skipped where there are no documents."""
    page = ROOT / name
    if not (ROOT / "README.md").exists():
        pytest.skip("no documents beside the tests")
    return page.read_text(encoding="utf-8")


def run_page(name: str) -> dict[str, object]:
    """Run all blocks of Python and cells of a page in the present folder; the names that they make."""
    names: dict[str, object] = {"run_command": run_command}
    for code in BLOCK.findall(text_of(name)):
        exec(as_python(code), names)
    return names


def as_python(code: str) -> str:
    """The code of a block without its options, and with its commands as calls."""
    return COMMAND.sub(lambda found: f"run_command({found[1]!r})", OPTIONS.sub("", code, count=1))


def run_command(line: str) -> None:
    """Run a command by the tieproof that is tested, and print what it prints."""
    line = line.replace("tieproof", f"{sys.executable} -m tieproof", 1)
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout + done.stderr, end="")


OUTPUT = re.compile(r"^```(?:python|\{code-cell\})\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
"""A block of Python, and what the page says that it prints."""


def run_and_compare(name: str, said: Callable[[], str], unlike: re.Pattern[str]) -> dict[str, object]:
    """Run all blocks of a page, and compare what each prints with the text that the page shows below it.

    said : returns what was printed since it was last called
    unlike : what may differ between machines
    """
    names: dict[str, object] = {"run_command": run_command}
    for code, shown in OUTPUT.findall(text_of(name)):
        exec(as_python(code), names)
        printed = said()
        assert not shown or unlike.sub("…", printed) == unlike.sub("…", shown), code
    return names
