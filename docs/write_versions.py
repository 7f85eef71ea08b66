"""The page on supported versions, from what release/versions.py has run. Writes versions.md."""

import json
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("versions.md")
RUNS = PAGE.parents[1] / "release" / "versions.json"

INTRODUCTION = """<!-- Written by docs/write_versions.py from release/versions.json. -->

# Supported versions

tieproof supports Python 3.11 and later on Linux (x86-64 and ARM), macOS (Intel and ARM) and Windows (x86-64), with
the oldest versions of its dependencies that `pyproject.toml` states and with all later ones. A wheel serves every
version of Python, since the kernels know nothing of it.

## What has been run

`make test-versions PYTHONS="…" TESTS="…"` makes a fresh environment for each row and runs the tests in it. *Oldest*
are the oldest versions of all dependencies, required and optional, that are allowed and have a wheel for that Python;
*newest* are those of the day.

| system | Python | dependencies | NumPy | tests | passed | failed | skipped | date |
|---|---|---|---|---|---|---|---|---|
"""

REMAINDER = """
Beside these, every change is tested as a whole (`.ci/run`) on Linux x86-64 with Python 3.11 and the newest
dependencies that support it. Calls of kernels recorded there are repeated on ARM under qemu by `make test-arm`: the
same bits.

## What has not been run

- Of the tests on other versions of Python and with the oldest dependencies, **all but the files and folders named in
  the table**.
- **Python 3.14 and its free-threaded build**; **Linux on ARM** as a whole; **macOS**; **Windows**. The wheels of
  these platforms are compiled on Linux, and `make release` looks into their libraries; nobody has run the tests
  there. `.github/workflows/tests.yml` has all of these, and has never run either. The free-threaded build may fail
  there, since not all libraries that the tests need support it.
- Tests of heavy libraries (torch, scikit-learn, faiss and the like) with other versions than the newest.
"""

DEPENDENCIES = {"lowest-direct": "oldest", "highest": "newest"}


def render() -> str:
    """The page."""
    runs = json.loads(RUNS.read_text(encoding="utf-8"))
    return INTRODUCTION + "".join(row(run) for run in runs) + REMAINDER


def row(run: dict[str, Any]) -> str:
    """A run, as a row of the table."""
    cells = [run["system"], run["python"], DEPENDENCIES[run["resolution"]], run["versions"]["numpy"], run["tests"]]
    return "| " + " | ".join(map(str, [*cells, *run["counts"].values(), run["date"]])) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
