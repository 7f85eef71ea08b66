"""HDF5 files (.h5, .hdf5)."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from tieproof.inputs.readers.contents import from_bytes, holds
from tieproof.inputs.readers.damage import library, reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.hdf5_storage import check_stored
from tieproof.inputs.readers.location import Location
from tieproof.ties import Array

KIND = "an HDF5 file (.h5)"


def entries(path: Path, named: Collection[str] = ()) -> list[Entry]:
    """Return the data sets of the file, in whatever group."""
    h5py = library("h5py", path, "h5")
    found: list[Entry] = []

    def visit(name: str | bytes, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            found.append(_entry(path, name, item))

    with reading(path, KIND), h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def _entry(path: Path, name: str | bytes, dataset: Any) -> Entry:
    h5py = library("h5py", path, "h5")
    shown = _shown(name)

    def load() -> Array:
        with reading(path, KIND), h5py.File(path, "r") as file:
            dataset = file[name]
            check_stored(dataset, Location(path, shown))
            values = np.asarray(dataset[...])
            if h5py.check_string_dtype(dataset.dtype) is None or values.dtype.kind == "S":
                return values
            return from_bytes(values.reshape(-1).tolist(), Location(path, shown)).reshape(values.shape)

    kind = holds(dataset.dtype, dataset.shape) if h5py.check_string_dtype(dataset.dtype) is None else ""
    return Entry(shown, dataset.shape, kind or holds("strings", dataset.shape), load)


def _shown(name: str | bytes) -> str:
    """A name as text; what is no UTF-8 in it, which arrives as bytes or as lone surrogates, is escaped."""
    raw = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
    return raw.decode("utf-8", "backslashreplace")
