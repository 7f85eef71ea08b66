"""The command that seals a program: bubblewrap, with only the folders that it needs.

SECURITY.md lists the ways out that this closes.

a user:  bubblewrap ──► the program
root:    bubblewrap (only makes the folders visible) ──► setpriv (nobody from here on) ──► bubblewrap ──► the program
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tieproof.trials.sandbox import limits
from tieproof.trials.sandbox.folders import NOBODY, SYSTEM_FOLDERS
from tieproof.trials.sandbox.launcher import FILTER, SEALED

SCRATCH = ("/tmp", "/dev/shm")  # folders in memory that every program may write to
_PATH = "/usr/local/bin:/usr/bin:/bin"
_SIZE, _NO_NAMESPACES = "--size", "--disable-userns"  # options that older versions of bubblewrap lack
ONE_PROCESS = "The memory limit applies to each process, not to all of them together."
_MANY_PROCESSES = "The number of processes was not limited, because the system is too old."
_OLD = "This version of bubblewrap is too old to limit temporary folders and to forbid further namespaces."
_TIMES = "The times of device nodes could be set, because mounts could not be made read-only."
_UNFILTERED = "System calls were not filtered, because there is no filter for this processor."
# A command that limits the number of processes in the sandbox; shells spell it in two ways.
_LIMITING = 'ulimit -u "$1" 2>/dev/null || ulimit -p "$1" || exit 1; shift; exec "$@"'
_LIMITED = ("/bin/sh", "-c", _LIMITING, "sh", str(limits.PROCESSES))


class SealedRoom(NamedTuple):
    """What a sealed program sees in addition to the system folders."""

    within: str  # the folder in which it starts
    shown: Mapping[str, Path]  # paths on this machine by paths in the sandbox, which it may read
    writable: Mapping[str, Path]  # the same, which it may write to; a file can neither be removed nor replaced
    scratch: tuple[str, ...] = SCRATCH  # empty folders in memory

    @property
    def bound(self) -> list[tuple[str, Path, str]]:
        """The option of bubblewrap, the path on this machine, and the path in the sandbox."""
        shown = [("--ro-bind", place, inside) for inside, place in self.shown.items()]
        return shown + [("--bind", place, inside) for inside, place in self.writable.items()]


@cache
def works() -> bool:
    """Whether bubblewrap is installed and works here, found out by trying."""
    return shutil.which("bwrap") is not None and _ends_well("true")


@cache
def _keeps_nodes() -> bool:
    """Whether the device nodes are read-only in the sandbox, found out by looking."""
    return _ends_well("grep", "-q", " /dev/zero ro", "/proc/self/mountinfo")


def _ends_well(*command: str) -> bool:
    words, silent = sealed(command, SealedRoom("/", {}, {}), environment("/tmp"), 2**20), subprocess.DEVNULL
    most = limits.ProgramLimits(2**32, 2**20)
    with suppress(OSError):
        return limits.run_program(words, os.environ, most, 20, stdout=silent, stderr=silent)[0] == 0
    return False


@cache
def _knows(program: str, option: str) -> bool:
    """Whether bubblewrap has an option, which older versions lack."""
    with suppress(OSError, subprocess.TimeoutExpired):
        told = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=20, check=False)
        return option in told.stdout.split()
    return False


def gaps() -> list[str]:
    """What is open in this sandbox on this machine, in sentences."""
    open_ways = []
    if limits.place_for_groups() is None:
        open_ways += [ONE_PROCESS] + ([] if limits.counts_processes() else [_MANY_PROCESSES])
    if not all(_knows(shutil.which("bwrap") or "bwrap", option) for option in (_SIZE, _NO_NAMESPACES)):
        open_ways.append(_OLD)
    open_ways += [] if _keeps_nodes() else [_TIMES]
    return open_ways + ([] if limits.seccomp() else [_UNFILTERED])


def sealed(command: Sequence[str], room: SealedRoom, variables: Mapping[str, str], size: int) -> list[str]:
    """The command that runs a command in a room, with at most `size` bytes in each folder of `room.scratch`."""
    program = shutil.which("bwrap") or "bwrap"
    inside = [program, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    inside += [option for option in ("--clearenv", _NO_NAMESPACES) if _knows(program, option)]
    inside += [*_system_folders(), "--proc", "/proc", "--dev", "/dev"]
    for place in room.scratch:
        inside += [*([_SIZE, str(size)] if _knows(program, _SIZE) else []), "--tmpfs", place]
    for option, source, place in sorted(room.bound, key=lambda each: each[2]):
        inside += [option, str(source), place]
    for name, value in variables.items():
        inside += ["--setenv", name, value]
    inside += ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", room.within]
    if limits.seccomp():
        inside += ["--seccomp", str(FILTER)]
    limited = [*_LIMITED, *command] if limits.counts_processes() else command
    return [SEALED, *(as_nobody(program, room) if os.geteuid() == 0 else []), *inside, "--", *limited]


def as_nobody(program: str, room: SealedRoom) -> list[str]:
    """What makes root's command one of nobody, who sees what is bound, whatever the modes of the folders around."""
    prefix = [program, "--die-with-parent", *_system_folders(), "--tmpfs", "/tmp"]
    prefix += ["--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
    sources = [(Path(program), "--ro-bind"), *((place, option) for option, place, _ in room.bound)]
    for place, option in sorted(sources):
        if not any(place.is_relative_to(folder) for folder in SYSTEM_FOLDERS):
            for folder in reversed(place.parents):
                prefix += ["--dir", str(folder)]
            prefix += [option, str(place), str(place)]
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    return [*prefix, "--", "setpriv", *user, "--no-new-privs", "--"]


def _system_folders() -> list[str]:
    options = ["--dir", "/etc"]
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            options += ["--symlink", os.readlink(folder), folder]
        elif os.path.exists(folder):
            options += ["--ro-bind", folder, folder]
    return options


def environment(home: str, path: Sequence[Path] = ()) -> dict[str, str]:
    """The whole environment of a program, whose Python finds modules in the folders of `path`."""
    variables = {"PATH": _PATH, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "USER": "judge"}
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    return variables | ({"PYTHONPATH": os.pathsep.join(map(str, path))} if path else {})
