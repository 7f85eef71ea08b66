"""A scoring program in a process of its own, in the folders of its platform, without network where that is possible.

With bubblewrap the folders have the names that they have on the platform, and nothing else can be written to.
Without it they are somewhere else: their names are replaced in the command, and what the program writes and sends is
not held back.
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
"""Bytes that a program may use, and write into one file."""

PAUSE = 0.01
HIDDEN = {"dev", "proc", "sys", "tmp", "run", "lost+found"}
"""Folders at the root that a program gets its own of, or none."""

LIMITING = (
    "import os, resource, sys; memory, size = map(int, sys.argv[1:3]); "
    "resource.setrlimit(resource.RLIMIT_AS, (memory, memory)); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)); os.execvp(sys.argv[3], sys.argv[3:])"
)
"""A program that takes less of the machine, and then becomes another one."""


class Layout(NamedTuple):
    """A program and where things are for it.

    command : as the platform has it
    folders : by their names on the platform, where they are here
    within : the folder that it runs in, by its name there
    """

    command: Sequence[str]
    folders: Mapping[str, Path]
    within: str

    def here(self, name: str) -> Path:
        """Where something is here that has this name on the platform."""
        folder = max((each for each in self.folders if f"{name}/".startswith(f"{each}/")), key=len)
        return self.folders[folder] / name[len(folder) :].lstrip("/")


class Ended(NamedTuple):
    """How a program ended, and what it printed; `status` is None where its time was over."""

    status: int | None
    out: str
    err: str


def run(layout: Layout, seconds: float) -> Ended:
    """Run the program until it ends, or its time is over; whatever it has started ends with it."""
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
    """Wait until the program ends; False where its time is over, or it prints without end."""
    deadline = time.monotonic() + seconds
    while not tree.has_ended():
        if time.monotonic() > deadline or max(os.fstat(each).st_size for each in printed) > MOST_LETTERS:
            return False
        time.sleep(PAUSE)
    return True


def limits() -> list[str]:
    """The words before a command that limit what it takes, where the system can."""
    if os.name != "posix":
        return []
    return [sys.executable, "-c", LIMITING, str(MOST_MEMORY), str(MOST_WRITTEN)]


def python_of(word: str) -> str:
    """This Python for whatever Python a command names."""
    return sys.executable if re.fullmatch(r"(/usr/bin/|/usr/local/bin/)?python(3(\.\d+)?)?", word) else word


def replaced(words: Sequence[str], layout: Layout) -> list[str]:
    """A command with the names of folders as they are here."""
    names = sorted(layout.folders, key=len, reverse=True)
    pattern = re.compile("|".join(f"{re.escape(name)}(?=/|$)" for name in names))
    return [pattern.sub(lambda found: str(layout.folders[found[0]]), word) for word in words]


@cache
def can_seal() -> bool:
    """Whether bubblewrap is installed, and may do its work here."""
    program = shutil.which("bwrap")
    if program is None:
        return False
    tried = [program, "--ro-bind", "/", "/", "--unshare-net", "--unshare-pid", "true"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def refuse_fixed_names(program: Path, names: Sequence[str]) -> None:
    """Refuse a program with names of folders in it that only bubblewrap can give to folders, where it is missing."""
    if can_seal():
        return
    for path in sorted(program.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        for name in names:
            if f'"{name}' in text or f"'{name}" in text:
                raise InputError(
                    f"{path} reads or writes {name}, as on the platform, and only bubblewrap (bwrap) makes such a "
                    "folder here. Install it, or take the folders from the command line."
                )


def sealed(words: Sequence[str], layout: Layout) -> list[str]:
    """The command within bubblewrap: this system to read, the folders of the platform, no network."""
    bound = ["bwrap", "--die-with-parent", "--new-session", "--unshare-net", "--unshare-pid", "--unshare-ipc"]
    bound += bindings(Path("/"), [Path(name) for name in layout.folders])
    bound += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for place in pythons():
        bound += ["--ro-bind", str(place), str(place)]
    for name, folder in layout.folders.items():
        bound += ["--bind", str(folder), name]
    return [*bound, "--chdir", layout.within, *words]


def bindings(folder: Path, mounted: Sequence[Path]) -> list[str]:
    """Options that show what is in a folder, but for where something else is mounted."""
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
    """Where Python and its modules are, as far as that is hidden."""
    found = {Path(each).resolve() for each in (sys.prefix, sys.base_prefix, *sys.path) if os.path.isabs(each)}
    hidden = [Path("/", name) for name in HIDDEN]
    return sorted(place for place in found if place.is_dir() and any(each in place.parents for each in hidden))
