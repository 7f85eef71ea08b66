"""Finds the files of the shards of a data set, in order, and the files that belong to them."""

import glob
import os
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tieproof.errors import InputError
from tieproof.inputs.readers import FILE_FORMATS
from tieproof.inputs.readers.entries import NAMES, listing
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.remote import File, RemoteFile, as_os_errors, file_at, is_url, said, storage_of

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

IN_BLOCKS = (".npy", ".fbin", ".u8bin", ".i8bin", ".parquet", ".h5", ".hdf5", ".safetensors")
"""The formats whose rows can be read in blocks."""

PATTERN = re.compile(r"[*?\[]")

DIGITS = re.compile(r"(\d+)")

BESIDE = {*NAMES["labels"], *NAMES["ids"], *NAMES["confidences"], "groups", "group"} - {"x", "y"}
"""The words before the extension in the names of files that belong to a shard, as in part-0.labels.npy."""


def located(paths: Paths, beside: Iterable[str] = (), what: str = "shards") -> list[Location]:
    """Return the files of a folder, a pattern or a list of these, each with the entry named after a colon.

    beside : more words before the extension of files that are not shards but belong to one
    what : the content of the files in words

    The files of a folder or a pattern are in natural order, part-2 before part-10; a list keeps its order.
    """
    given: list[Any] = list(paths) if isinstance(paths, list | tuple) else [paths]
    if not given or not all(isinstance(each, str | os.PathLike) and os.fspath(each) for each in given):
        raise InputError(
            f"The files of {what} must be a folder, a pattern such as 'gallery/*.parquet', or a list of paths, not "
            f"{' '.join(reprlib.repr(paths).split())}; pass one of these."
        )
    found = [where for each in given for where in expanded(os.fspath(each), {*BESIDE, *beside})]
    twice = [str(where.path) for where, count in Counter(found).items() if count > 1]
    if twice:
        raise InputError(f"{listing(twice)} would be read twice; give each file only once.")
    return found


def are_shards(location: str) -> bool:
    """Whether a location is a folder, a pattern or a URL, rather than a local file.

    >>> are_shards("gallery/*.parquet"), are_shards("s3://bucket/gallery.npy"), are_shards("gallery.npy:x")
    (True, True, False)
    """
    path, _ = parted(location)
    own = str(file_at(path))
    return is_url(path) or os.path.isdir(own) or (bool(PATTERN.search(own)) and not os.path.exists(own))


def expanded(location: str, beside: set[str]) -> list[Location]:
    """Return the files of a path, a folder or a pattern."""
    path, entry = parted(location)
    names, is_folder = files_of(path)
    if is_folder:
        names = [name for name in names if name.lower().endswith(IN_BLOCKS) and base(name)[0] not in "._"]
    kept = names if len(names) == 1 else without_others(names, beside)
    if not kept:
        what = f"is a folder without files of vectors ({', '.join(IN_BLOCKS)})" if is_folder else "matches no file"
        raise InputError(f"{path} {what}; check the path and its spelling.")
    extensions = sorted({PurePosixPath(name).suffix.lower() for name in kept})
    if is_folder and len(extensions) > 1:
        raise InputError(
            f"{path} is a folder with files of several formats ({', '.join(extensions)}); choose the shards by a "
            f"pattern, such as '{path.rstrip('/')}/*{extensions[0]}'."
        )
    return [Location(file_at(name), entry) for name in sorted(kept, key=in_natural_order)]


def parted(location: str) -> tuple[str, str | None]:
    """Split a location into its path or pattern and the entry after the last colon that follows a known extension."""
    if is_url(location) or not os.path.exists(location):
        for at in (at for at in range(len(location) - 1, 0, -1) if location[at] == ":"):
            if PurePosixPath(location[:at]).suffix.lower() in FILE_FORMATS:
                return location[:at], location[at + 1 :]
    return location, None


def files_of(path: str) -> tuple[list[str], bool]:
    """Return the files of a path or pattern, and whether it is a folder; a path of a file need not exist."""
    if is_url(path):
        return files_elsewhere(path)
    own = str(file_at(path))
    if os.path.isdir(own):
        return [entry.path for entry in os.scandir(own) if entry.is_file()], True
    if os.path.exists(own) or not PATTERN.search(own):
        return [own], False
    return [name for name in glob.glob(own, recursive=True) if os.path.isfile(name)], False


def files_elsewhere(url: str) -> tuple[list[str], bool]:
    """Return the files of a URL, as `files_of` does for a path."""
    storage, path = storage_of(url)
    try:
        with as_os_errors():
            if PATTERN.search(path):
                return [
                    storage.unstrip_protocol(name) for name in storage.glob(path) if not storage.isdir(name)
                ], False
            if storage.isdir(path):
                found = storage.ls(path, detail=True)
                return [storage.unstrip_protocol(each["name"]) for each in found if each["type"] == "file"], True
    except OSError as error:
        raise InputError(f"{url} cannot be listed ({said(error)}); check the URL and your access rights.") from error
    return [url], False


def without_others(names: Sequence[str], beside: set[str]) -> list[str]:
    """Leave out the files that belong to another one, whose names only add a word such as `labels` to its name."""
    stems = {PurePosixPath(name).stem for name in names}

    def belongs_to_another(name: str) -> bool:
        stem, _, word = PurePosixPath(name).stem.rpartition(".")
        return word.lower() in beside and stem in stems

    return [name for name in names if not belongs_to_another(name)]


def in_natural_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return the key that sorts files in natural order: numbers in their names by size.

    >>> sorted(["part-10.npy", "part-2.npy", "part-02.npy"], key=in_natural_order)
    ['part-02.npy', 'part-2.npy', 'part-10.npy']
    """
    parts = DIGITS.split(name)
    numbers = [int(number) for number in parts[1::2]]
    return list(zip(parts[::2], [*numbers, -1], strict=True)), name


def base(name: str) -> str:
    """Return the part of a name after the last slash."""
    return PurePosixPath(name).name


class Neighbours:
    """Finds the files that belong to others; each folder is listed once."""

    def __init__(self) -> None:
        self.folders: dict[str, set[str]] = {}

    def of(self, file: File, word: str) -> File | None:
        """Return the file whose name adds a word to that of another one, such as part-0.labels.npy, or None."""
        whole = str(file)
        folder, stem = whole[: len(whole) - len(file.name)], PurePosixPath(file.name).stem
        if folder not in self.folders:
            self.folders[folder] = {base(name) for name in files_of(folder or ".")[0]}
        found = [f"{stem}.{word}{form}" for form in FILE_FORMATS if f"{stem}.{word}{form}" in self.folders[folder]]
        if len(found) > 1:
            raise InputError(f"Both {' and '.join(found)} belong to {file}; keep one of them.")
        if not found:
            return None
        return RemoteFile(folder + found[0]) if isinstance(file, RemoteFile) else Path(folder + found[0])
