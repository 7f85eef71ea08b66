"""The systems that can be judged, a function, a command, a container image or an HTTP endpoint, and their seals.

A seal hides all but its items from a system, by the sandbox or by a container engine. Without either of them, a
system runs as an ordinary process with a separate environment and folder, and `Seal` tells in sentences what the
system could do. This module neither imports nor runs any part of a system.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from tieproof.errors import InputError
from tieproof.trials.audit.targets import name_of
from tieproof.trials.judge.batches import FIELDS
from tieproof.trials.sandbox import bubblewrap
from tieproof.trials.sandbox.folders import SYSTEM_FOLDERS
from tieproof.trials.sandbox.limits import PROCESSES, place_for_groups

_FUNCTION = re.compile(r"[\w.]+:[\w.]+")
_ENGINES = ("podman", "docker")
# The name of an image, with registry, port, tag and digest; the engine would read other words as its own options.
_IMAGE = re.compile(
    r"[a-zA-Z0-9][\w.-]*(:[0-9]+(?=/))?(/[a-z0-9][\w.-]*)*(:\w[\w.-]*)?(@[a-z0-9]+:[0-9a-f]{32,})?", re.ASCII
)
_SCHEMES = ("http://", "https://")
_WORKER = "from tieproof.trials.judge.batches import work; work()"


class System(NamedTuple):
    """A system as the judge runs it."""

    spelled: str  # the system as it was written
    command: tuple[str, ...] = ()  # the words of the command, with fields in braces; empty for an endpoint
    shows: tuple[Path, ...] = ()  # the files and folders that it needs to read
    path: tuple[Path, ...] = ()  # the folders where Python finds the module of a function
    engine: str | None = None  # the program that runs its image; None if it is not an image

    @property
    def is_endpoint(self) -> bool:
        """Whether the system is an HTTP endpoint."""
        return not self.command

    def has(self, field: str) -> bool:
        """Whether the command has a field."""
        return any(f"{{{field}}}" in word for word in self.command)

    def filled(self, places: Mapping[str, str]) -> list[str]:
        """The words of the command, with fields replaced by paths; no shell interprets them."""
        return [re.sub(r"\{(\w+)\}", lambda field: places.get(field[1], field[0]), word) for word in self.command]


def as_system(given: Any) -> System:
    """The system that a text or a function describes; InputError if it cannot be run."""
    if callable(given):
        name = name_of(given)
        if name is None:
            raise InputError(
                "The function has no name by which another process could import it. Define it at the top level of a "
                "module, and pass it or 'module:function'."
            )
        return _of_function(name)
    if not isinstance(given, str) or not given.strip():
        raise InputError(
            f"The system must be a command, 'module:function', 'podman:IMAGE …' or a URL, not {given!r}."
        )
    if given.startswith(_SCHEMES):
        return System(given)
    engine, _, rest = given.partition(":")
    if engine in _ENGINES:
        image, *command = _words_of(rest)
        if not _IMAGE.fullmatch(image):
            raise InputError(
                f"The image {image!r} is not the name of an image, as in {engine}:registry.example/team/system:1. "
                "Options of the engine are not passed on."
            )
        if shutil.which(engine) is None:
            raise InputError(f"{engine}, which runs the image {image}, is not installed. Install it first.")
        return System(given, (image, *command), engine=engine)
    return _of_function(given) if _FUNCTION.fullmatch(given) else _of_command(given)


def _of_function(name: str) -> System:
    """The system of a function, which is called in a separate process."""
    module = name.partition(":")[0].partition(".")[0]
    before, sys.path = sys.path, [os.getcwd(), *sys.path]
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError) as error:
        raise InputError(f"The module '{module}' of {name} cannot be found: {error}.") from None
    finally:
        sys.path = before
    if spec is None:
        raise InputError(f"The module '{module}' does not exist here: write package.module:function.")
    folders = [Path(place).resolve() for place in spec.submodule_search_locations or ()]
    files = [Path(spec.origin).resolve()] if spec.origin and not folders else []
    shows = tuple(place for place in (*folders, *files) if place.exists())  # built-in ones have no file
    path = (*(place.parent for place in shows), Path(__file__).resolve().parents[3])
    command = (sys.executable, "-c", _WORKER, name, "{items}", "{pairs}", "{answers}")
    return System(name, command, shows, path)


def _of_command(given: str) -> System:
    """The system of a program with arguments; it may read the files among them."""
    first, *rest = _words_of(given)
    program = shutil.which(first)
    if program is None:
        raise InputError(
            f"The program '{first}' of the system does not exist or cannot be run. Give the path of a program."
        )
    shim = Path(program).absolute()
    installed = _installed_behind(shim) if shim.parent.name == _SHIMS else None
    shows = [installed or shim, (installed or shim).resolve()]
    command = [str(shows[0])]
    if installed and not any(installed.is_relative_to(folder) for folder in SYSTEM_FOLDERS):
        shows.append(installed.parent.parent)  # such as ~/.pyenv/versions/3.13.1, where Python finds its library
    for word in rest:
        place = Path(word)
        if "{" not in word and not word.startswith("-") and place.exists():
            shows.append(place.absolute())
            word = str(place.absolute())
        command.append(word)
    return System(given, tuple(command), tuple(shows))


def _installed_behind(shim: Path) -> Path | None:
    """The program that a shim of pyenv starts, as pyenv tells, which a seal would hide; the shim is not run."""
    words = [shutil.which("pyenv") or "pyenv", "which", shim.name]
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True)
        place = Path(told.stdout.strip())
        return place if place.is_absolute() and place.is_file() else None
    return None


def _words_of(text: str) -> list[str]:
    """The words of a command, which must have a field for its items."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"The system cannot be split into words ({error}): {text}") from None
    fields = set(re.findall(r"\{(\w+)\}", text))
    if not words or not fields & {"items", "lines"} or fields - FIELDS.keys():
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise InputError(
            f"The system must have {{items}} or {{lines}} where the path of its items goes, and no fields other than "
            f"{known}: {text}"
        )
    return words


class Seal(NamedTuple):
    """The sandbox that keeps a system away from everything but its items.

    by : "bubblewrap, limits by cgroup", "bubblewrap, limits by process", "podman", "docker" or "nothing"
    not_sealed : what the system could do nevertheless, in sentences
    """

    by: str
    not_sealed: tuple[str, ...]


How = Literal["auto", "bubblewrap", "none"]
HOW: tuple[str, ...] = get_args(How)
FOLDER = "/judge"  # the folder in which a sealed system finds its input

UNSEALED = (
    "The system could read and change every file that the judge can, including the labels.",
    "The system could use the network.",
    "The system could see the judge's process and read its environment.",
    "The system could end the process that watches it, and leave processes that outlive the judge.",
)
_SHIMS = "shims"  # the folder of pyenv, asdf and mise whose programs start another one, which is elsewhere
_ELSEWHERE = (
    "The system runs on its own machine: the judge does not control its files, network, memory or time.",
    "Items were sent to the system under random names; the judge does not know what it does with them.",
)


def choose_seal(system: System, how: How) -> Seal:
    """The strongest available seal for a system, or the requested one."""
    if system.is_endpoint:
        return Seal("nothing", _ELSEWHERE)
    if system.engine:
        return Seal(system.engine, ())
    if how == "none" or (how == "auto" and not bubblewrap.works()):
        each = () if place_for_groups() else (bubblewrap.ONE_PROCESS,)
        return Seal("nothing", (*UNSEALED, *each))
    if not bubblewrap.works():
        raise InputError(
            "bubblewrap (bwrap) is not installed, or may not create namespaces here. Install it (for root also "
            "setpriv of util-linux), or let seal be 'auto', which reports what was not sealed.",
            "seal",
        )
    shim = next((place for place in system.shows if place.parent.name == _SHIMS and place.is_file()), None)
    if shim is not None:
        raise InputError(
            f"The program {shim} of the system only starts another program, which the seal hides. Give the path of "
            f"that program, such as the one that 'pyenv which {shim.name}' prints.",
            "system",
        )
    limits = "process" if place_for_groups() is None else "cgroup"
    return Seal(f"bubblewrap, limits by {limits}", tuple(bubblewrap.gaps()))


def check_hidden(secrets: Sequence[Path], shown: Iterable[Path]) -> None:
    """Raise InputError if a path that the system may read is or contains a secret of the organizer."""
    for place in shown:
        for secret in secrets:
            if secret.is_relative_to(place.resolve()) or place.resolve().is_relative_to(secret):
                raise InputError(
                    f"The system may read {place}, which contains the secret {secret}. Put the system into a "
                    "separate folder.",
                    "system",
                )


def engine_options(folder: Path, memory: int) -> list[str]:
    """The options of podman or docker for an image; its container is named as the folder, to be removed by name."""
    sealed = "--pull=never --network=none --read-only --tmpfs=/tmp --cap-drop=ALL --security-opt=no-new-privileges"
    limits = f"--memory={memory} --memory-swap={memory} --pids-limit={PROCESSES} --workdir={FOLDER}"
    return ["run", "--rm", "--name", folder.name, *sealed.split(), *limits.split(), f"--volume={folder}:{FOLDER}"]
