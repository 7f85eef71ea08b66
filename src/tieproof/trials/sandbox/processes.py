"""A program and all processes that it starts: it runs in its own session, and all its processes are ended together.

On Linux these are all descendants of the program, even those that moved to another session: they are recognized by
their parents, or by an environment variable that they inherit. On other systems they are the process group. A process
whose parents have ended, and that has left both the session and the environment of the program, is recognized only if
launcher.py adopted it. Only bubblewrap holds a process that first kills the launcher.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

# The prefix of the environment variable that marks the processes of a program, which has one of its own, because one
# program may start another.
MARK = "TIEPROOF_PROGRAM_"
_PROCESSES = Path("/proc")
END_SECONDS = 5.0  # how long to wait for killed processes to disappear; one that waits for a disk may take longer
_PAUSE = 0.005  # between two looks at processes that were killed, in seconds
_KEPT_BACK = ("SIGALRM", "SIGHUP", "SIGINT", "SIGTERM")
_ENDING = ("SIGTERM", "SIGHUP")  # sent by `kill`, batch systems and a closing terminal; they end Python at once


class ProcessTree:
    """A program started by `subprocess.Popen` in its own session; `environment` is all that it gets but its mark."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] = os.environ, **options: Any) -> None:
        self.mark = MARK + os.urandom(16).hex()
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            command, env={**environment, self.mark: "1"}, start_new_session=True, **options
        )
        self.is_whole = True

    def has_ended(self) -> bool:
        """Whether the program itself has ended; its number, also that of its group, stays reserved until `end`."""
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def end(self) -> int | None:
        """Kill all its processes and return the program's exit status; None if the system does not release it."""
        if self.is_whole:
            with undisturbed():
                self._kill()
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(END_SECONDS)
                self.is_whole = False
        return self.process.returncode

    def _kill(self) -> None:
        """Kill processes until none is left or the time is over; the first one last, which may have adopted others.

        A killed process that has not quite ended no longer shows its environment or session, so its number is kept.
        """
        deadline = time.monotonic() + END_SECONDS
        killed: set[int] = set()
        while True:
            running = self._running()
            alive = self._ours(running)
            killed |= alive
            late = time.monotonic() > deadline
            for number in alive - {self.process.pid}:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(number, signal.SIGKILL)
            if late or alive <= {self.process.pid}:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.process.pid, signal.SIGKILL)
            if late or not killed & {each.number for each in running}:
                break
            time.sleep(_PAUSE)

    def alive(self) -> set[int]:
        """The numbers of all running processes that belong to the program; none on systems without /proc."""
        return self._ours(self._running())

    def _running(self) -> list["_Running"]:
        """All processes of this user, for root of all users, of this program or not; none without /proc."""
        found, user = list[_Running](), os.geteuid() if _PROCESSES.is_dir() else 0
        for folder in filter(lambda place: place.name.isdecimal(), _PROCESSES.glob("*")):
            with suppress(OSError):  # it may end meanwhile
                if user and folder.stat().st_uid != user:
                    continue
                # number (name, with any letters) state parent group session …
                state, parent, _, session = (folder / "stat").read_bytes().rpartition(b")")[2].split()[:4]
                variables: list[bytes] = []
                with suppress(PermissionError, ProcessLookupError):  # one that is ending may have none left to read
                    variables = (folder / "environ").read_bytes().split(b"\0")
                if state not in (b"Z", b"X"):
                    marked = f"{self.mark}=1".encode() in variables
                    found.append(_Running(int(folder.name), int(parent), int(session), marked))
        return found

    def _ours(self, running: Sequence["_Running"]) -> set[int]:
        """The numbers of those that belong to the program."""
        first = self.process.pid
        ours = {each.number for each in running if each.marked or first in (each.number, each.session)}
        more = ours
        while more:
            more = {each.number for each in running if each.parent in ours} - ours
            ours |= more
        return ours


class _Running(NamedTuple):
    """A process of this user that has not ended; `marked` if it inherited the program's environment variable."""

    number: int
    parent: int
    session: int
    marked: bool


@contextmanager
def _handled(
    names: Sequence[str], replaced: Callable[[Any], bool], handler: Callable[[int, object], None]
) -> Iterator[None]:
    """Handle signals whose handler is `replaced` otherwise until the end of the block; only in the main thread."""
    here = threading.current_thread() is threading.main_thread()
    numbers = [int(getattr(signal, name)) for name in names if here and hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers if replaced(signal.getsignal(number))}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold signals back until the end of the block, so that starting or ending a process is never interrupted."""
    came: list[int] = []
    try:
        with _handled(
            _KEPT_BACK, lambda old: old not in (None, signal.SIG_IGN), lambda number, _: came.append(number)
        ):
            yield
    finally:
        for number in came:
            signal.raise_signal(number)


class Terminated(KeyboardInterrupt):
    """The process was asked to end; like an interrupt this is no `Exception`, so that no handler catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


@contextmanager
def ending_by_signals(again: bool = False) -> Iterator[None]:
    """Raise `Terminated` for signals that would end the process at once, so that it can clean up first.

    A signal that is ignored, as under `nohup`, or handled is left alone, and so are all outside the main thread.

    again : whether the signal, when the block has been left, ends the process as usual
    """
    came: list[int] = []

    def end(number: int, _: object) -> None:
        came.append(number)
        if len(came) == 1:  # later signals must not stop the cleaning up
            raise Terminated(number)

    try:
        with _handled(_ENDING, lambda old: old is signal.SIG_DFL, end):
            yield
    finally:
        if came and again:
            signal.raise_signal(came[0])


def how(status: int | None) -> str:
    """How a process ended, in words."""
    return f"by signal {-status}" if status is not None and status < 0 else f"with status {status}"
