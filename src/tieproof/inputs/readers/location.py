"""Locations of data: a file, and possibly one of its entries, written `file.npz:key`."""

import os
from pathlib import Path
from typing import NamedTuple

from tieproof.errors import InputError
from tieproof.inputs.readers.remote import File, RemoteFile


class Location(NamedTuple):
    """A file and one of its entries; None: no entry is named; "": the file is a single array."""

    path: File
    entry: str | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.entry}" if self.entry else str(self.path)


def split(location: str | os.PathLike[str]) -> Location:
    """Split a location into file and entry, though both may contain colons.

    A location that exists as a whole is a file. Otherwise the file is the longest beginning that is a file, or that
    at least has an extension, and the rest after the colon is the entry.
    """
    whole = os.fsdecode(location)
    if os.path.exists(whole):
        return Location(Path(whole))
    colons = [at for at, letter in enumerate(whole) if letter == ":"][::-1]
    for is_file in (os.path.isfile, _has_extension):
        for at in colons:
            if is_file(whole[:at]):
                return Location(Path(whole[:at]), whole[at + 1 :])
    return Location(Path(whole))


def check(path: File) -> None:
    """Refuse a file that is missing, a folder, empty, or may not be read."""
    if isinstance(path, RemoteFile):
        path.check()
        return
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder; give the path of a file in it.")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path} is not a regular file; save its content to a file and give its path.")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the path and its spelling.") from None
    except PermissionError:
        raise InputError(f"{path} cannot be read: permission denied; change its permissions.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be opened ({error}); check the path and its spelling.") from error
    if empty:
        raise InputError(f"{path} is empty (0 bytes), perhaps because writing it failed; write it again.")


def _has_extension(path: str) -> bool:
    return Path(path).suffix != ""
