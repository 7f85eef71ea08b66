"""Runs the examples of plots.md, which draw the pictures of that page, and keeps the pictures that the page shows."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import matplotlib

FOLDER = Path(__file__).parent


def run(page: Path) -> None:
    """Run all Python examples of a page, one after the other, in the present folder."""
    names: dict[str, object] = {}
    with matplotlib.rc_context({"svg.hashsalt": "tieproof", "svg.fonttype": "none"}):
        for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            exec(code, names)


def main() -> None:
    """Draw in a folder of its own, and copy what is shown."""
    page = FOLDER / "plots.md"
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # no date in the files: the same picture, the same bytes
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(page)
        for name in re.findall(r"!\[.*?\]\((.*?)\)", page.read_text(encoding="utf-8")):
            shutil.copy(name, FOLDER / name)
        os.chdir(FOLDER)


if __name__ == "__main__":
    matplotlib.use("Agg")
    main()
