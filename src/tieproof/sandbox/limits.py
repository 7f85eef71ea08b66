"""The limits of a program: by a control group (cgroup v2) where one may be made, and of each process.

A control group may be made beside the one of this process if a system manager delegated it, as for
`systemd-run --user --scope tieproof judge …`.
"""

import os
import platform
import secrets
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.sandbox.processes import ProcessTree

GROUPS, OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
_CONTROLLERS = {"memory", "pids"}
END_SECONDS = 5.0

OPEN_FILES = 1024
PROCESSES = 128 + 4 * (os.cpu_count() or 1)
"""The most processes and threads of a program: numerical libraries start a few threads for each core."""

FILES = 10_000
"""The most files that a program may have in its temporary folders."""

_COUNTED_SINCE = (5, 14)
"""The version of Linux since which the processes of a user are counted separately in each sandbox."""


class Limits(NamedTuple):
    """The limits of a program; None if something else limits it, such as a container engine.

    memory : bytes of each process, and of all of them where a control group may be made
    written : bytes of each file
    """

    memory: int | None
    written: int


def counts_processes() -> bool:
    """Whether the system can limit the number of processes in a sandbox without a control group."""
    release = platform.release().split(".")
    return sys.platform == "linux" and tuple(int(part) for part in release[:2] if part.isdecimal()) >= _COUNTED_SINCE


def place_for_groups() -> Path | None:
    """The folder in which a control group may be made; None if there is none."""
    with suppress(OSError):
        lines = OWN_GROUP.read_text(encoding="utf-8").splitlines()
        own = next((line[3:] for line in lines if line.startswith("0::")), "/")
        around = (GROUPS / own.lstrip("/")).parent
        if own != "/" and {*(around / "cgroup.subtree_control").read_text(encoding="ascii").split()} >= _CONTROLLERS:
            return around if holds(around) else None
    return None


@cache
def holds(around: Path) -> bool:
    """Whether a process can join a control group in a folder, found out by trying."""
    try:
        with _group_in(around, 2**30) as made:
            tree = launched(["true"], os.environ, Limits(None, 2**20), made, stderr=subprocess.DEVNULL)
            with suppress(subprocess.TimeoutExpired):
                tree.process.wait(20)
            return tree.end() == 0
    except OSError:
        return False


@contextmanager
def group(memory: int | None) -> Iterator[Path | None]:
    """A control group for the block, whose processes are ended with it; None where none may be made."""
    around = None if memory is None else place_for_groups()
    with nullcontext() if memory is None or around is None else _group_in(around, memory) as made:
        yield made


@contextmanager
def _group_in(around: Path, memory: int) -> Iterator[Path]:
    """A control group in a folder."""
    made = around / f"tieproof-{secrets.token_hex(8)}"
    made.mkdir()
    try:
        for name, most in {"memory.max": memory, "memory.swap.max": 0, "pids.max": PROCESSES}.items():
            with suppress(FileNotFoundError):  # without swap there is nothing to limit
                (made / name).write_text(str(most), encoding="ascii")
        yield made
    finally:
        with suppress(OSError):
            (made / "cgroup.kill").write_text("1", encoding="ascii")
        deadline = time.monotonic() + END_SECONDS
        while made.exists() and time.monotonic() < deadline:
            with suppress(OSError):  # killed processes may not have disappeared yet
                made.rmdir()
            time.sleep(0.002)


_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ABSENT = {
    "x86_64": (248, 249, 250, 319, 447, 29, 68, 64, 425),
    "aarch64": (217, 218, 219, 279, 447, 194, 186, 190, 425),
}
"""System calls that a sealed program does not have: add_key, request_key and keyctl, whose keys outlive it;
memfd_create, memfd_secret, shmget, msgget and semget, whose memory no limit of a process counts; and io_uring_setup,
which no filter sees through."""

_SOCKET = {"x86_64": 41, "aarch64": 198}
_FAMILIES = (1, 2, 10, 16)
"""Sockets of Unix, IPv4, IPv6 and netlink, which are separate in each sandbox; others, such as vsock, are not."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _NO_SUCH_CALL, _NO_SUCH_FAMILY = 0x7FFF0000, 0x00050000 | 38, 0x00050000 | 97
_OTHER_CALLS = 0x40000000
"""The numbers of the system calls of x32 begin here."""


@cache
def seccomp() -> bytes:
    """The filter of system calls, as the kernel reads it; empty for processors that it was not written for."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _ARCHITECTURES or sys.maxsize < 2**32:
        return b""
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_LOAD, 0, 0, 0),
    ]
    steps += [(_AT_LEAST, 0, 1, _OTHER_CALLS), (_RETURN, 0, 0, _NO_SUCH_CALL)]
    for number in _ABSENT[machine]:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NO_SUCH_CALL)]
    steps += [(_EQUAL, 1, 0, _SOCKET[machine]), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, 16)]
    for family in _FAMILIES:
        steps += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("<HBBI", *step) for step in [*steps, (_RETURN, 0, 0, _NO_SUCH_FAMILY)])


def launched(
    command: Sequence[str],
    environment: Mapping[str, str],
    limits: Limits,
    group: Path | None = None,
    **options: Any,
) -> ProcessTree:
    """Start a program within its limits; all its processes end with this process.

    group : the control group that it joins
    """
    of_each = {"RLIMIT_FSIZE": limits.written, "RLIMIT_CORE": 0}
    if limits.memory is not None:
        of_each |= {"RLIMIT_AS": limits.memory, "RLIMIT_NOFILE": OPEN_FILES}
    launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")), str(os.getpid())]
    joined = str(group / "cgroup.procs") if group else ""
    limited = ",".join(f"{name}={most}" for name, most in of_each.items())
    return ProcessTree([*launcher, joined, seccomp().hex(), limited, *command], environment, **options)
