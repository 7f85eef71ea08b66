"""Which files the shards of a data set are, in which order, and which files lie beside them."""

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
from tieproof.inputs.readers.remote import File, RemoteFile, file_at, is_url, storage_of

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

IN_BLOCKS = (".npy", ".fbin", ".u8bin", ".i8bin", ".parquet", ".h5", ".hdf5", ".safetensors")
"""Formats whose rows are read a few at a time."""

PATTERN = re.compile(r"[*?\[]")

DIGITS = re.compile(r"(\d+)")

BESIDE = {*NAMES["labels"], *NAMES["ids"], *NAMES["confidences"], "groups", "group"} - {"x", "y"}
"""Words before the extension of files that belong to a shard, as in part-0.labels.npy."""


def located(paths: Paths, beside: Iterable[str] = (), what: str = "shards") -> list[Location]:
    """The files of a folder, a pattern or a list of those, each with the entry that is named behind a colon.

    beside : more words before the extension of what is no shard but belongs to one
    what : what the files hold, in words

    A folder and a pattern give their files in natural order, part-2 before part-10; a list is taken as it is.
    """
    given: list[Any] = list(paths) if isinstance(paths, list | tuple) else [paths]
    if not given or not all(isinstance(each, str | os.PathLike) and os.fspath(each) for each in given):
        raise InputError(
            f"The files of {what} are those of a folder, of a pattern such as 'gallery/*.parquet', or of a list of "
            f"paths; {' '.join(reprlib.repr(paths).split())} is none of these."
        )
    found = [where for each in given for where in expanded(os.fspath(each), {*BESIDE, *beside})]
    twice = [str(where.path) for where, count in Counter(found).items() if count > 1]
    if twice:
        raise InputError(f"{listing(twice)} would be read twice; give every file once.")
    return found


def are_shards(location: str) -> bool:
    """Whether it stands for a folder, a pattern, or a file elsewhere, and not for a file of this machine.

    >>> are_shards("gallery/*.parquet"), are_shards("s3://bucket/gallery.npy"), are_shards("gallery.npy:x")
    (True, True, False)
    """
    path, _ = parted(location)
    own = str(file_at(path))
    return is_url(path) or os.path.isdir(own) or (bool(PATTERN.search(own)) and not os.path.exists(own))


def expanded(location: str, beside: set[str]) -> list[Location]:
    """The files that a path, a folder or a pattern stands for."""
    path, entry = parted(location)
    names, is_folder = files_of(path)
    if is_folder:
        names = [name for name in names if name.lower().endswith(IN_BLOCKS) and base(name)[0] not in "._"]
    kept = names if len(names) == 1 else without_others(names, beside)
    if not kept:
        what = f"a folder without files of vectors ({', '.join(IN_BLOCKS)})" if is_folder else "no file"
        raise InputError(f"{path} is {what}; check the path and its spelling.")
    extensions = sorted({PurePosixPath(name).suffix.lower() for name in kept})
    if is_folder and len(extensions) > 1:
        raise InputError(
            f"{path} is a folder with files of several formats ({', '.join(extensions)}); say which are shards by a "
            f"pattern, such as '{path.rstrip('/')}/*{extensions[0]}'."
        )
    return [Location(file_at(name), entry) for name in sorted(kept, key=in_natural_order)]


def parted(location: str) -> tuple[str, str | None]:
    """The path or pattern and the entry behind its last colon, if one stands behind an extension that is known."""
    if is_url(location) or not os.path.exists(location):
        for at in (at for at in range(len(location) - 1, 0, -1) if location[at] == ":"):
            if PurePosixPath(location[:at]).suffix.lower() in FILE_FORMATS:
                return location[:at], location[at + 1 :]
    return location, None


def files_of(path: str) -> tuple[list[str], bool]:
    """The files of a path or pattern by their names, and whether it is a folder; a path alone need not be there."""
    if is_url(path):
        return files_elsewhere(path)
    own = str(file_at(path))
    if os.path.isdir(own):
        return [entry.path for entry in os.scandir(own) if entry.is_file()], True
    if os.path.exists(own) or not PATTERN.search(own):
        return [own], False
    return [name for name in glob.glob(own, recursive=True) if os.path.isfile(name)], False


def files_elsewhere(url: str) -> tuple[list[str], bool]:
    """The files of a URL, as `files_of` gives those of a path."""
    storage, path = storage_of(url)
    try:
        if PATTERN.search(path):
            return [storage.unstrip_protocol(name) for name in storage.glob(path) if not storage.isdir(name)], False
        if storage.isdir(path):
            found = storage.ls(path, detail=True)
            return [storage.unstrip_protocol(each["name"]) for each in found if each["type"] == "file"], True
    except OSError as error:
        raise InputError(f"{url} cannot be looked through ({error}); check the URL and your rights to it.") from error
    return [url], False


def without_others(names: Sequence[str], beside: set[str]) -> list[str]:
    """The names without those that only add a word such as `labels` to another one, before the extension."""
    stems = {PurePosixPath(name).stem for name in names}

    def belongs_to_another(name: str) -> bool:
        stem, _, word = PurePosixPath(name).stem.rpartition(".")
        return word.lower() in beside and stem in stems

    return [name for name in names if not belongs_to_another(name)]


def in_natural_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """What files are sorted by: numbers in their names by size.

    >>> sorted(["part-10.npy", "part-2.npy", "part-02.npy"], key=in_natural_order)
    ['part-02.npy', 'part-2.npy', 'part-10.npy']
    """
    parts = DIGITS.split(name)
    numbers = [int(number) for number in parts[1::2]]
    return list(zip(parts[::2], [*numbers, -1], strict=True)), name


def base(name: str) -> str:
    """What stands behind the last slash."""
    return PurePosixPath(name).name


class Neighbours:
    """The files beside others; each folder is looked through once."""

    def __init__(self) -> None:
        self.folders: dict[str, set[str]] = {}

    def of(self, file: File, word: str) -> File | None:
        """The file that adds a word to the name of another one, as part-0.labels.npy does to part-0.npy, if any."""
        whole = str(file)
        folder, stem = whole[: len(whole) - len(file.name)], PurePosixPath(file.name).stem
        if folder not in self.folders:
            self.folders[folder] = {base(name) for name in files_of(folder or ".")[0]}
        found = [f"{stem}.{word}{form}" for form in FILE_FORMATS if f"{stem}.{word}{form}" in self.folders[folder]]
        if len(found) > 1:
            raise InputError(f"{file} has {' and '.join(found)} beside it; keep one of them.")
        if not found:
            return None
        return RemoteFile(folder + found[0]) if isinstance(file, RemoteFile) else Path(folder + found[0])
