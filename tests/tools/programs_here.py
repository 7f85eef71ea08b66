"""Run the scoring programs of bundles in this process, where a test is not about their process or their sandbox.

A process of its own takes half a second to two seconds to import NumPy, tieproof or pandas; a check starts dozens.
`tests/competition/test_checking.py` has tests with real processes for each platform.
"""

import contextlib
import io
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Iterator
from unittest import mock

import pytest

from tieproof.trials.competition.inspection.tasks import _PYTHON, Program, ProgramRun, _replaced


def run_here(program: Program, seconds: float) -> ProgramRun:
    """How a Python program ended, and what it printed, as `tasks.run` returns it; there is no time limit."""
    python, *arguments = _replaced(
        [sys.executable if _PYTHON.fullmatch(word) else word for word in program.command], program
    )
    assert python == sys.executable
    out, err = io.StringIO(), io.StringIO()
    with (
        alone(arguments, str(program.here(program.within))),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = status_of(arguments)
    return ProgramRun(status, out.getvalue(), err.getvalue())


def status_of(arguments: list[str]) -> int:
    """The exit status of a program given as Python takes it: `-c` and code, or the path of a script."""
    try:
        if arguments[0] == "-c":
            exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as left:
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


@contextlib.contextmanager
def alone(arguments: list[str], folder: str) -> Iterator[None]:
    """Arguments, folder, path, modules and warnings of a new process; afterwards, those from before are back."""
    before = os.getcwd()
    first = "" if arguments[0] == "-c" else os.path.dirname(arguments[0])
    modules = dict(sys.modules)
    with (
        mock.patch.object(sys, "argv", ["-c", *arguments[2:]] if arguments[0] == "-c" else arguments),
        mock.patch.object(sys, "path", [first, *sys.path]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ResourceWarning)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            for name in sys.modules.keys() - modules.keys():
                if not name.startswith(("numpy", "pandas", "tieproof")):
                    del sys.modules[name]


def few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare with fewer random systems, each of which is a run; the faults of tests are far beyond luck."""
    for module in ("checking", "judging"):
        monkeypatch.setattr(f"tieproof.trials.competition.inspection.{module}.DRAWS", 3)
    monkeypatch.setattr("tieproof.trials.competition.inspection.judging.REDRAWS", 3)


def programs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let checks of bundles run the scoring programs in this process."""
    few_programs(monkeypatch)
    monkeypatch.setattr("tieproof.trials.competition.inspection.judging.run", run_here)
