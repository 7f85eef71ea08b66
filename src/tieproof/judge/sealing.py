"""The seal of a system, which hides all but its items from it: by bubblewrap or by a container engine.

Without either of them, a system runs as an ordinary process with a separate environment and folder, and `Seal` tells
in sentences what the system could do.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from tieproof.errors import InputError
from tieproof.judge.contests import Limits
from tieproof.judge.systems import System
from tieproof.results.judgments import Seal

How = Literal["auto", "bubblewrap", "none"]
HOW: tuple[str, ...] = get_args(How)

FOLDER = "/judge"
"""The folder in which a sealed system finds its input."""

SCRATCH = {"/tmp": "tmp", "/dev/shm": "shm"}
"""Other folders that a sealed system may write to, and the names of the watched folders that replace them."""

SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
"""The system folders that programs need; they contain no files of users."""

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of tieproof, which calls a system that is a function."""

PATH = "/usr/local/bin:/usr/bin:/bin"

FILES_OPEN = "The system could read and change every file that the judge can, including the labels."
NETWORK_OPEN = "The system could use the network."
PROCESSES_OPEN = "The system could see the judge's process and read its environment."
ELSEWHERE = "The system runs on its own machine: the judge does not control its files, network, memory or time."
SENT = "Items were sent to the system under random names; the judge does not know what it does with them."
ONE_PROCESS = "The memory limit applies to each process, not to all of them together."


def choose_seal(system: System, how: How) -> Seal:
    """The strongest available seal for a system, or the requested one."""
    if system.is_endpoint:
        return Seal("nothing", (ELSEWHERE, SENT))
    if system.engine:
        return Seal(system.engine, ())
    if how == "none" or (how == "auto" and not bubblewrap_works()):
        return Seal("nothing", (FILES_OPEN, NETWORK_OPEN, PROCESSES_OPEN, ONE_PROCESS))
    if not bubblewrap_works():
        raise InputError(
            "bubblewrap (bwrap) is not installed, or may not create namespaces here. Install it, or let seal be "
            "'auto', which reports what was not sealed.",
            "seal",
        )
    return Seal("bubblewrap", (ONE_PROCESS,))


@cache
def bubblewrap_works() -> bool:
    """Whether bubblewrap is installed and works here, found out by trying."""
    program = shutil.which("bwrap")
    if program is None:
        return False
    words = [program, *bubblewrap_options((), {}), "--", "/bin/sh", "-c", "exit 0"]
    try:
        tried = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def bubblewrap_options(shown: Iterable[Path], writable: Mapping[str, Path]) -> list[str]:
    """The options of bubblewrap: separate namespaces, no network, and no files but the shown ones.

    writable : folders on this machine, by their paths inside; writing elsewhere fails
    """
    words = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.exists(folder):
            words += ["--ro-bind", folder, folder]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for inside, place in writable.items():
        words += ["--bind", str(place), inside]
    for place in outermost(shown):
        words += ["--ro-bind", str(place), str(place)]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/"]


def outermost(places: Iterable[Path]) -> list[Path]:
    """The paths that are inside none of the others, and inside no folder that every system sees.

    >>> [str(place) for place in outermost([Path("/a/b"), Path("/usr/bin/awk"), Path("/a"), Path("/ab")])]
    ['/a', '/ab']
    """
    known = [*map(Path, SYSTEM_FOLDERS)]
    for place in sorted(set(places)):
        if not any(place.is_relative_to(other) for other in known):
            known.append(place)
    return known[len(SYSTEM_FOLDERS) :]


def python_folders() -> list[Path]:
    """The folders of this Python and its installed packages, and of tieproof."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix)]
    installed = [Path(place) for place in sys.path if Path(place).name in ("site-packages", "dist-packages")]
    found = [place.absolute() for place in (*prefixes, *installed, PACKAGE) if place.is_dir()]
    return list(dict.fromkeys(found))


def check_hidden(secrets: Sequence[Path], shown: Iterable[Path]) -> None:
    """Raise InputError if a path that the system may read is or contains a secret of the organiser."""
    for place in shown:
        for secret in secrets:
            if secret.is_relative_to(place.resolve()) or place.resolve().is_relative_to(secret):
                raise InputError(
                    f"The system may read {place}, which contains the secret {secret}. Put the system into a "
                    "separate folder.",
                    "system",
                )


def environment_of(system: System, scratch: str) -> dict[str, str]:
    """The whole environment of a system."""
    found = {
        "PATH": PATH,
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "USER": "judge",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return found | ({"PYTHONPATH": os.pathsep.join(map(str, system.path))} if system.path else {})


def sealed(
    system: System, seal: Seal, places: Mapping[str, str], folder: Path, shown: Iterable[Path], limits: Limits
) -> list[str]:
    """The words of the command that runs a system under its seal.

    places : the path of each field, as the system sees it
    folder : the folder with its input, on this machine
    """
    words = system.command(places)
    if seal.by == "bubblewrap":
        environment = environment_of(system, FOLDER)
        variables = [word for name, value in environment.items() for word in ("--setenv", name, value)]
        writable = {FOLDER: folder} | {inside: folder.with_name(name) for inside, name in SCRATCH.items()}
        for place in writable.values():
            place.mkdir(exist_ok=True)
        inside = [*bubblewrap_options(shown, writable), "--chdir", FOLDER, *variables]
        return [shutil.which("bwrap") or "bwrap", *inside, "--", *words]
    if system.engine:
        return [shutil.which(system.engine) or system.engine, *container_options(folder, limits), *words]
    return words


def container_options(folder: Path, limits: Limits) -> list[str]:
    """The options of podman or docker: without network, with only the items, and with a memory limit."""
    return [
        "run",
        "--rm",
        "--name",
        container_name(folder),
        "--pull=never",
        "--network=none",
        "--read-only",
        "--tmpfs=/tmp",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        f"--memory={limits.memory}",
        f"--memory-swap={limits.memory}",
        "--pids-limit=1024",
        f"--volume={folder}:{FOLDER}",
        f"--workdir={FOLDER}",
    ]


def container_name(folder: Path) -> str:
    """The name of a batch's container, by which it can be removed."""
    return folder.name
