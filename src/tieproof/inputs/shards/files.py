"""The files of a data set: which they are, in order, and what belongs to them."""

import glob
import os
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

from tieproof.errors import InputError
from tieproof.inputs.readers import FILE_FORMATS
from tieproof.inputs.readers.columns import NAMES, listing
from tieproof.inputs.readers.location import File, Location, as_os_errors, file_at, is_url, said, storage_of

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

DENSE = (".npy", ".fbin", ".u8bin", ".i8bin", ".fvecs", ".bvecs", ".parquet", ".h5", ".hdf5", ".safetensors")

IN_BLOCKS = (*DENSE, ".csr")
"""The formats whose rows can be read in blocks; of sparse rows, only those of .csr are."""

WHOLE = (".npz", ".jsonl")
"""The formats of shards of sparse rows alone. One file is read at a time, whole, as Parquet with such rows is."""

PATTERN = re.compile(r"[*?\[]")

DIGITS = re.compile(r"(\d+)")

BESIDE = {*NAMES["labels"], *NAMES["ids"], *NAMES["confidences"], "groups", "group"} - {"x", "y"}
"""The words before the extension in the names of files that belong to a shard, as in part-0.labels.npy."""


def located(paths: Paths, beside: Iterable[str] = (), what: str = "shards") -> list[Location]:
    """Return the files of a folder or a pattern in natural order, part-2 before part-10, or of a list of these.

    beside : more words before the extension of files that are not shards but belong to one
    """
    given: list[Any] = list(paths) if isinstance(paths, list | tuple) else [paths]
    if not given or not all(isinstance(each, str | os.PathLike) and os.fspath(each) for each in given):
        raise InputError(
            f"The files of {what} must be a folder, a pattern such as 'gallery/*.parquet', or a list of paths, not "
            f"{' '.join(reprlib.repr(paths).split())}; pass one of these."
        )
    files = [where for each in given for where in _expanded(os.fspath(each), {*BESIDE, *beside})]
    twice = [str(where.path) for where, count in Counter(files).items() if count > 1]
    if twice:
        raise InputError(f"{listing(twice)} would be read twice; give each file only once.")
    return files


def are_shards(location: str) -> bool:
    """Whether a location is a folder, a pattern or a URL, rather than a local file."""
    path, _ = parted(location)
    own = str(file_at(path))
    return is_url(path) or os.path.isdir(own) or (bool(PATTERN.search(own)) and not os.path.exists(own))


def _expanded(location: str, beside: set[str]) -> list[Location]:
    path, entry = parted(location)
    names, is_folder = _files_of(path)
    if is_folder:
        shown = [name for name in names if PurePosixPath(name).name[0] not in "._"]
        names = [name for name in shown if name.lower().endswith((*IN_BLOCKS, *WHOLE))]
    stems = {PurePosixPath(name).stem for name in names}

    def belongs_to_another(name: str) -> bool:
        """Whether a name only adds a word such as `labels` to that of another file."""
        stem, _, word = PurePosixPath(name).stem.rpartition(".")
        return word.lower() in beside and stem in stems

    kept = names if len(names) == 1 else [name for name in names if not belongs_to_another(name)]
    if is_folder:  # with rows that are read in blocks, other files are no shards
        kept = [name for name in kept if name.lower().endswith(IN_BLOCKS)] or kept
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


def _files_of(path: str) -> tuple[list[str], bool]:
    """Return the files of a path, pattern or URL, and whether it is a folder; a path of a file need not exist."""
    if is_url(path):
        storage, inside = storage_of(path)
        try:
            with as_os_errors():
                if PATTERN.search(inside):
                    names = [name for name in storage.glob(inside) if not storage.isdir(name)]
                    return [storage.unstrip_protocol(name) for name in names], False
                if storage.isdir(inside):
                    listed = [each["name"] for each in storage.ls(inside, detail=True) if each["type"] == "file"]
                    return [storage.unstrip_protocol(name) for name in listed], True
        except OSError as error:
            raise InputError(
                f"{path} cannot be listed ({said(error)}); check the URL and your access rights."
            ) from error
        return [path], False
    own = str(file_at(path))
    if os.path.isdir(own):
        return [entry.path for entry in os.scandir(own) if entry.is_file()], True
    if os.path.exists(own) or not PATTERN.search(own):
        return [own], False
    return [name for name in glob.glob(own, recursive=True) if os.path.isfile(name)], False


def in_natural_order(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return the key that sorts files in natural order: numbers in their names by size."""
    parts = DIGITS.split(name)
    numbers = [int(number) for number in parts[1::2]]
    return list(zip(parts[::2], [*numbers, -1], strict=True)), name


def file_beside(file: File, word: str, folders: dict[str, set[str]]) -> File | None:
    """Return the file whose name adds a word, as part-0.labels.npy does, or None; folders listed are in `folders`."""
    whole = str(file)
    folder, stem = whole[: len(whole) - len(file.name)], PurePosixPath(file.name).stem
    if folder not in folders:
        folders[folder] = {PurePosixPath(name).name for name in _files_of(folder or ".")[0]}
    names = [f"{stem}.{word}{form}" for form in FILE_FORMATS if f"{stem}.{word}{form}" in folders[folder]]
    if len(names) > 1:
        raise InputError(f"Both {' and '.join(names)} belong to {file}; keep one of them.")
    return file_at(folder + names[0]) if names else None
