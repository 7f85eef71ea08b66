"""The process between tieproof and an untrusted program: it limits the program, and ends what it leaves behind.

    launcher.py PARENT CGROUP FILTER LIMITS [SEALED] PROGRAM …

It needs no other module of tieproof. On Linux it adopts the processes whose parents have ended, such as daemons, and
it ends together with its own parent. The word SEALED comes before a program that bubblewrap seals.

bubblewrap shows the nodes of the machine, such as /dev/null, and everybody may set their times, which the next batch
could read. Only a mount that is read-only prevents this; bubblewrap passes it on, but cannot make it. For the same
reason the standard input of a sealed program is a pipe, not /dev/null.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

FILTER = 9  # the descriptor from which bubblewrap reads the filter of system calls
SUBREAPER, PARENT_DEATH = 36, 1  # options of prctl: adopt orphans, and get a signal when the parent ends
JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of the system call, by the machine's name
END_SECONDS = 5.0
SEALED = "sealed:"

NODES = ("null", "zero", "full", "random", "urandom", "tty")  # the nodes that bubblewrap shows
NEW_MOUNTS, NEW_USER = 0x20000, 0x10000000
BIND, BELOW, SLAVE = 0x1000, 0x4000, 0x80000
MOUNT_SETATTR, HERE, READ_ONLY = 442, -100, 1


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
        if command[0] == SEALED:
            del command[0]
            seal()
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


def seal() -> None:
    """Make the device nodes read-only, where the system allows mounts, and the standard input empty."""
    trial = os.fork()  # a system may allow the namespace, but nothing in it, not even bubblewrap
    if trial == 0:
        with contextlib.suppress(OSError):
            keep_nodes()
            os._exit(0)
        os._exit(1)
    if os.waitpid(trial, 0)[1] == 0:
        keep_nodes()
    reading, writing = os.pipe()
    os.close(writing)
    os.dup2(reading, 0)


def keep_nodes() -> None:
    """Mount the nodes on themselves, read-only, for this process and what it becomes; writing to devices works."""
    user, group = os.geteuid(), os.getegid()
    called(library().unshare, NEW_MOUNTS | (NEW_USER if user else 0))
    if user:  # who may change mounts only in a namespace of users
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, text in maps.items():
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    called(library().mount, None, b"/", None, ctypes.c_ulong(BELOW | SLAVE), None)
    attributes = (ctypes.c_uint64 * 4)(READ_ONLY)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    for node in (f"/dev/{name}".encode() for name in NODES):
        called(library().mount, node, node, None, ctypes.c_ulong(BIND), None)
        called(library().syscall, MOUNT_SETATTR, HERE, node, 0, attributes, size)


def called(function: Callable[..., int], *arguments: object) -> None:
    """Call a function of the C library; OSError if it fails."""
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


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
    return ctypes.CDLL(None, use_errno=True)


if __name__ == "__main__":
    main()
