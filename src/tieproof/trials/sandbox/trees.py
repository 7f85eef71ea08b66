"""Folders of strangers, before they are copied, shown or read: not deep, with only files, folders and links."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tieproof.errors import InputError

DEEPEST = 100
"""The most levels of folders in folders; libraries walk through deeper ones by calls in calls, which must end."""


def entries(folder: Path, unlisted: Callable[[OSError], None]) -> Iterator[tuple[os.DirEntry[str], int]]:
    """Everything below a folder, with the number of folders between; links are not followed.

    unlisted : is told why a folder cannot be listed, which is left out
    """
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


def below(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder; links are not followed, and folders that cannot be listed are left out.

    Raises InputError for a folder below too many others, and for what is no file, folder or link.
    """

    def refuse(error: OSError) -> None:
        if not isinstance(error, PermissionError | FileNotFoundError):  # a path that is longer than the system allows
            raise InputError(f"{folder} has a folder that cannot be listed ({error.strerror}). Flatten it.") from None

    for entry, depth in entries(folder, refuse):
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            if depth == DEEPEST:
                raise InputError(f"{folder} has folders below more than {DEEPEST} others. Flatten it.")
        elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
            raise InputError(f"{entry.path} is a pipe, a socket or a device. Remove it.")


def check_plain(folder: Path) -> None:
    """Raise InputError as `below` does."""
    for _ in below(folder):
        pass
