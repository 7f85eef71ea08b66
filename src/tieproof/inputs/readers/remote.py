"""Files on other machines that are named by a URL, such as s3://bucket/part-0.npy, and read by fsspec."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from tieproof.errors import InputError, MissingExtraError

OWN = "file://"
"""The URLs of local files, which are read without fsspec."""

CHANGED = (
    "ETag",
    "etag",
    "md5Hash",
    "md5",
    "mtime",
    "LastModified",
    "last_modified",
    "modified",
    "updated",
    "created",
)
"""The names under which storages report a mark that differs if a file has changed, the most reliable first."""


class Size(NamedTuple):
    """The answer of `RemoteFile.stat`."""

    st_size: int


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
        storage, path = storage_of(self.url)
        with as_os_errors():
            stream: IO[Any] = storage.open(path, "rb")
        return stream if encoding is None else io.TextIOWrapper(stream, encoding, newline=newline)

    def read_text(self, encoding: str) -> str:
        """Read the whole file as text."""
        with self.open(encoding=encoding) as file:
            return str(file.read())

    def read_range(self, start: int, stop: int) -> bytes:
        """Read the bytes start … stop-1; fewer if the file is shorter."""
        storage, path = storage_of(self.url)
        with as_os_errors():
            return bytes(storage.cat_file(path, start=start, end=stop))

    def info(self) -> dict[str, Any]:
        """Return what the storage currently reports about the file."""
        storage, path = storage_of(self.url)
        with as_os_errors():
            return dict(storage.info(path))

    def stat(self) -> Size:
        """Its size."""
        return Size(int(self.info()["size"]))

    def check(self) -> None:
        """Refuse a file that is missing, a folder, empty, or may not be read."""
        try:
            found = self.info()
        except FileNotFoundError:
            raise InputError(f"{self} does not exist; check the URL and its spelling.") from None
        except PermissionError:
            raise InputError(f"{self} cannot be read: permission denied; change its permissions.") from None
        except OSError as error:
            raise InputError(f"{self} cannot be opened ({said(error)}); check the URL and its spelling.") from error
        if found.get("type") == "directory":
            raise InputError(f"{self} is a folder; give the URL of a file in it.")
        if not found["size"]:
            raise InputError(f"{self} is empty (0 bytes), perhaps because writing it failed; write it again.")


File = Path | RemoteFile


def is_url(location: str) -> bool:
    """Whether a location is a URL, other than one of a local file.

    >>> is_url("s3://bucket/part-0.npy"), is_url("file:///data/part-0.npy"), is_url("data/part-0.npy")
    (True, False, False)
    """
    return "://" in location and not location.startswith(OWN)


def file_at(location: str) -> File:
    """Return the file at a path or URL."""
    return RemoteFile(location) if is_url(location) else Path(location.removeprefix(OWN))


def storage_of(url: str) -> tuple[Any, str]:
    """Return the storage of a URL, which does not cache listings, and the path in it."""
    try:
        fsspec = import_module("fsspec")
    except ImportError as error:
        raise MissingExtraError(f"Reading {url}", "remote") from error
    try:
        storage, path = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:  # the message of fsspec names the library for such URLs
        raise InputError(f"{url} cannot be read: {said(error)}.") from error
    except ValueError as error:
        raise InputError(
            f"{url} belongs to no storage that fsspec knows ({said(error)}); check its protocol."
        ) from error
    except Exception as error:  # storages that need more than a URL raise many kinds: TypeError, AttributeError, …
        raise InputError(
            f"{url} cannot be opened by its URL alone ({said(error)}); check its protocol, or copy the files to a "
            "folder."
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
    """Return the message of another library as one line, or the kind of an exception without a message."""
    return " ".join(str(error).split()) or type(error).__name__


def state_of(file: File) -> tuple[int, str]:
    """Return the size of a file, and a mark that differs if it has changed; FileNotFoundError if it is missing."""
    if isinstance(file, Path):
        found = file.stat()
        return found.st_size, str(found.st_mtime_ns)
    known = file.info()
    return int(known["size"]), next((str(known[name]) for name in CHANGED if known.get(name)), "")
