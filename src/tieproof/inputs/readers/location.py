"""Where data is: a file at a path, at a URL or in a pipe, and possibly one of its entries, written `file.npz:key`.

Files on other machines are named by a URL, such as s3://bucket/part-0.npy, and read by fsspec. Standard input and
pipes such as `<(zcat run.gz)` are read whole, once, and have no extension. Whatever is wrong with a file becomes an
`InputError` here: before it is read by `check`, while it is read by `reading`.
"""

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, NamedTuple

from tieproof.errors import InputError, MissingExtraError, import_extra

OWN = "file://"  # the URLs of local files, which are read without fsspec

MARKS = ["ETag", "etag", "md5Hash", "md5", "mtime", "LastModified", "last_modified", "modified", "updated", "created"]
"""The names under which storages report a mark that differs if a file has changed, the most reliable first."""

STANDARD_INPUT = "-"
STANDARD_INPUT_IN_WORDS = "standard input"


@dataclass(frozen=True)
class RemoteFile:
    """A file at a URL, with the methods of `pathlib.Path` that readers use."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The part of the URL after the last slash."""
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        """The extension."""
        return PurePosixPath(self.url).suffix

    def open(self, mode: str = "rb", encoding: str | None = None, newline: str | None = None) -> IO[Any]:
        """Open the file for reading, as bytes or, with an encoding, as text."""
        stream: IO[Any] = self._from_storage("open", mode="rb")
        return stream if encoding is None else io.TextIOWrapper(stream, encoding, newline=newline)

    def read_range(self, start: int, stop: int) -> bytes:
        """Read the bytes start … stop-1; fewer if the file is shorter."""
        return bytes(self._from_storage("cat_file", start=start, end=stop))

    def info(self) -> dict[str, Any]:
        """Return what the storage currently reports about the file."""
        return dict(self._from_storage("info"))

    def _from_storage(self, method: str, **options: Any) -> Any:
        storage, path = storage_of(self.url)
        with as_os_errors():
            return getattr(storage, method)(path, **options)


class Piped(NamedTuple):
    """What came through a pipe, with the methods of `pathlib.Path` that readers of TREC files use."""

    name: str
    content: bytes

    def __str__(self) -> str:
        return self.name

    def __fspath__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        """The extension: none."""
        return ""

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open the content for reading, as bytes."""
        return io.BytesIO(self.content)


File = Path | RemoteFile


class Location(NamedTuple):
    """A file and one of its entries; None: no entry is named; "": the file is a single array."""

    path: File
    entry: str | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.entry}" if self.entry else str(self.path)


def split(location: "str | os.PathLike[str] | Location") -> Location:
    """Split a location into file and entry, though both may contain colons.

    A location that exists as a whole is a file. Otherwise the file is the longest beginning that is a file, or that
    at least has an extension, and the rest after the colon is the entry.
    """
    if isinstance(location, Location):
        return location
    whole = os.fsdecode(location)
    if os.path.exists(whole):
        return Location(Path(whole))
    colons = [at for at, letter in enumerate(whole) if letter == ":"][::-1]
    for is_file in (os.path.isfile, lambda path: Path(path).suffix != ""):
        for at in colons:
            if is_file(whole[:at]):
                return Location(Path(whole[:at]), whole[at + 1 :])
    return Location(Path(whole))


def is_url(location: str) -> bool:
    """Whether a location is a URL, other than one of a local file."""
    return "://" in location and not location.startswith(OWN)


def file_at(location: str) -> File:
    """Return the file at a path or URL."""
    return RemoteFile(location) if is_url(location) else Path(location.removeprefix(OWN))


def check(path: File) -> None:
    """Refuse a file that is missing, a folder, empty, or may not be read."""
    where = "URL" if isinstance(path, RemoteFile) else "path"
    try:
        kind, empty = _kind_of(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the {where} and its spelling.") from None
    except PermissionError:
        raise InputError(f"{path} cannot be read: permission denied; change its permissions.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be opened ({said(error)}); check the {where} and its spelling.") from error
    if kind == "directory":
        raise InputError(f"{path} is a folder; give the {where} of a file in it.")
    if kind == "other":
        raise InputError(f"{path} is not a regular file; save its content to a file and give its path.")
    if empty:
        raise InputError(f"{path} is empty (0 bytes), perhaps because writing it failed; write it again.")


def _kind_of(path: File) -> tuple[str, bool]:
    """Return what is at a path or URL, "file", "directory" or "other", and whether it is empty."""
    if isinstance(path, RemoteFile):
        info = path.info()
        return info.get("type", "file"), not info["size"]
    if os.path.isdir(path):
        return "directory", False
    if os.path.exists(path) and not os.path.isfile(path):
        return "other", False
    with path.open("rb") as file:
        return "file", not file.read(1)


def state_of(file: File) -> tuple[int, str]:
    """Return the size of a file, and a mark that differs if it has changed; FileNotFoundError if it is missing."""
    if isinstance(file, Path):
        status = file.stat()
        return status.st_size, str(status.st_mtime_ns)
    info = file.info()
    return int(info["size"]), next((str(info[name]) for name in MARKS if info.get(name)), "")


def storage_of(url: str) -> tuple[Any, str]:
    """Return the storage of a URL, which does not cache listings, and the path in it."""
    fsspec = import_extra("fsspec", f"Reading {url}", "remote")
    try:
        storage, path = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except Exception as error:  # of fsspec, which names a library that is missing, or of a storage, of many kinds
        raise InputError(
            f"{url} cannot be opened by its URL ({said(error)}); check its protocol, or copy the files to a folder."
        ) from error
    return storage, path


@contextmanager
def as_os_errors() -> Iterator[None]:
    """Turn any exception of a storage into an OSError, because libraries raise many kinds."""
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise OSError(said(error)) from error


def said(error: Exception) -> str:
    """Return the message of another library as one line, or else the kind of the exception."""
    return " ".join(str(error).split()) or type(error).__name__


def with_pipes_read(*files: str) -> list[str | Piped]:
    """Return the paths of the files, and the contents of those that are pipes or, once, standard input."""
    if files.count(STANDARD_INPUT) > 1:
        raise InputError(
            f"{STANDARD_INPUT} is given twice, but standard input can be read only once; save one of them to a file."
        )
    return [_read_pipe(file) if file == STANDARD_INPUT or _is_pipe(file) else file for file in files]


def _is_pipe(file: str) -> bool:
    try:
        return stat.S_ISFIFO(Path(file).stat().st_mode)
    except (OSError, ValueError):
        return False


def _read_pipe(file: str) -> Piped:
    name = STANDARD_INPUT_IN_WORDS if file == STANDARD_INPUT else file
    if file == STANDARD_INPUT and sys.stdin is None:
        raise InputError("Standard input is closed; give the path of a file instead of -.")
    try:
        content = sys.stdin.buffer.read() if file == STANDARD_INPUT else Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror or error}); save its content to a file.") from error
    if not content:
        raise InputError(f"{name} is empty (0 bytes), perhaps because the command that writes it failed.")
    return Piped(name, content)


# The first bytes of files that often have a wrong extension.
BEGINNINGS = {
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"PK": "a zip archive (.npz, .pt, .pth)",
    b"\x89HDF": "an HDF5 file (.h5, .hdf5)",
    b"PAR1": "a Parquet file (.parquet)",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a gzip archive (unpack it)",
    b"\xfd7zXZ\x00": "a file packed by xz (unpack it by unxz)",
    b"BZh91AY&SY": "a file packed by bzip2 (unpack it by bunzip2)",
    b"\x28\xb5\x2f\xfd": "a file packed by zstd (unpack it by unzstd)",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive (unpack it)",
    b"MATLAB 5.0 MAT-file": "a MATLAB file (.mat)",
    b"\x80\x02": "a Python pickle (never loaded)",
    b"\x80\x03": "a Python pickle (never loaded)",
    b"\x80\x04": "a Python pickle (never loaded)",
    b"\x80\x05": "a Python pickle (never loaded)",
    b"\xff\xfe": "UTF-16 text (save it as UTF-8)",
    b"\xfe\xff": "UTF-16 text (save it as UTF-8)",
    b"version https://git-lfs": "a Git LFS pointer (run `git lfs pull`)",
    b"<!DOCTYPE": "a web page",
    b"<html": "a web page",
}
LONGEST_BEGINNING = 32

AGAIN = "write or copy it again, or give the right file or extension"  # for a damaged file, or one of another kind


@contextmanager
def reading(path: File | Piped, kind: str) -> Iterator[None]:
    """Turn any exception of a library into an InputError which says that the file is not of its kind."""
    try:
        yield
    except (InputError, MissingExtraError, MemoryError):
        raise
    except Exception as error:  # libraries raise many kinds: OSError, ValueError, struct.error, zlib.error, …
        if isinstance(error, OSError) and isinstance(path, RemoteFile):
            raise InputError(f"{path} cannot be read ({error}); check the storage, and try again.") from error
        if isinstance(error, UnicodeDecodeError):
            byte = error.object[error.start]
            why = f"the byte 0x{byte:02x} is not UTF-8; convert the file to UTF-8"
            raise InputError(broken(path, kind, why=why)) from error
        raise InputError(broken(path, kind)) from error


def kind_of(beginning: bytes) -> str | None:
    """Return the kind of file that begins with these bytes, if it is one of `BEGINNINGS`."""
    return next((kind for start, kind in BEGINNINGS.items() if beginning.startswith(start)), None)


def broken(
    path: File | Piped,
    kind: str,
    beginning: bytes | None = None,
    why: str = "it is damaged or cut short; write or copy it again",
) -> str:
    """Return the message for a file that is not of its kind; `beginning` if its name is no sign of one."""
    by_name = beginning is None
    if beginning is None:
        with path.open("rb") as file:
            beginning = file.read(LONGEST_BEGINNING)
    other = kind_of(beginning)
    if other is not None and not (by_name and path.suffix.lower() in other):
        why = f"it begins like {other}; give the right file or extension"
    return f"{path} cannot be read as {kind}: {why}."
