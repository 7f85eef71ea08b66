"""A scoring program in a separate process, in the folders of its platform, and without network if possible.

With bubblewrap, the folders have the same names as on the platform, and the program can write to no others. Without
bubblewrap, the folders have other names, which replace the platform's names in the command, and the program is free
to write elsewhere and to use the network.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tieproof.audit.process_trees import ProcessTree, how, undisturbed
from tieproof.errors import InputError

MOST_LETTERS = 1_000_000
MOST_MEMORY = 16 * 2**30
MOST_WRITTEN = 2**30
"""The most bytes of memory that a program may use, and that it may write into one file."""

PAUSE = 0.01
HIDDEN = {"dev", "proc", "sys", "tmp", "run", "lost+found"}
"""Folders at the root of the file system that the program does not see; some are replaced by new ones."""

LIMITING = (
    "import os, resource, sys; memory, size = map(int, sys.argv[1:3]); "
    "resource.setrlimit(resource.RLIMIT_AS, (memory, memory)); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)); os.execvp(sys.argv[3], sys.argv[3:])"
)
"""A program that limits its memory and the size of its files, and then executes another program."""


class Layout(NamedTuple):
    """A program and its folders.

    command : the command, as on the platform
    folders : the folders on this machine, by their names on the platform
    within : the folder in which the program runs, by its name on the platform
    """

    command: Sequence[str]
    folders: Mapping[str, Path]
    within: str

    def here(self, name: str) -> Path:
        """The path on this machine of a file or folder with this name on the platform."""
        folder = max((each for each in self.folders if f"{name}/".startswith(f"{each}/")), key=len)
        return self.folders[folder] / name[len(folder) :].lstrip("/")


class Ended(NamedTuple):
    """How a program ended, and what it printed; `status` is None if it exceeded a limit."""

    status: int | None
    out: str
    err: str


def run(layout: Layout, seconds: float) -> Ended:
    """Run the program until it ends or exceeds a limit; all processes that it started are ended with it."""
    limited = limits() + [python_of(word) for word in layout.command]
    words = sealed(limited, layout) if can_seal() else replaced(limited, layout)
    within = None if can_seal() else layout.here(layout.within)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with undisturbed():
            tree = ProcessTree(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=within)
        try:
            in_time = wait(tree, seconds, (out.fileno(), err.fileno()))
        finally:
            status = tree.end()
        printed = []
        for stream in (out, err):
            stream.seek(0)
            printed.append(stream.read(MOST_LETTERS).decode(errors="replace"))
    if in_time and status is not None and status < 0:
        printed[1] += f"\nit ended {how(status)}"
    return Ended(status if in_time else None, *printed)


def wait(tree: ProcessTree, seconds: float, printed: Sequence[int]) -> bool:
    """Wait until the program ends; False if it takes too long or prints too much."""
    deadline = time.monotonic() + seconds
    while not tree.has_ended():
        if time.monotonic() > deadline or max(os.fstat(each).st_size for each in printed) > MOST_LETTERS:
            return False
        time.sleep(PAUSE)
    return True


def limits() -> list[str]:
    """The words to put before a command to limit its resources; none if the system cannot."""
    if os.name != "posix":
        return []
    return [sys.executable, "-c", LIMITING, str(MOST_MEMORY), str(MOST_WRITTEN)]


def python_of(word: str) -> str:
    """The path of this Python if a word of a command names any Python; otherwise the word."""
    return sys.executable if re.fullmatch(r"(/usr/bin/|/usr/local/bin/)?python(3(\.\d+)?)?", word) else word


def replaced(words: Sequence[str], layout: Layout) -> list[str]:
    """A command in which the platform's names of folders are replaced by their paths on this machine."""
    names = sorted(layout.folders, key=len, reverse=True)
    pattern = re.compile("|".join(f"{re.escape(name)}(?=/|$)" for name in names))
    return [pattern.sub(lambda found: str(layout.folders[found[0]]), word) for word in words]


@cache
def can_seal() -> bool:
    """Whether bubblewrap is installed and works on this machine."""
    program = shutil.which("bwrap")
    if program is None:
        return False
    tried = [program, "--ro-bind", "/", "/", "--unshare-net", "--unshare-pid", "true"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def refuse_fixed_names(program: Path, names: Sequence[str]) -> None:
    """Raise InputError if bubblewrap is missing and a program contains fixed names of the platform's folders."""
    if can_seal():
        return
    for path in sorted(program.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        for name in names:
            if f'"{name}' in text or f"'{name}" in text:
                raise InputError(
                    f"{path} reads or writes {name}, a folder that only bubblewrap (bwrap) can provide here. Install "
                    "bubblewrap, or let the program take its folders from the command line."
                )


def sealed(words: Sequence[str], layout: Layout) -> list[str]:
    """The command within bubblewrap: this system is read-only, the platform's folders exist, the network does not."""
    bound = ["bwrap", "--die-with-parent", "--new-session", "--unshare-net", "--unshare-pid", "--unshare-ipc"]
    bound += bindings(Path("/"), [Path(name) for name in layout.folders])
    bound += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for place in pythons():
        bound += ["--ro-bind", str(place), str(place)]
    for name, folder in layout.folders.items():
        bound += ["--bind", str(folder), name]
    return [*bound, "--chdir", layout.within, *words]


def bindings(folder: Path, mounted: Sequence[Path]) -> list[str]:
    """The options that make the content of a folder visible, except where something else is mounted."""
    words: list[str] = []
    for entry in sorted(folder.iterdir()):
        if folder == Path("/") and entry.name in HIDDEN:
            continue
        if entry.is_symlink():
            words += ["--symlink", os.readlink(entry), str(entry)]
        elif entry in mounted:
            continue
        elif any(entry in place.parents for place in mounted) and entry.is_dir():
            words += bindings(entry, mounted)
        else:
            words += ["--ro-bind-try", str(entry), str(entry)]
    return words


def pythons() -> list[Path]:
    """The folders of Python and its modules that are inside hidden folders."""
    found = {Path(each).resolve() for each in (sys.prefix, sys.base_prefix, *sys.path) if os.path.isabs(each)}
    hidden = [Path("/", name) for name in HIDDEN]
    return sorted(place for place in found if place.is_dir() and any(each in place.parents for each in hidden))
