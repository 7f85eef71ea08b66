"""Error messages for files that cannot be read."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from tieproof.errors import InputError, MissingExtraError
from tieproof.inputs.readers.pipes import Piped
from tieproof.inputs.readers.remote import File, RemoteFile

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


@contextmanager
def reading(path: File, kind: str) -> Iterator[None]:
    """Turn any exception of a library into an InputError which says that the file is not of its kind."""
    try:
        yield
    except (InputError, MissingExtraError, MemoryError):
        raise
    except OSError as error:
        if isinstance(path, RemoteFile):
            raise InputError(f"{path} cannot be read ({error}); check the storage, and try again.") from error
        raise InputError(broken(path, kind)) from error
    except UnicodeDecodeError as error:
        raise InputError(not_text(path, kind, error)) from error
    except Exception as error:  # libraries raise many kinds: OSError, ValueError, struct.error, zlib.error, …
        raise InputError(broken(path, kind)) from error


def not_text(path: File, kind: str, error: UnicodeDecodeError) -> str:
    """Return the message for a file that is not UTF-8 text."""
    if looks_like(path):
        return broken(path, kind)
    byte = error.object[error.start]
    return f"{path} cannot be read as {kind}: the byte 0x{byte:02x} is not UTF-8; convert the file to UTF-8."


def looks_like(path: File | Piped) -> str | None:
    """Return the other kind of file that begins with the same bytes, if any."""
    with path.open("rb") as file:
        beginning = file.read(32)
    found = next((what for start, what in BEGINNINGS.items() if beginning.startswith(start)), None)
    return None if found is None or path.suffix.lower() in found else found


def broken(path: File | Piped, kind: str) -> str:
    """Return the message for a file that is not of its kind, with the kind that it looks like."""
    found = looks_like(path)
    if found is None:
        return f"{path} cannot be read as {kind}: it is damaged or cut short; write or copy it again."
    return f"{path} cannot be read as {kind}: it begins like {found}; give the right file or extension."


def library(name: str, path: File, extra: str) -> Any:
    """Import an optional library that is needed to read `path`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(f"Reading {path}", extra) from error
