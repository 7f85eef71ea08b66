"""Tools that tests of the command line share: commands in a separate process, their status and their errors."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tieproof.cli import main

START = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from tieproof.cli import main; main()"
)
"""Restore SIGINT, which a shell may ignore in background jobs, unlike in a terminal."""


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


def process(*args: str, folder: Path, encoding: str = "utf-8") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, *args],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONIOENCODING": encoding},
    )


def exit_status(*arguments: str) -> int:
    """The exit status of a command that runs in this process."""
    with pytest.raises(SystemExit) as done:
        main(arguments)
    return int(done.value.code or 0)


def the_line(outcome: Outcome, status: int = 2) -> str:
    """The one line on standard error, with nothing on standard output."""
    assert (outcome.status, outcome.out) == (status, ""), outcome
    assert "Traceback" not in outcome.err
    assert outcome.err.endswith("\n")
    assert outcome.err.count("\n") == 1
    return outcome.err.rstrip("\n")
