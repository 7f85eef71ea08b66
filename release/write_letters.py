"""Run the code of letters to other projects, and write what it prints below: `python release/write_letters.py`."""

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

LETTERS = sorted(Path(__file__).with_name("letters").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
"""A block of code, and what it prints."""


def render(letter: Path) -> str:
    """Return a letter with the output of its code, which runs from the first block to the last in an empty folder."""
    names: dict[str, object] = {"__name__": letter.stem}

    def run(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block[1], str(letter), "exec"), names)
        return f"```python\n{block[1]}```\n\n```text\n{printed.getvalue()}```\n"

    with empty_folder():
        return BLOCK.sub(run, letter.read_text(encoding="utf-8"))


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Work in a temporary folder."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


if __name__ == "__main__":
    for letter in LETTERS:
        letter.write_text(render(letter), encoding="utf-8")
