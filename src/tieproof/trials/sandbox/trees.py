"""Folders of strangers, before they are copied, shown or read: not deep, with only files, folders and links."""

import os
from collections.abc import Iterator
from pathlib import Path

from tieproof.errors import InputError

DEEPEST = 100
"""The most levels of folders in folders; libraries walk through deeper ones by calls in calls, which must end."""


def below(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder; links are not followed, and folders that cannot be listed are left out.

    Raises InputError for a folder below too many others, and for what is no file, folder or link.
    """
    left = [(os.fspath(folder), 0)]
    while left:
        around, depth = left.pop()
        try:
            entries = list(os.scandir(around))
        except (PermissionError, FileNotFoundError):  # it may be removed meanwhile
            continue
        except OSError as error:  # a path that is longer than the system allows
            raise InputError(f"{folder} has a folder that cannot be listed ({error.strerror}). Flatten it.") from None
        for entry in entries:
            yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                if depth == DEEPEST:
                    raise InputError(f"{folder} has folders below more than {DEEPEST} others. Flatten it.")
                left.append((entry.path, depth + 1))
            elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                raise InputError(f"{entry.path} is a pipe, a socket or a device. Remove it.")


def check_plain(folder: Path) -> None:
    """Raise InputError as `below` does."""
    for _ in below(folder):
        pass
