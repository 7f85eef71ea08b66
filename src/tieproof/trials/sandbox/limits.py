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

from tieproof.trials.sandbox.processes import ProcessTree

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


class ProgramLimits(NamedTuple):
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
            tree = launched(["true"], os.environ, ProgramLimits(None, 2**20), made, stderr=subprocess.DEVNULL)
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
_ALLOW, _WITH_ERROR = 0x7FFF0000, 0x00050000
_WITHOUT_EFFECT = _WITH_ERROR
_INVALID, _NO_TERMINAL, _NO_SUCH_CALL, _UNSUPPORTED, _NO_SUCH_FAMILY = (
    _WITH_ERROR | number for number in (22, 25, 38, 95, 97)
)
"""What a filtered call returns: 0 though nothing was done, or an error that programs expect of it."""

_FILTERED: Sequence[tuple[int, Mapping[str, Sequence[int]]]] = (
    # add_key, request_key and keyctl, whose keys outlive a program
    (_NO_SUCH_CALL, {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}),
    # memfd_create, memfd_secret, shmget, msgget and semget, whose memory no limit of a process counts
    (_NO_SUCH_CALL, {"x86_64": (319, 447, 29, 68, 64), "aarch64": (279, 447, 194, 186, 190)}),
    # vmsplice, splice, tee and sendfile, by which a pipe keeps a huge page for each of its few bytes
    (_INVALID, {"x86_64": (278, 275, 276, 40), "aarch64": (75, 76, 77, 71)}),
    # setxattr, lsetxattr and fsetxattr, whose attributes no size of a file counts
    (_UNSUPPORTED, {"x86_64": (188, 189, 190), "aarch64": (5, 6, 7)}),
    # inotify_init, inotify_init1 and fanotify_init, which tell of other programs that open the same files
    (_NO_SUCH_CALL, {"x86_64": (253, 294, 300), "aarch64": (26, 262)}),
    # syslog, perf_event_open, bpf, userfaultfd and open_by_handle_at, which look outside or delay the kernel
    (_NO_SUCH_CALL, {"x86_64": (103, 298, 321, 323, 304), "aarch64": (116, 241, 280, 282, 265)}),
    # io_uring_setup, which no filter sees through
    (_NO_SUCH_CALL, {"x86_64": (425,), "aarch64": (425,)}),
    # flock, whose locks reach all programs that open the same file or device
    (_WITHOUT_EFFECT, {"x86_64": (73,), "aarch64": (32,)}),
)
"""System calls that a sealed program does not have."""

_NEWER = 451
"""All system calls from this number on are missing, because they were not looked at; so are those of x32."""


class _Choice(NamedTuple):
    """A system call that is filtered by one of its arguments.

    calls : its numbers, by the machine
    at, bits : the position of the argument, and which of its bits decide
    answers : what is done, by the argument
    otherwise : what is done for all other arguments
    """

    calls: Mapping[str, Sequence[int]]
    at: int
    bits: int
    answers: Mapping[int, int]
    otherwise: int


_ALL = 0xFFFFFFFF
_CHOICES = (
    # socket and socketpair: of Unix, IPv4, IPv6 and netlink, which are separate in each sandbox; vsock is not
    _Choice(
        {"x86_64": (41, 53), "aarch64": (198, 199)}, 0, _ALL, dict.fromkeys((1, 2, 10, 16), _ALLOW), _NO_SUCH_FAMILY
    ),
    # fallocate: not beyond the size of the file, which is limited
    _Choice({"x86_64": (285,), "aarch64": (47,)}, 1, _ALL, {0: _ALLOW}, _UNSUPPORTED),
    # ioctl: of terminals and sockets; those of files can do what fallocate can
    _Choice({"x86_64": (16,), "aarch64": (29,)}, 1, 0xFF00, dict.fromkeys((0x5400, 0x8900), _ALLOW), _NO_TERMINAL),
    # fcntl: descriptors, flags and owners of signals, and the size of a pipe; SETLK, SETLKW and both of open files
    # are locks; what is left are leases, notices, hints that stay with a file, and larger pipes
    _Choice(
        {"x86_64": (72,), "aarch64": (25,)},
        1,
        _ALL,
        {
            **dict.fromkeys((0, 1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 17, 1030, 1032), _ALLOW),
            **dict.fromkeys((6, 7, 37, 38), _WITHOUT_EFFECT),
        },
        _INVALID,
    ),
)

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06


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
        (_AT_LEAST, 0, 1, _NEWER),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
    ]
    for answer, calls in _FILTERED:
        steps += [step for number in calls[machine] for step in _answered(number, answer)]
    for choice in _CHOICES:
        chosen = [(_LOAD, 0, 0, 16 + 8 * choice.at), (_AND, 0, 0, choice.bits)]
        chosen += [step for argument, answer in choice.answers.items() for step in _answered(argument, answer)]
        chosen += [(_RETURN, 0, 0, choice.otherwise)]
        for number in choice.calls[machine]:
            steps += [(_EQUAL, 0, len(chosen), number), *chosen]
    return b"".join(struct.pack("<HBBI", *step) for step in [*steps, (_RETURN, 0, 0, _ALLOW)])


def _answered(value: int, answer: int) -> list[tuple[int, int, int, int]]:
    """The steps that return an answer if the loaded value is this one."""
    return [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, answer)]


def launched(
    command: Sequence[str],
    environment: Mapping[str, str],
    limits: ProgramLimits,
    group: Path | None = None,
    **options: Any,
) -> ProcessTree:
    """Start a program within its limits; all its processes end with this process.

    group : the control group that it joins
    """
    of_each = {"RLIMIT_FSIZE": limits.written, "RLIMIT_CORE": 0}
    if limits.memory is not None:
        of_each |= {"RLIMIT_AS": limits.memory, "RLIMIT_MEMLOCK": 0, "RLIMIT_NOFILE": OPEN_FILES}
    launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")), str(os.getpid())]
    joined = str(group / "cgroup.procs") if group else ""
    limited = ",".join(f"{name}={most}" for name, most in of_each.items())
    return ProcessTree([*launcher, joined, seccomp().hex(), limited, *command], environment, **options)
