"""HDF5 files (.h5, .hdf5)."""

from pathlib import Path
from typing import Any

import numpy as np

from tieproof.readers.arrays import Array, from_strings, holds
from tieproof.readers.damage import library, reading
from tieproof.readers.entries import Entry
from tieproof.readers.location import Location

KIND = "an HDF5 file (.h5)"


def entries(path: Path, entry: str | None) -> list[Entry]:
    """Return the data sets of the file, in whatever group."""
    h5py = library("h5py", path, "h5")
    found: list[Entry] = []

    def visit(name: str | bytes, item: Any) -> None:
        # A name that is no UTF-8 arrives as bytes; such an entry is listed and cannot be chosen.
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            readable = name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")
            found.append(_entry(path, readable, item))

    with reading(path, KIND), h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def _entry(path: Path, name: str, dataset: Any) -> Entry:
    h5py = library("h5py", path, "h5")

    def load() -> Array:
        with reading(path, KIND), h5py.File(path, "r") as file:
            dataset = file[name]
            if h5py.check_string_dtype(dataset.dtype) is None:
                return np.asarray(dataset[...])
            strings = np.asarray(dataset.asstr()[...])
            labels = from_strings(strings.reshape(-1).tolist(), Location(path, name))
            return labels.reshape(strings.shape)

    return Entry(name, len(dataset.shape), holds(dataset.dtype, dataset.shape), load)
