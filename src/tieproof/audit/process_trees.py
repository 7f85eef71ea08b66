"""A program with all that it starts: it runs in a session of its own, and ends as a whole.

On Linux that is every process that was started below it, also one that went to another session: each is known by its
parents, or by a mark in the environment that it inherits. Elsewhere it is the process group. A process escapes that
has neither parents left, nor session, nor environment of the program; nothing but a sandbox can hold it.
"""

import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

MARK = "TIEPROOF_AUDIT_"
"""How the names of environment variables begin that mark what belongs to a program; each program has its own, so that
one may start another."""

PROCESSES = Path("/proc")
END_SECONDS = 5.0
"""What killed processes may take to be gone; the system may hold one longer, where it waits for a disk."""

KEPT_BACK = ("SIGALRM", "SIGHUP", "SIGINT", "SIGTERM")
ENDING = ("SIGHUP", "SIGTERM")
"""What ends a Python program without anything being cleaned up."""


class ProcessTree:
    """A program that was just started, as `subprocess.Popen` starts it, in a session of its own."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str] | None = None, **options: Any) -> None:
        self.mark = MARK + secrets.token_hex(16)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            words, env={**os.environ, **(environment or {}), self.mark: "1"}, start_new_session=True, **options
        )
        self.is_whole = True

    def has_ended(self) -> bool:
        """Whether the program itself, whatever it has started, came to its end.

        Its number is kept until `end`, so that the group of that number is still its own.
        """
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def end(self) -> int | None:
        """Kill all of it; return the program's exit status, None where the system does not let go of it."""
        if self.is_whole:
            with undisturbed():
                self.kill()
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(END_SECONDS)
                self.is_whole = False
        return self.process.returncode

    def kill(self) -> None:
        """Kill processes until none is left, or the system keeps one.

        One that was killed shows neither its environment nor its session any more, while it still ends.
        """
        deadline = time.monotonic() + END_SECONDS
        killed: set[int] = set()
        while True:
            alive = self.alive()
            killed |= alive
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            for number in alive:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(number, signal.SIGKILL)
            if time.monotonic() > deadline or not (alive or killed & self.numbers()):
                break
            time.sleep(0.002)

    @staticmethod
    def numbers() -> set[int]:
        """The numbers of all processes of this user that run, where the system tells."""
        return {each.number for each in running_processes(b"")}

    def alive(self) -> set[int]:
        """The numbers of all processes that belong to the program and run, where the system tells."""
        running = list(running_processes(f"{self.mark}=1".encode()))
        first = self.process.pid
        found = {each.number for each in running if each.marked or first in (each.number, each.session)}
        more = found
        while more:
            more = {each.number for each in running if each.parent in found} - found
            found |= more
        return found


class Running(NamedTuple):
    """A process of this user that has not ended; `marked` where it inherited the environment of a program."""

    number: int
    parent: int
    session: int
    marked: bool


def running_processes(variable: bytes) -> Iterator[Running]:
    """All processes of this user, marked where they inherited a variable; none on systems without /proc."""
    if not PROCESSES.is_dir():
        return
    for number in filter(str.isdecimal, os.listdir(PROCESSES)):
        folder = f"{PROCESSES}/{number}"
        with suppress(OSError):  # it may end meanwhile
            if os.stat(folder).st_uid != os.geteuid():
                continue
            # number (name, with any letters) state parent group session …
            state, parent, _, session = content(f"{folder}/stat").rpartition(b")")[2].split()[:4]
            if state in (b"Z", b"X"):
                continue
            variables: list[bytes] = []
            with suppress(PermissionError):
                variables = content(f"{folder}/environ").split(b"\0") if variable else []
            yield Running(int(number), int(parent), int(session), variable in variables)


def content(path: str) -> bytes:
    """The bytes of a file of the system, which are few."""
    with open(path, "rb", buffering=0) as file:
        return file.read()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep signals back until the end of the block: what starts or ends processes is not left half done."""
    numbers = [] if threading.current_thread() is not threading.main_thread() else known(KEPT_BACK)
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in numbers}
    replaced = {number: handler for number, handler in before.items() if handler not in (None, signal.SIG_IGN)}
    try:
        for number in replaced:
            signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


class Ended(KeyboardInterrupt):
    """A signal asked this process to end; like an interrupt from the keyboard it is nobody's error."""


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Where a signal would end this process at once, leave the block first, so that programs end that it started.

    A signal that is ignored, or that has a handler already, is left alone; so are all outside the main thread.
    """
    here = threading.current_thread() is threading.main_thread()
    handled = [number for number in known(ENDING) if here and signal.getsignal(number) is signal.SIG_DFL]
    came: list[int] = []

    def end(number: int, _: object) -> None:
        came.append(number)
        if len(came) == 1:  # what follows finds the block being left
            raise Ended

    try:
        for number in handled:
            signal.signal(number, end)
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
        if came:
            signal.raise_signal(came[0])


def known(names: Sequence[str]) -> list[int]:
    """The numbers of signals, as far as the system has them."""
    return [int(getattr(signal, name)) for name in names if hasattr(signal, name)]


def how(status: int | None) -> str:
    """A process's end, in words.

    >>> how(7), how(-9)
    ('with status 7', 'by signal 9')
    """
    return f"by signal {-status}" if status is not None and status < 0 else f"with status {status}"
