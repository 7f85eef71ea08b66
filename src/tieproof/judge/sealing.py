"""The seal of a system, which hides all but its items from it: by the sandbox or by a container engine.

Without either of them, a system runs as an ordinary process with a separate environment and folder, and `Seal` tells
in sentences what the system could do.
"""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

from tieproof.errors import InputError
from tieproof.judge.items import Limits
from tieproof.judge.judgment import Seal
from tieproof.judge.systems import System
from tieproof.sandbox import bubblewrap
from tieproof.sandbox.limits import PROCESSES, place_for_groups

How = Literal["auto", "bubblewrap", "none"]
HOW: tuple[str, ...] = get_args(How)

FOLDER = "/judge"
"""The folder in which a sealed system finds its input."""

BY_GROUP, BY_PROCESS = "bubblewrap, limits by cgroup", "bubblewrap, limits by process"

FILES_OPEN = "The system could read and change every file that the judge can, including the labels."
NETWORK_OPEN = "The system could use the network."
PROCESSES_OPEN = "The system could see the judge's process and read its environment."
DAEMONS_OPEN = "The system could end the process that watches it, and leave processes that outlive the judge."
ELSEWHERE = "The system runs on its own machine: the judge does not control its files, network, memory or time."
SENT = "Items were sent to the system under random names; the judge does not know what it does with them."


def choose_seal(system: System, how: How) -> Seal:
    """The strongest available seal for a system, or the requested one."""
    if system.is_endpoint:
        return Seal("nothing", (ELSEWHERE, SENT))
    if system.engine:
        return Seal(system.engine, ())
    if how == "none" or (how == "auto" and not bubblewrap.works()):
        each = () if place_for_groups() else (bubblewrap.ONE_PROCESS,)
        return Seal("nothing", (FILES_OPEN, NETWORK_OPEN, PROCESSES_OPEN, DAEMONS_OPEN, *each))
    if not bubblewrap.works():
        raise InputError(
            "bubblewrap (bwrap) is not installed, or may not create namespaces here. Install it (for root also "
            "setpriv of util-linux), or let seal be 'auto', which reports what was not sealed.",
            "seal",
        )
    return Seal(BY_PROCESS if place_for_groups() is None else BY_GROUP, tuple(bubblewrap.gaps()))


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


def container_options(folder: Path, limits: Limits) -> list[str]:
    """The options of podman or docker: without network, with only the items, and with limits."""
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
        f"--pids-limit={PROCESSES}",
        f"--volume={folder}:{FOLDER}",
        f"--workdir={FOLDER}",
    ]


def engine_words(engine: str, folder: Path, limits: Limits) -> list[str]:
    """The words that run an image, before its name."""
    return [shutil.which(engine) or engine, *container_options(folder, limits)]


def container_name(folder: Path) -> str:
    """The name of a batch's container, by which it can be removed."""
    return folder.name
