"""HDF5 files (.h5, .hdf5)."""

from collections.abc import Collection
from typing import Any

import numpy as np

from tieproof.inputs.readers.columns import Entry
from tieproof.inputs.readers.contents import from_bytes, holds
from tieproof.inputs.readers.hdf5_storage import check_stored
from tieproof.inputs.readers.location import File, Location, library, opened
from tieproof.ties import Array

KIND = "an HDF5 file (.h5)"


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the data sets of the file, in all groups."""
    h5py = library("h5py", path, "h5")
    entries: list[Entry] = []

    def visit(name: str | bytes, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            entries.append(_entry(path, name, item))

    with opened(path, KIND, h5py.File) as file:
        file.visititems(visit)
    return entries


def _entry(path: File, name: str | bytes, dataset: Any) -> Entry:
    h5py = library("h5py", path, "h5")
    shape, is_text = dataset.shape, h5py.check_string_dtype(dataset.dtype) is not None
    # Anything in the name that is not UTF-8 (bytes or lone surrogates) is escaped.
    raw = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
    shown = raw.decode("utf-8", "backslashreplace")
    where = Location(path, shown)

    def load() -> Array:
        with opened(path, KIND, h5py.File) as file:
            check_stored(file[name], where)
            values = np.asarray(file[name][...])
            if not is_text or values.dtype.kind == "S":
                return values
            return from_bytes(values.reshape(-1).tolist(), where).reshape(values.shape)

    checked = False

    def rows(start: int, stop: int) -> Array:
        nonlocal checked
        with opened(path, KIND, h5py.File) as file:
            if not checked:
                check_stored(file[name], where)
                checked = True
            return np.asarray(file[name][start:stop])

    kind = holds("strings" if is_text else dataset.dtype, shape)
    return Entry(shown, shape, kind, load, rows=rows if len(shape) == 2 else None)
