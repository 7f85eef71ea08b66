"""Folders in which programs of strangers run: measured, read and removed whatever is in them, even after a kill.

A folder is locked as long as the process that made it lives, so that whoever removes what a killed process left
behind leaves every other folder alone. Folders inside are reached by descriptors, one name at a time, because their
paths may be longer than any path that the system accepts.
"""

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import IO, NamedTuple

PREFIX = "tieproof-locked-"
"""The beginning of the names of all folders that are made here, and of no others."""

FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
"""The flags of `os.open` for a folder that is not a link."""

READ, CHANGE = 0o500, 0o700
"""The permissions of the owner that a folder needs so that its content can be read or removed."""

MOST_FILES = 1_000_000
"""The most files and folders that are measured; more of them count as more bytes than any limit allows."""

MOST_TRIES = 3
"""The number of attempts to remove a folder, to which a process that was not ended may still be writing."""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder and, at the end of the block, remove it with everything in it."""
    folder, lock = locked_folder()
    try:
        yield folder
    finally:
        remove(folder)
        if lock is not None:
            os.close(lock)


def locked_folder() -> tuple[Path, int | None]:
    """A new folder, and the descriptor that holds its lock; None if this system has no locks."""
    while True:
        folder = Path(mkdtemp(prefix=PREFIX)).resolve()
        if not can_lock():
            return folder, None
        lock = os.open(folder, os.O_RDONLY | FOLDER)
        try:
            found = locked(lock) and folder.exists()
        except OSError:  # a file system without locks, where nobody can lock and remove it
            found = True
        if found:
            return folder, lock
        os.close(lock)  # another process takes it for one that a killed process left, and removes it


def can_lock() -> bool:
    """Whether this system has what is needed to lock folders, and to reach files by descriptors of their folders."""
    return {os.open, os.unlink, os.rename} <= os.supports_dir_fd and sys.platform != "win32"


def locked(descriptor: int) -> bool:
    """Lock a folder as long as the descriptor is open; False if another process has locked it."""
    import fcntl  # not available on every system

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sweep() -> None:
    """Remove the folders of this user that processes left behind when they were killed."""
    if not can_lock():
        return
    for path in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # it is a link, was removed meanwhile, or cannot be locked
            if os.lstat(path).st_uid != os.geteuid():
                continue
            lock = entered(os.fspath(path), None, READ)
            try:
                if locked(lock):
                    remove(path)
            finally:
                os.close(lock)


def entered(name: str, within: int | None, needs: int) -> int:
    """A descriptor of a folder, which is given the needed permissions of its owner; OSError if it is a link."""
    seen = os.open(name, getattr(os, "O_PATH", os.O_RDONLY) | FOLDER, dir_fd=within)
    try:
        mode = os.fstat(seen).st_mode
        if mode & needs != needs:
            with suppress(OSError):
                os.chmod(f"/proc/self/fd/{seen}" if hasattr(os, "O_PATH") else seen, mode & 0o777 | needs)
        return os.open(".", os.O_RDONLY | FOLDER, dir_fd=seen)
    finally:
        os.close(seen)


class Found(NamedTuple):
    """A file, or a folder whose content was found before: the descriptor of the folder around it, and its name."""

    within: int
    name: str
    is_folder: bool


def walk(folder: Path, needs: int) -> Iterator[Found]:
    """Everything below a folder, however deep: each file, and each folder after its content; links are not followed.

    Only one folder is open at a time; the way back up is `..`. A folder that is moved meanwhile ends the walk,
    because its way up leads elsewhere. A folder that cannot be entered is left out.
    """
    here, levels = entered(os.fspath(folder), None, needs), list[tuple[tuple[int, int], list[str]]]()
    try:
        while True:
            folders: list[str] = []
            with os.scandir(here) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    else:
                        yield Found(here, entry.name, is_folder=False)
            levels.append((identity(here), folders))
            while True:
                if folders:
                    with suppress(OSError):
                        here = replaced(here, entered(folders[-1], here, needs))
                        break
                    folders.pop()
                    continue
                levels.pop()
                if not levels:
                    return
                here = replaced(here, os.open("..", os.O_RDONLY | FOLDER, dir_fd=here))
                above, folders = levels[-1]
                if identity(here) != above:
                    return
                yield Found(here, folders.pop(), is_folder=True)
    finally:
        os.close(here)


def replaced(old: int, new: int) -> int:
    """The new one of two descriptors, after closing the old one."""
    os.close(old)
    return new


def identity(folder: int) -> tuple[int, int]:
    """What tells an open folder from all others."""
    found = os.fstat(folder)
    return found.st_dev, found.st_ino


def remove(folder: Path) -> None:
    """Remove a folder with everything in it, however deep; what the system does not let this user remove stays."""
    if not can_lock():
        shutil.rmtree(folder, ignore_errors=True)
        return
    for _ in range(MOST_TRIES):
        with suppress(OSError):
            for found in walk(folder, CHANGE):
                with suppress(OSError):
                    (os.rmdir if found.is_folder else os.unlink)(found.name, dir_fd=found.within)
        with suppress(OSError):
            os.rmdir(folder)
        if not os.path.lexists(folder):
            return


def size_of(folder: Path) -> int:
    """The number of bytes in all files below a folder; the largest integer if there are too many files to count."""
    total = 0
    with suppress(OSError):
        for number, found in enumerate(walk(folder, READ)):
            if number == MOST_FILES:
                return sys.maxsize
            with suppress(OSError):  # it may be removed meanwhile
                if not found.is_folder:
                    total += os.stat(found.name, dir_fd=found.within, follow_symlinks=False).st_size
    return total


def opened_file(path: Path, most: int) -> IO[bytes] | None:
    """A file that a program wrote; None unless it is a regular file, not a link, and has at most so many bytes."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_size > most:
        os.close(number)
        return None
    return os.fdopen(number, "rb")
