"""How a system is kept from all but its items: by bubblewrap or by a container engine; we write no sandbox.

Where neither is there, a system runs as an ordinary process with an environment and a folder of its own, and `Seal`
says in sentences what it could do.
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
"""Where a sealed system finds what it is given."""

SCRATCH = {"/tmp": "tmp", "/dev/shm": "shm"}
"""Where else a sealed system may write, and the folders beside its own that stand for it and are watched, too."""

SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
"""What programs need of the machine; no user keeps files there."""

PACKAGE = Path(__file__).resolve().parents[1]
"""tieproof, which calls a function."""

PATH = "/usr/local/bin:/usr/bin:/bin"

FILES_OPEN = "It could read and change every file that the judge can, the labels among them."
NETWORK_OPEN = "It could reach the network."
PROCESSES_OPEN = "It could see the judge's process, and read the environment of that."
ELSEWHERE = "It answers from a place of its own: neither its files nor its network, memory or time are in our hands."
SENT = "Items were sent to it under names that say nothing; what it does with them nobody knows."
ONE_PROCESS = "The limit of memory is one of each process, not of all together."


def choose_seal(system: System, how: How) -> Seal:
    """The strongest seal that there is for a system, or the one that is asked for."""
    if system.is_endpoint:
        return Seal("nothing", (ELSEWHERE, SENT))
    if system.engine:
        return Seal(system.engine, ())
    if how == "none" or (how == "auto" and not bubblewrap_works()):
        return Seal("nothing", (FILES_OPEN, NETWORK_OPEN, PROCESSES_OPEN, ONE_PROCESS))
    if not bubblewrap_works():
        raise InputError(
            "bubblewrap (bwrap) is not installed, or may not make namespaces here. Install it, or let seal be "
            "'auto', which says what was not sealed.",
            "seal",
        )
    return Seal("bubblewrap", (ONE_PROCESS,))


@cache
def bubblewrap_works() -> bool:
    """Whether bubblewrap is there and can make what it needs; found out by trying."""
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
    """Options of bubblewrap: namespaces of its own, no network, and nothing of the disk but what is shown.

    writable : folders of this machine, by where they are found; whatever is written elsewhere fails
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
    """The places that lie in no other one of them, nor in what every system sees.

    >>> [str(place) for place in outermost([Path("/a/b"), Path("/usr/bin/awk"), Path("/a"), Path("/ab")])]
    ['/a', '/ab']
    """
    known = [*map(Path, SYSTEM_FOLDERS)]
    for place in sorted(set(places)):
        if not any(place.is_relative_to(other) for other in known):
            known.append(place)
    return known[len(SYSTEM_FOLDERS) :]


def python_folders() -> list[Path]:
    """What Python needs to run what is installed beside this one, and tieproof itself."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix)]
    installed = [Path(place) for place in sys.path if Path(place).name in ("site-packages", "dist-packages")]
    found = [place.absolute() for place in (*prefixes, *installed, PACKAGE) if place.is_dir()]
    return list(dict.fromkeys(found))


def check_hidden(secrets: Sequence[Path], shown: Iterable[Path]) -> None:
    """Refuse to show a system a folder that holds a secret of the organiser, or the secret itself."""
    for place in shown:
        for secret in secrets:
            if secret.is_relative_to(place.resolve()) or place.resolve().is_relative_to(secret):
                raise InputError(
                    f"{place}, which the system is shown, holds {secret}, which it may not see. Put the system into "
                    "a folder of its own.",
                    "system",
                )


def environment_of(system: System, scratch: str) -> dict[str, str]:
    """All of the environment of a system."""
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
    """The words that run a system under its seal.

    places : the path of each field, as the system sees it
    folder : what it is given, on this machine
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
    """How podman, or docker, runs an image: without network, with nothing but its items, and within its memory."""
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
    """What the container of a batch is called, so that it can be ended."""
    return f"tieproof-{folder.name}"
