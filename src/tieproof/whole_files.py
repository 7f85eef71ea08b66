"""Files that are written completely or not at all, and folders of them from which interrupted work continues."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.errors import InputError, about

UNFINISHED = ".tieproof-"  # the prefix of a file that is not complete yet, and may remain if the process is killed


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
    """Note in an interruption of the block, as KeyboardInterrupt, how much of the total is `done`, in a folder."""
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


class PartsFolder:
    """A folder with the finished parts of some work, from which the same work continues after an interruption.

    Each part is a file of arrays (.npz), and another file says what the parts are of. A folder of other work is
    refused, unless it has no part, and so is one of other files. A new one is made with its first part.

    what : the kind of work, in messages, such as "evaluation"
    title : the properties of the work, by their names in messages; each of them must be equal
    name : the name of the file with the title
    argument : the argument by which the folder was named
    beside : the names of other files that it may contain
    """

    def __init__(
        self, folder: Path, what: str, title: Mapping[str, Any], name: str, argument: str, beside: Sequence[str] = ()
    ) -> None:
        self.folder, self.title, self.place, self.begun = folder, title, folder / name, False
        with about(argument):
            if self.place.exists():
                try:
                    written = json.loads(self.place.read_text("utf-8"))
                except (OSError, ValueError, RecursionError):
                    written = None
                if not isinstance(written, dict):
                    raise InputError(f"{self.place} cannot be read. Name another folder, or remove this one.")
                differing = [each for each, value in title.items() if written.get(each) != value]
                self.begun = not differing
                if differing and next(self.names(), None) is not None:
                    raise InputError(
                        f"The folder {folder} belongs to another {what}: it differs in the {differing[0]}. Continue "
                        "with the same data and options, or name another folder."
                    )
            else:
                check_is_empty(folder, beside)

    def names(self) -> Iterator[str]:
        """The names of all parts that are there."""
        found = sorted(self.folder.glob("*.npz"))
        return (path.stem for path in found if not path.name.startswith(UNFINISHED))

    def __contains__(self, name: str) -> bool:
        return (self.folder / f"{name}.npz").exists()

    def begin(self) -> None:
        """Make the folder, and write what its parts will be of."""
        if not self.begun:
            with naming(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.place) as unfinished:
                unfinished.write_text(json.dumps(self.title, indent=2), "utf-8")
            self.begun = True

    def write(self, name: str, *arrays: Any, **named: Any) -> None:
        """Write a part."""
        self.begin()
        with atomic_write(self.folder / f"{name}.npz") as unfinished:
            np.savez(unfinished, *arrays, **named)

    @contextmanager
    def opened(self, name: str) -> Iterator[Mapping[str, Any]]:
        """Open a part, whose arrays are read in the block; those without a name are arr_0, arr_1 and so on."""
        path = self.folder / f"{name}.npz"
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                yield arrays
        except MemoryError:
            raise
        except Exception as error:  # of damaged archives: OSError, ValueError, KeyError, zlib.error, …
            raise InputError(
                f"{path} cannot be read ({error}). Remove this file and run the same again; this part will be "
                "computed again."
            ) from None

    def remove(self) -> None:
        """Remove the folder; what cannot be removed does no harm."""
        shutil.rmtree(self.folder, ignore_errors=True)


def check_is_empty(folder: Path, beside: Sequence[str] = ()) -> None:
    """Refuse a file in place of a folder, and a folder of other files than unfinished ones and those of `beside`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, but must be a folder. Name another one.")
    names = {each.name for each in folder.iterdir()} if folder.exists() else set()
    strange = sorted(name for name in names.difference(beside) if not name.startswith(UNFINISHED))
    if strange:
        raise InputError(
            f"The folder {folder} contains other files, such as {strange[0]}. Name a new folder, or an empty one."
        )
