"""Folders of strangers and for their programs: checked, made, shown, given away, measured, read and removed.

A folder is locked as long as the process that made it lives, so that whoever removes what a killed process left
behind leaves every other folder alone. Folders inside are reached by descriptors, one name at a time, because their
paths may be longer than any path that the system accepts.
"""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import IO, NamedTuple

from tieproof.errors import InputError

PREFIX = "tieproof-locked-"  # the beginning of the names of all folders that are made here, and of no others
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)  # to open a folder that is not a link
READ, _CHANGE = 0o500, 0o700  # what the owner of a folder must be allowed, to read its content or to remove it
MOST_FILES = 1_000_000  # the most that are measured; more of them count as more bytes than any limit allows
_SET_ASIDE = 2**16  # the most bytes that a file system sets aside for a small file
_MOST_TRIES = 3  # attempts to remove a folder, to which a process that was not ended may still be writing
DEEPEST = 100  # the most levels of folders in folders; libraries walk through deeper ones by recursion
NOBODY = 65534  # the user that a program is if root runs it
# The system folders that programs need; they contain no files of users.
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder and, at the end of the block, remove it with everything in it."""
    folder, lock = _locked_folder()
    try:
        yield folder
    finally:
        remove(folder)
        if lock is not None:
            os.close(lock)


def _locked_folder() -> tuple[Path, int | None]:
    """A new folder, and the descriptor that holds its lock; None if this system has no locks."""
    while True:
        folder = Path(mkdtemp(prefix=PREFIX)).resolve()
        if not _can_lock():
            return folder, None
        try:
            lock = os.open(folder, os.O_RDONLY | _FOLDER)
        except FileNotFoundError:  # another process took it for one that a killed process left
            continue
        try:
            is_ours = _locked(lock) and folder.exists()
        except OSError:  # a file system without locks, where nobody can lock and remove it
            is_ours = True
        if is_ours:
            return folder, lock
        os.close(lock)  # another process is about to do so


def _can_lock() -> bool:
    """Whether this system has what is needed to lock folders, and to reach files by descriptors of their folders."""
    return {os.open, os.unlink, os.rename} <= os.supports_dir_fd and sys.platform != "win32"


def _locked(descriptor: int) -> bool:
    """Lock a folder as long as the descriptor is open; False if another process has locked it."""
    import fcntl  # not available on every system

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sweep() -> None:
    """Remove the folders of this user that processes left behind when they were killed."""
    if not _can_lock():
        return
    for path in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # it is a link, was removed meanwhile, or cannot be locked
            if os.lstat(path).st_uid != os.geteuid():
                continue
            lock = _entered(os.fspath(path), None, READ)
            try:
                if _locked(lock):
                    remove(path)
            finally:
                os.close(lock)


def _entered(name: str, within: int | None, needs: int) -> int:
    """A descriptor of a folder, which is given the needed permissions of its owner; OSError if it is a link."""
    place = os.open(name, getattr(os, "O_PATH", os.O_RDONLY) | _FOLDER, dir_fd=within)
    try:
        mode = os.fstat(place).st_mode
        if mode & needs != needs:
            with suppress(OSError):
                os.chmod(f"/proc/self/fd/{place}" if hasattr(os, "O_PATH") else place, mode & 0o777 | needs)
        return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=place)
    finally:
        os.close(place)


class FolderEntry(NamedTuple):
    """A file, or a folder whose content was yielded before: the descriptor of the folder around it, and its name."""

    within: int
    name: str
    is_folder: bool


def walk(folder: Path, needs: int) -> Iterator[FolderEntry]:
    """Everything below a folder, however deep: each file, and each folder after its content; links are not followed.

    Only one folder is open at a time; the way back up is `..`. A folder that is moved meanwhile ends the walk,
    because its way up leads elsewhere. A folder that cannot be entered is left out.
    """
    here, levels = _entered(os.fspath(folder), None, needs), list[tuple[os.stat_result, list[str]]]()
    try:
        while True:
            folders: list[str] = []
            with os.scandir(here) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    else:
                        yield FolderEntry(here, entry.name, is_folder=False)
            levels.append((os.fstat(here), folders))
            while True:
                if folders:
                    with suppress(OSError):
                        here = _closing(here, _entered(folders[-1], here, needs))
                        break
                    folders.pop()
                    continue
                levels.pop()
                if not levels:
                    return
                here = _closing(here, os.open("..", os.O_RDONLY | _FOLDER, dir_fd=here))
                above, folders = levels[-1]
                if not os.path.samestat(os.fstat(here), above):
                    return
                yield FolderEntry(here, folders.pop(), is_folder=True)
    finally:
        os.close(here)


def _closing(old: int, new: int) -> int:
    """The new one of two descriptors, after closing the old one."""
    os.close(old)
    return new


def remove(folder: Path) -> None:
    """Remove a folder with everything in it, however deep; what the system does not let this user remove stays."""
    if not _can_lock():
        shutil.rmtree(folder, ignore_errors=True)
        return
    for _ in range(_MOST_TRIES):
        with suppress(OSError):
            for entry in walk(folder, _CHANGE):
                with suppress(OSError):
                    (os.rmdir if entry.is_folder else os.unlink)(entry.name, dir_fd=entry.within)
        with suppress(OSError):
            os.rmdir(folder)
        if not os.path.lexists(folder):
            return


def size_of(folder: Path) -> int:
    """The number of bytes in all files below a folder; the largest integer if there are too many files to count."""
    total = 0
    with suppress(OSError):
        for number, entry in enumerate(walk(folder, READ)):
            if number == MOST_FILES:
                return sys.maxsize
            with suppress(OSError):  # it may be removed meanwhile
                if not entry.is_folder:
                    total += size_by(os.stat(entry.name, dir_fd=entry.within, follow_symlinks=False))
    return total


def size_by(status: os.stat_result) -> int:
    """The number of bytes of a file, or on the disk if a program has set aside much more room there."""
    on_disk = 512 * getattr(status, "st_blocks", 0)
    # File systems themselves set aside up to as much again for a file that grows, and a little for a small one.
    return on_disk if on_disk > 2 * status.st_size + _SET_ASIDE else status.st_size


def opened_file(path: Path, most: int) -> IO[bytes] | None:
    """A file that a program wrote; None unless it is a regular file, not a link, and has at most so many bytes."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    status = os.fstat(number)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_size > most:
        os.close(number)
        return None
    return os.fdopen(number, "rb")


def outermost(places: Iterable[Path]) -> list[Path]:
    """The paths that are inside none of the others, and inside no folder that every program sees."""
    known = [*map(Path, SYSTEM_FOLDERS)]
    for place in sorted(set(places)):
        if not any(place.is_relative_to(other) for other in known):
            known.append(place)
    return known[len(SYSTEM_FOLDERS) :]


def python_folders() -> list[Path]:
    """The folders of this Python and its installed packages, and of tieproof."""
    prefixes = [Path(sys.prefix), Path(sys.base_prefix)]
    installed = [Path(place) for place in sys.path if Path(place).name in ("site-packages", "dist-packages")]
    package = Path(__file__).resolve().parents[2]
    return list(dict.fromkeys(place.absolute() for place in (*prefixes, *installed, package) if place.is_dir()))


def hand_over(folder: Path) -> None:
    """If this process is root, make nobody the owner of a folder of tieproof, so that a sealed program can use it."""
    if os.geteuid() != 0:
        return
    for place in _with_content(folder):
        os.chown(place, NOBODY, NOBODY, follow_symlinks=False)


def _with_content(place: Path) -> Iterator[str]:
    """The path of a file or folder, and those of everything below."""
    yield str(place)
    yield from (entry.path for entry, _ in entries(place, lambda error: None))


@contextmanager
def readable(places: Sequence[Path]) -> Iterator[dict[str, Path]]:
    """What a sealed program is shown, by path: if nobody may not read a place of root, a copy, owned by nobody."""
    with ExitStack() as copies:
        shown = {}
        for place in outermost(places):
            shown[str(place)] = place
            is_ours = os.geteuid() == 0 and place not in python_folders()
            if is_ours and not all(map(nobody_reads, _with_content(place))):
                folder = copies.enter_context(temporary_folder())
                copy = shown[str(place)] = folder / place.name
                if place.is_dir():
                    shutil.copytree(place, copy, symlinks=True)
                else:
                    shutil.copy2(place, copy)
                hand_over(folder)
        yield shown


def nobody_reads(place: str) -> bool:
    """Whether everybody may read a file, or list a folder; links are followed by whoever opens them."""
    status = os.lstat(place)
    needed = 0o5 if os.path.isdir(place) else 0o4
    return os.path.islink(place) or status.st_mode & needed == needed or status.st_uid == NOBODY


def entries(folder: Path, unlisted: Callable[[OSError], None]) -> Iterator[tuple[os.DirEntry[str], int]]:
    """Everything below a folder, with the number of folders between; `unlisted` is told why one is left out."""
    left = [(os.fspath(folder), 0)]
    while left:
        around, depth = left.pop()
        try:
            found = list(os.scandir(around))
        except OSError as error:
            unlisted(error)
            continue
        for entry in found:
            yield entry, depth
            if entry.is_dir(follow_symlinks=False):
                left.append((entry.path, depth + 1))


def below(folder: Path) -> list[Path]:
    """Everything below a folder, without the content of links, and of folders that must not be listed.

    Raises InputError for a folder below too many others, and for what is no file, folder or link.
    """

    def refuse(error: OSError) -> None:
        if not isinstance(error, PermissionError | FileNotFoundError):  # a path that is longer than the system allows
            raise InputError(f"{folder} has a folder that cannot be listed ({error.strerror}). Flatten it.") from None

    found = []
    for entry, depth in entries(folder, refuse):
        found.append(Path(entry.path))
        if entry.is_dir(follow_symlinks=False):
            if depth == DEEPEST:
                raise InputError(f"{folder} has folders below more than {DEEPEST} others. Flatten it.")
        elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
            raise InputError(f"{entry.path} is a pipe, a socket or a device. Remove it.")
    return found
