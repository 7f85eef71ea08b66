"""The systems that can be judged: a function, a command, a container image or an HTTP endpoint.

This module neither imports nor runs any part of a system.
"""

import importlib.util
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tieproof.audit.targets import name_of
from tieproof.errors import InputError
from tieproof.judge.protocol import FIELDS, ITEMS, PAIRS

FUNCTION = re.compile(r"[\w.]+:[\w.]+")
ENGINES = ("podman", "docker")
SCHEMES = ("http://", "https://")

WORKER = "from tieproof.judge.worker import main; main()"


class System(NamedTuple):
    """A system as the judge runs it.

    spelled : the system as it was written
    words : the words of the command, with fields in braces; empty for an endpoint
    shows : the files and folders that it needs to read
    path : the folders where Python finds the module of a function
    engine : the program that runs its image; None if it is not an image
    """

    spelled: str
    words: tuple[str, ...] = ()
    shows: tuple[Path, ...] = ()
    path: tuple[Path, ...] = ()
    engine: str | None = None

    @property
    def is_endpoint(self) -> bool:
        """Whether the system is an HTTP endpoint."""
        return not self.words

    def command(self, places: Mapping[str, str]) -> list[str]:
        """The words of the command, with fields replaced by paths; no shell interprets them."""
        return [re.sub(r"\{(\w+)\}", lambda found: places.get(found[1], found[0]), word) for word in self.words]


def as_system(given: Any) -> System:
    """The system that a text or a function describes; InputError if it cannot be run."""
    if callable(given):
        name = name_of(given)
        if name is None:
            raise InputError(
                "The function has no name by which another process could import it. Define it at the top level of a "
                "module, and pass it or 'module:function'.",
                "system",
            )
        return of_function(name, given)
    if not isinstance(given, str) or not given.strip():
        raise InputError(
            f"The system must be a command, 'module:function', 'podman:IMAGE …' or a URL, not {given!r}.",
            "system",
        )
    if given.startswith(SCHEMES):
        return System(given)
    first, _, rest = given.partition(":")
    if first in ENGINES:
        return of_image(given, first, rest)
    if FUNCTION.fullmatch(given):
        return of_function(given)
    return of_command(given)


def of_function(name: str, function: Callable[..., Any] | None = None) -> System:
    """The system of a function, which is called in a separate process."""
    module = name.partition(":")[0].partition(".")[0]
    here = os.getcwd()
    before, sys.path = sys.path, [here, *sys.path]
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError) as error:
        raise InputError(f"The module '{module}' of {name} cannot be found: {error}.", "system") from None
    finally:
        sys.path = before
    if found is None:
        raise InputError(f"The module '{module}' does not exist here: write package.module:function.", "system")
    folders = [Path(place).resolve() for place in found.submodule_search_locations or ()]
    files = [Path(found.origin).resolve()] if found.origin and not folders else []
    shows = tuple(place for place in (*folders, *files) if place.exists())  # built-in ones have no file
    path = (*(place.parent for place in shows), Path(__file__).resolve().parents[2])
    words = (sys.executable, "-c", WORKER, name, "{items}", "{pairs}", "{answers}")
    return System(name, words, shows, path)


def of_command(given: str) -> System:
    """The system of a program with arguments; it may read the files among them."""
    words = words_of(given)
    program = shutil.which(words[0])
    if program is None:
        raise InputError(
            f"The program '{words[0]}' of the system does not exist or cannot be run. Give the path of a program.",
            "system",
        )
    shows = [Path(program).absolute(), Path(program).resolve()]
    whole = [str(shows[0])]
    for word in words[1:]:
        place = Path(word)
        if "{" not in word and not word.startswith("-") and place.exists():
            shows.append(place.absolute())
            word = str(place.absolute())
        whole.append(word)
    return System(given, tuple(whole), tuple(shows))


def of_image(given: str, engine: str, rest: str) -> System:
    """The system of a container image and its command."""
    if shutil.which(engine) is None:
        raise InputError(f"{engine}, which runs the image {rest!r}, is not installed. Install it first.", "system")
    return System(given, tuple(words_of(rest)), engine=engine)


def words_of(text: str) -> list[str]:
    """The words of a command, which must have a field for its items."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"The system cannot be split into words ({error}): {text}", "system") from None
    fields = set(re.findall(r"\{(\w+)\}", text))
    if not words or not fields & {ITEMS, "lines"} or fields - FIELDS.keys():
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise InputError(
            f"The system must have {{items}} or {{lines}} where the path of its items goes, and no fields other than "
            f"{known}: {text}",
            "system",
        )
    return words


def check_asks_pairs(system: System, kind_is_distance: bool) -> None:
    """Raise InputError for a command without a field for the pairs, if distances are asked for."""
    if kind_is_distance and system.words and not any("{pairs}" in word for word in system.words):
        raise InputError(
            f"The competition asks for distances, but the system lacks {{pairs}}; put it where the path of {PAIRS} "
            f"goes: {system.spelled}",
            "system",
        )
