"""The process between tieproof and an untrusted program: it limits the program, and ends what it leaves behind.

    launcher.py PARENT CGROUP FILTER LIMITS PROGRAM …

It needs no other module of tieproof. On Linux it adopts the processes whose parents have ended, such as daemons, and
it ends together with its own parent.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

FILTER = 9  # the descriptor from which bubblewrap reads the filter of system calls
SUBREAPER, PARENT_DEATH = 36, 1  # options of prctl: adopt orphans, and get a signal when the parent ends
JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of the system call, by the machine's name
END_SECONDS = 5.0


def main() -> None:
    """Run the program and end as it ended."""
    parent, group, filter_in_hex, limits, *command = sys.argv[1:]
    if sys.platform == "linux":
        signal.signal(signal.SIGTERM, lambda number, frame: leave(128 + number))
        library().prctl(SUBREAPER, 1, 0, 0, 0)
        library().prctl(PARENT_DEATH, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != int(parent):
            sys.exit(1)
    if group:
        with open(group, "w") as file:
            file.write("0")
    child = os.fork()
    if child == 0:
        prepare(filter_in_hex, limits)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            sys.stderr.write(f"{command[0]}: {error.strerror}\n")
            sys.stderr.flush()
            os._exit(127)
    status = next(status for number, status in iter(os.wait, None) if number == child)
    end_children()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        limit("RLIMIT_CORE", 0)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def prepare(filter_in_hex: str, limits: str) -> None:
    """Limit this process, which then becomes the program."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        library().prctl(PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
        if number := KEYCTL.get(os.uname().machine):
            library().syscall(number, JOIN_SESSION_KEYRING, None)
    if filter_in_hex:
        reading, writing = os.pipe()
        os.write(writing, bytes.fromhex(filter_in_hex))
        os.close(writing)
        os.dup2(reading, FILTER, inheritable=True)
    for each in limits.split(","):
        name, _, most = each.partition("=")
        limit(name, int(most))


def limit(name: str, most: int) -> None:
    """Set a limit of this process, if the system has it."""
    import resource  # not available on every system

    with contextlib.suppress(AttributeError, OSError, ValueError):
        resource.setrlimit(getattr(resource, name), (most, most))


def leave(status: int) -> None:
    """End all children, and this process."""
    end_children()
    os._exit(status)


def end_children() -> None:
    """Kill all children until none is left; the children of a killed child become children of this process."""
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline:
        for number in children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def children() -> Iterator[int]:
    """The numbers of the children of this process; none on systems without /proc."""
    for number in filter(str.isdecimal, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        with contextlib.suppress(OSError), open(f"/proc/{number}/stat", "rb") as file:
            if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                yield int(number)


def library() -> Any:
    """The C library."""
    import ctypes

    return ctypes.CDLL(None)


if __name__ == "__main__":
    main()
