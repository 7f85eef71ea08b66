"""Runs the examples of exports.md that draw pictures, and keeps the pictures that this section shows."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import matplotlib

FOLDER = Path(__file__).parent


def section(heading: str) -> str:
    """The text of a section of exports.md."""
    page = (FOLDER / "exports.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def run(text: str) -> None:
    """Run all Python examples of a text, one after the other, in the present folder."""
    names: dict[str, object] = {}
    with matplotlib.rc_context({"svg.hashsalt": "tieproof", "svg.fonttype": "none"}):
        for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            exec(code, names)


def main() -> None:
    """Draw in a folder of its own, and copy what is shown."""
    text = section("Pictures")
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # no date in the files: the same picture, the same bytes
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(text)
        for name in re.findall(r"!\[.*?\]\((.*?)\)", text):
            shutil.copy(name, FOLDER / name)
        os.chdir(FOLDER)


if __name__ == "__main__":
    matplotlib.use("Agg")
    main()
