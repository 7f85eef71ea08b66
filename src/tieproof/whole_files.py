"""Files that are written completely or not at all."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tieproof.errors import InputError

UNFINISHED = ".tieproof-"
"""The prefix of a file that is not yet complete; such a file may remain if the process was killed."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a new file that replaces `path` at the end, as `unfinished_file` does.

    An OSError of the block, such as that of a full disk, becomes an InputError that names `path`.
    """
    with naming(path), unfinished_file(path) as unfinished:
        yield unfinished


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise InputError, with the name of the file that was meant, where writing it fails."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{os.fspath(path)} could not be written ({error.strerror or error}).") from error


@contextmanager
def continued(folder: Path, done: Callable[[], int], total: int) -> Iterator[None]:
    """Note in whatever interrupts the block, such as KeyboardInterrupt, how much is kept in a folder.

    done : returns how much of the total is in the folder
    """
    try:
        yield
    except BaseException as ended:
        if not isinstance(ended, Exception):
            share = f"{100 * done() // total} % is kept in {folder}, and the same call or command continues it"
            ended.add_note(share if done() else "no part was finished, so nothing is kept")
        raise


@contextmanager
def unfinished_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a new file in the folder of `path`, with the same extension, that replaces `path` at the end.

    If the block raises an exception, even an interrupt, the new file is removed and an old file at `path` stays as
    it was. The new file gets the permissions of the old one; symbolic links are followed.

    Raises InputError if `path` is a folder or not a regular file, if its folder does not exist or is not writable, or
    if the disk is full at the end.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with unfinished_file(f"{folder}/result.json") as unfinished:
    ...         _ = unfinished.write_text("{}")
    ...     Path(folder, "result.json").read_text()
    '{}'
    """
    if "\0" in os.fsdecode(path):
        raise InputError(f"{os.fsdecode(path)!r} contains a zero character, which no path has; leave it out.")
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f"{UNFINISHED}{os.urandom(8).hex()}{target.suffix}")
    try:
        _create(unfinished, target, os.fspath(path))
        yield unfinished
        with naming(path):
            with unfinished.open("rb+") as file:
                os.fsync(file.fileno())  # otherwise the new name may reach the disk before the content
            if target.exists():
                shutil.copymode(target, unfinished)
            os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):  # the file, or its folder, may not exist
            unfinished.unlink()
        raise


def _create(unfinished: Path, target: Path, name: str) -> None:
    folder = target.parent
    try:
        if target.is_dir():
            raise InputError(f"{name} is a folder; give the path of a file to write.")
        if target.exists() and not target.is_file():
            raise InputError(f"{name} is not a regular file; give the path of a file to write.")
        if not folder.is_dir():
            raise InputError(f"{name} cannot be written: there is no folder {folder}; create it first.")
        unfinished.touch(exist_ok=False)
    except PermissionError:
        raise InputError(
            f"{name} cannot be written: permission denied in the folder {folder}; choose another folder."
        ) from None
    except OSError as error:
        raise InputError(f"{name} cannot be written ({error.strerror}); choose another path.") from error
