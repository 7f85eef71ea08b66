"""What release/versions.py has run, as a page. Writes versions.md from versions.json."""

import json
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("versions.md")
RUNS = PAGE.with_suffix(".json")

INTRODUCTION = """<!-- Written by release/write_versions.py from release/versions.json. -->

# What has been run

`make test-versions PYTHONS="…" TESTS="…"` creates a fresh environment for each row and runs the tests in it. *Oldest*
means the oldest allowed versions of all dependencies, required and optional, that have a wheel for that Python.
*Newest* means the newest versions on that date.

| system | Python | dependencies | NumPy | tests | passed | failed | skipped | date |
|---|---|---|---|---|---|---|---|---|
"""

REMAINDER = """
If a test of a whole suite failed, the row below is of the file of that test, after it was mended.

In addition, `.ci/run` tests every change on Linux x86-64 with Python 3.11 and the newest dependencies that support
it. It also runs a part of the tests on the newest Python of the machine (`make test-newest`) and with the oldest
dependencies (`make test-oldest`). `make test-arm` records calls of kernels there, repeats them on ARM under qemu, and
compares every bit.

## What has not been run

- Where the table names only files and folders of tests, **all other tests**. A row whose tests are `tests` is of the
  whole suite, which `.ci/run` runs on Python 3.11, too.
- **Python 3.14 and its free-threaded build**; **Linux on ARM** as a whole; **macOS**; **Windows**. The wheels for
  these platforms are compiled on Linux, and `make release` inspects the libraries in them, but nobody has run the
  tests there. The workflow `.github/workflows/tests.yml` covers all of these platforms, but it has never run. The
  free-threaded build may fail in it, because some libraries that the tests need do not support that build.
- Tests with older versions of heavy libraries (torch, scikit-learn, faiss and so on).
"""

DEPENDENCIES = {"lowest-direct": "oldest", "highest": "newest"}


def render() -> str:
    """The page."""
    runs = json.loads(RUNS.read_text(encoding="utf-8"))
    return INTRODUCTION + "".join(row(run) for run in runs) + REMAINDER


def row(run: dict[str, Any]) -> str:
    """A run, as a row of the table; one that ended early is never shown as if nothing had failed."""
    cells = [run["system"], run["python"], DEPENDENCIES[run["resolution"]], run["versions"]["numpy"], run["tests"]]
    passed, failed, skipped = (run["counts"][name] for name in ("passed", "failed", "skipped"))
    if run["exit"] and not failed:
        failed = f"pytest ended with {run['exit']}"
    return "| " + " | ".join(map(str, [*cells, passed, failed, skipped, run["date"]])) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
