"""HDF5 files (.h5, .hdf5)."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.inputs.readers.contents import from_bytes, holds
from tieproof.inputs.readers.damage import library, reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.hdf5_storage import check_stored
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array

KIND = "an HDF5 file (.h5)"


@contextmanager
def opened(path: File) -> Iterator[Any]:
    """Open the file for reading."""
    h5py = library("h5py", path, "h5")
    with reading(path, KIND):
        if isinstance(path, Path):
            with h5py.File(path, "r") as file:
                yield file
            return
        with path.open("rb") as stream, h5py.File(stream, "r") as file:
            yield file


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the data sets of the file, in all groups."""
    h5py = library("h5py", path, "h5")
    found: list[Entry] = []

    def visit(name: str | bytes, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            found.append(_entry(path, name, item))

    with opened(path) as file:
        file.visititems(visit)
    return found


def _entry(path: File, name: str | bytes, dataset: Any) -> Entry:
    h5py = library("h5py", path, "h5")
    shown = _shown(name)

    def load() -> Array:
        with opened(path) as file:
            dataset = file[name]
            check_stored(dataset, Location(path, shown))
            values = np.asarray(dataset[...])
            if h5py.check_string_dtype(dataset.dtype) is None or values.dtype.kind == "S":
                return values
            return from_bytes(values.reshape(-1).tolist(), Location(path, shown)).reshape(values.shape)

    checked = False

    def rows(start: int, stop: int) -> Array:
        nonlocal checked
        with opened(path) as file:
            if not checked:
                check_stored(file[name], Location(path, shown))
                checked = True
            return np.asarray(file[name][start:stop])

    kind = holds(dataset.dtype, dataset.shape) if h5py.check_string_dtype(dataset.dtype) is None else ""
    many = len(dataset.shape) == 2
    return Entry(
        shown,
        dataset.shape,
        kind or holds("strings", dataset.shape),
        load,
        rows=rows if many else None,
    )


def _shown(name: str | bytes) -> str:
    """Return a name as text; anything in it that is not UTF-8 (bytes or lone surrogates) is escaped."""
    raw = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
    return raw.decode("utf-8", "backslashreplace")
