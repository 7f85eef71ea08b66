"""What is judged: a function, a command, a container image or an HTTP endpoint, as people write it.

Nothing of a system is imported or run here.
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

    spelled : as it was written
    words : of the command, with fields in braces; none of an endpoint
    shows : files and folders that it needs to see
    path : where Python finds the module of a function
    engine : the program that runs its image; None: it is no image
    """

    spelled: str
    words: tuple[str, ...] = ()
    shows: tuple[Path, ...] = ()
    path: tuple[Path, ...] = ()
    engine: str | None = None

    @property
    def is_endpoint(self) -> bool:
        """Whether it answers to HTTP, somewhere."""
        return not self.words

    def command(self, places: Mapping[str, str]) -> list[str]:
        """The words with the paths of what lies in its folder; no shell reads them."""
        return [re.sub(r"\{(\w+)\}", lambda found: places.get(found[1], found[0]), word) for word in self.words]


def as_system(given: Any) -> System:
    """The system that a text or a function means; InputError where nothing can be run."""
    if callable(given):
        name = name_of(given)
        if name is None:
            raise InputError(
                "The function cannot be found by its name from another process. Put it at the top of a module, and "
                "pass it or 'module:function'.",
                "system",
            )
        return of_function(name, given)
    if not isinstance(given, str) or not given.strip():
        raise InputError(
            f"The system must be a command, 'module:function', 'podman:IMAGE …' or an address, not {given!r}.",
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
    """A function of a module, called in a process of its own."""
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
        raise InputError(f"There is no module '{module}' here; write package.module:function.", "system")
    folders = [Path(place).resolve() for place in found.submodule_search_locations or ()]
    files = [Path(found.origin).resolve()] if found.origin and not folders else []
    shows = tuple(place for place in (*folders, *files) if place.exists())  # built-in ones have no file
    path = (*(place.parent for place in shows), Path(__file__).resolve().parents[2])
    words = (sys.executable, "-c", WORKER, name, "{items}", "{pairs}", "{answers}")
    return System(name, words, shows, path)


def of_command(given: str) -> System:
    """A program with its arguments; files among them are shown to it."""
    words = words_of(given)
    program = shutil.which(words[0])
    if program is None:
        raise InputError(f"The program '{words[0]}' of the system is not there, or cannot be run.", "system")
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
    """A container image and the words of its command."""
    if shutil.which(engine) is None:
        raise InputError(f"{engine} is not installed, which is to run the image {rest!r}.", "system")
    return System(given, tuple(words_of(rest)), engine=engine)


def words_of(text: str) -> list[str]:
    """The words of a command, which has a field for what it is asked."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"The system cannot be split into words ({error}): {text}", "system") from None
    fields = set(re.findall(r"\{(\w+)\}", text))
    if not words or not fields & {ITEMS, "lines"} or fields - FIELDS.keys():
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise InputError(
            f"The system must have {{items}} or {{lines}}, where the paths of its items go, and no other fields than "
            f"{known}: {text}",
            "system",
        )
    return words


def check_asks_pairs(system: System, kind_is_distance: bool) -> None:
    """Refuse a command that would not know which pairs it is asked about."""
    if kind_is_distance and system.words and not any("{pairs}" in word for word in system.words):
        raise InputError(
            f"The competition asks for distances, and the system lacks {{pairs}}, where the path of {PAIRS} goes: "
            f"{system.spelled}",
            "system",
        )
