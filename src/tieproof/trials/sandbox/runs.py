"""One run of a program: started within its limits, watched, and ended with all processes that it started."""

import math
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tieproof.trials.sandbox.limits import FILES, ProgramLimits, group, launched
from tieproof.trials.sandbox.processes import ProcessTree, undisturbed

LATE, TOO_MUCH = "late", "too much output"  # what a program has exceeded: its time, or what it may print and write
_PAUSES = (0.0005, 0.1)  # the shortest and longest pause between two looks at a program, in seconds


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    limits: ProgramLimits | None,
    seconds: float,
    too_much: Callable[[float], bool] = lambda used: False,
    scratch: Sequence[str] = (),
    **options: Any,
) -> tuple[int | None, str | None]:
    """Run a program until it ends or exceeds a limit; its standard input is empty.

    Returns its exit status, None if the system does not release it, and `LATE` or `TOO_MUCH` if that ended it.

    limits : None for none, as on systems that have none
    too_much : whether it has printed or written too much, given the bytes in `scratch`
    scratch : the temporary folders of its sandbox
    options : those of `subprocess.Popen`
    """
    tree = None
    with group(limits.memory if limits else None) as joined:
        try:
            with undisturbed():
                options |= {"stdin": subprocess.DEVNULL}
                if limits is None or os.name != "posix":
                    tree = ProcessTree(command, environment, **options)
                else:
                    tree = launched(command, environment, limits, joined, **options)
            usage = Usage(tree, scratch)
            exceeded = _exceeded(tree, seconds, lambda: too_much(usage()))
        finally:
            status = tree.end() if tree else None
    return status, exceeded


def _exceeded(tree: ProcessTree, seconds: float, too_much: Callable[[], bool]) -> str | None:
    """Wait until a program ends or exceeds a limit; return which one, or None."""
    deadline, (pause, longest) = time.monotonic() + seconds, _PAUSES
    while not tree.has_ended():
        if too_much():
            return TOO_MUCH
        if time.monotonic() > deadline:
            return LATE
        time.sleep(pause)
        pause = min(2 * pause, longest)
    return TOO_MUCH if too_much() else None


class Usage:
    """The use of the temporary folders of a sandbox while it runs, by their paths in it; none without a sandbox."""

    def __init__(self, tree: ProcessTree, scratch: Sequence[str]) -> None:
        self._tree, self._scratch = tree, scratch
        self._first: int | None = None

    def __call__(self) -> float:
        """The number of bytes, which is infinite if there are more files than allowed; 0 if it cannot be seen."""
        if self._first is None and self._scratch:
            self._first = next(filter(is_first_in_its_namespace, self._tree.alive()), None)
        root = f"/proc/{self._first}/root"
        with suppress(OSError):
            if self._first is not None and not os.path.samefile(root, "/"):  # otherwise it is not yet prepared
                folders = [os.statvfs(root + place) for place in self._scratch]
                if sum(each.f_files - each.f_ffree for each in folders) > FILES:
                    return math.inf
                return sum((each.f_blocks - each.f_bfree) * each.f_frsize for each in folders)
        return 0


def is_first_in_its_namespace(number: int) -> bool:
    """Whether a process has the number 1 in a namespace of its own, which ends with it."""
    with suppress(OSError), open(f"/proc/{number}/status", encoding="utf-8", errors="replace") as file:
        numbers = next((line.split()[1:] for line in file if line.startswith("NSpid:")), [])
        return len(numbers) > 1 and numbers[-1] == "1"
    return False
