"""The files that a sealed program is shown, is given and writes."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tieproof.sandbox.folders import temporary_folder

SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
"""The system folders that programs need; they contain no files of users."""

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of tieproof."""

NOBODY = 65534
"""The user that a program is if root runs it."""


def outermost(places: Iterable[Path]) -> list[Path]:
    """The paths that are inside none of the others, and inside no folder that every program sees.

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


def hand_over(folder: Path) -> None:
    """If this process is root, make nobody the owner of a folder of tieproof, so that a sealed program can use it."""
    if os.geteuid() != 0:
        return
    for around, folders, files in os.walk(folder):
        for place in (around, *(os.path.join(around, name) for name in (*folders, *files))):
            os.chown(place, NOBODY, NOBODY, follow_symlinks=False)


@contextmanager
def readable(places: Sequence[Path]) -> Iterator[dict[str, Path]]:
    """What a sealed program is shown, by path: if nobody may not read a place of root, a copy, owned by nobody."""
    with ExitStack() as copies:
        shown = {}
        for place in outermost(places):
            shown[str(place)] = place
            if os.geteuid() == 0 and place not in python_folders() and not all(map(nobody_reads, inside(place))):
                folder = copies.enter_context(temporary_folder())
                shown[str(place)] = folder / place.name
                if place.is_dir():
                    shutil.copytree(place, folder / place.name, symlinks=True)
                else:
                    shutil.copy2(place, folder / place.name)
                hand_over(folder)
        yield shown


def inside(place: Path) -> Iterator[str]:
    """A path and all files and folders in it."""
    yield str(place)
    for around, folders, files in os.walk(place):
        yield from (os.path.join(around, name) for name in (*folders, *files))


def nobody_reads(place: str) -> bool:
    """Whether everybody may read a file, or list a folder; links are followed by whoever opens them."""
    found = os.lstat(place)
    needed = 0o5 if os.path.isdir(place) else 0o4
    return os.path.islink(place) or found.st_mode & needed == needed or found.st_uid == NOBODY
