"""Files that lie elsewhere and are named by a URL, such as s3://bucket/part-0.npy; read by fsspec."""

import io
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from tieproof.errors import InputError, MissingExtraError

OWN = "file://"
"""URLs of files of this machine, which are read without fsspec."""

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
"""What storages call that which says that a file is another one, the surest first."""


class Size(NamedTuple):
    """What `RemoteFile.stat` tells."""

    st_size: int


@dataclass(frozen=True)
class RemoteFile:
    """A file behind a URL, as far as readers use `pathlib.Path`."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """What stands behind the last slash."""
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        """The extension."""
        return PurePosixPath(self.url).suffix

    def open(self, mode: str = "rb", encoding: str | None = None, newline: str | None = None) -> IO[Any]:
        """Open it for reading, as bytes or, with an encoding, as text."""
        storage, path = storage_of(self.url)
        stream: IO[Any] = storage.open(path, "rb")
        return stream if encoding is None else io.TextIOWrapper(stream, encoding, newline=newline)

    def read_text(self, encoding: str) -> str:
        """All of it as text."""
        with self.open(encoding=encoding) as file:
            return str(file.read())

    def read_range(self, start: int, stop: int) -> bytes:
        """The bytes start … stop-1, fewer where the file is shorter."""
        storage, path = storage_of(self.url)
        return bytes(storage.cat_file(path, start=start, end=stop))

    def info(self) -> dict[str, Any]:
        """What the storage knows of it now."""
        storage, path = storage_of(self.url)
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
            raise InputError(f"{self} may not be read: permission denied; ask for the right to read it.") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{self} cannot be opened ({error}); check the URL and its spelling.") from error
        if found.get("type") == "directory":
            raise InputError(f"{self} is a folder; give the URL of a file in it.")
        if not found["size"]:
            raise InputError(f"{self} is empty (0 bytes); it was perhaps never written in full: write it again.")


File = Path | RemoteFile


def is_url(location: str) -> bool:
    """Whether a location is named by a URL of another place than this machine's files.

    >>> is_url("s3://bucket/part-0.npy"), is_url("file:///data/part-0.npy"), is_url("data/part-0.npy")
    (True, False, False)
    """
    return "://" in location and not location.startswith(OWN)


def file_at(location: str) -> File:
    """The file of a path or URL."""
    return RemoteFile(location) if is_url(location) else Path(location.removeprefix(OWN))


def storage_of(url: str) -> tuple[Any, str]:
    """The storage of a URL, which keeps no lists of what it has seen, and the path in it."""
    try:
        fsspec = import_module("fsspec")
    except ImportError as error:
        raise MissingExtraError(f"Reading {url}", "remote") from error
    try:
        storage, path = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:  # fsspec says which library reads such URLs
        raise InputError(f"{url} cannot be read: {error}.") from error
    except ValueError as error:
        raise InputError(f"{url} is of no storage that fsspec knows ({error}); check its beginning.") from error
    return storage, path


def state_of(file: File) -> tuple[int, str]:
    """The size of a file, and what is another one when it has changed; FileNotFoundError where there is none."""
    if isinstance(file, Path):
        found = file.stat()
        return found.st_size, str(found.st_mtime_ns)
    known = file.info()
    return int(known["size"]), next((str(known[name]) for name in CHANGED if known.get(name)), "")
