"""Archives of NumPy arrays (.npz)."""

from pathlib import Path
from zipfile import ZipFile

import numpy as np

from tieproof.readers.arrays import Array, holds
from tieproof.readers.damage import reading
from tieproof.readers.entries import Entry
from tieproof.readers.location import Location
from tieproof.readers.npy import read_header

KIND = "an archive of NumPy arrays (.npz)"


def entries(path: Path, entry: str | None) -> list[Entry]:
    """Return the arrays of the archive; only their headers are read."""
    with reading(path, KIND), ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return [_entry(path, archive, name) for name in names]


def _entry(path: Path, archive: ZipFile, member: str) -> Entry:
    name = member.removesuffix(".npy")
    with archive.open(member) as stream:
        header = read_header(stream, archive.getinfo(member).file_size, Location(path, name))

    def load() -> Array:
        with reading(path, KIND), ZipFile(path) as archive, archive.open(member) as stream:
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
            return array

    return Entry(name, len(header.shape), holds(header.dtype, header.shape), load)
