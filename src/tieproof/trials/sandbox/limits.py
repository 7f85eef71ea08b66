"""One run of a program within its limits: by a control group (cgroup v2) where one may be made, and of each process.

A control group may be made beside the one of this process if a system manager delegated it, as for
`systemd-run --user --scope tieproof judge …`.
"""

import math
import os
import platform
import secrets
import struct
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.trials.sandbox.processes import END_SECONDS, ProcessTree, undisturbed

GROUPS, OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
LATE, TOO_MUCH = "late", "too much output"  # what a program has exceeded: its time, or what it may print and write
_PAUSES = (0.0005, 0.1)  # the shortest and longest pause between two looks at a program, in seconds
_CONTROLLERS = {"memory", "pids"}
OPEN_FILES = 1024
PROCESSES = 128 + 4 * (os.cpu_count() or 1)  # and threads, of which numerical libraries start a few for each core
FILES = 10_000  # the most files that a program may have in its temporary folders
_COUNTED_SINCE = (5, 14)  # the version of Linux since which a user's processes are counted in each sandbox alone


class ProgramLimits(NamedTuple):
    """The limits of a program; None if something else limits it, such as a container engine."""

    memory: int | None  # bytes of each process, and of all of them where a control group may be made
    written: int  # bytes of each file


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
_ALLOW, _WITHOUT_EFFECT = 0x7FFF0000, 0x00050000
_ERRORS = {"invalid": 22, "no terminal": 25, "no such call": 38, "unsupported": 95, "no such family": 97}
# What a filtered call returns: 0 though nothing was done, or an error that programs expect of it.
_ANSWERS = {"no effect": _WITHOUT_EFFECT} | {name: _WITHOUT_EFFECT | number for name, number in _ERRORS.items()}
_CALLS = Path(__file__).with_name("calls.toml")
_NEWER = 451  # all system calls from this number on are missing, because they were not looked at; so are those of x32
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
        (_RETURN, 0, 0, _ANSWERS["no such call"]),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _NEWER),
        (_RETURN, 0, 0, _ANSWERS["no such call"]),
    ]
    for call in tomllib.loads(_CALLS.read_text("utf-8"))["call"]:
        answer = _ANSWERS[call["answer"]]
        if "argument" not in call:
            steps += [step for number in call[machine] for step in _answered(number, answer)]
            continue
        chosen = [(_LOAD, 0, 0, 16 + 8 * call["argument"]), (_AND, 0, 0, call["bits"])]
        for key, result in (("allowed", _ALLOW), ("unnoticed", _WITHOUT_EFFECT)):
            chosen += [step for value in call.get(key, ()) for step in _answered(value, result)]
        chosen += [(_RETURN, 0, 0, answer)]
        for number in call[machine]:
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
    """Start a program within its limits, in a control group if given; all its processes end with this process."""
    of_each = {"RLIMIT_FSIZE": limits.written, "RLIMIT_CORE": 0}
    if limits.memory is not None:
        of_each |= {"RLIMIT_AS": limits.memory, "RLIMIT_MEMLOCK": 0, "RLIMIT_NOFILE": OPEN_FILES}
    launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launcher.py")), str(os.getpid())]
    joined = str(group / "cgroup.procs") if group else ""
    limited = ",".join(f"{name}={most}" for name, most in of_each.items())
    return ProcessTree([*launcher, joined, seccomp().hex(), limited, *command], environment, **options)


def run_program(
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
