"""Archives of NumPy arrays (.npz)."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.contents import holds
from tieproof.inputs.readers.damage import reading
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.location import Location
from tieproof.inputs.readers.npy import read_header
from tieproof.ties import Array

KIND = "an archive of NumPy arrays (.npz)"

MOST_UNPACKED = {ZIP_STORED: 1, ZIP_DEFLATED: 1032}
"""The most bytes into which a byte of an archive can be unpacked, whatever its headers claim."""


def entries(path: Path, named: Collection[str] = ()) -> list[Entry]:
    """Return the arrays of the archive; only their headers are read."""
    with reading(path, KIND), ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            raise InputError(
                f"{path} contains the array '{twice[0].removesuffix('.npy')}' more than once, and programs differ in "
                "which one they read; write the archive again with each array once."
            )
        return [_entry(path, archive, name) for name in names]


def _entry(path: Path, archive: ZipFile, member: str) -> Entry:
    name = member.removesuffix(".npy")
    info = archive.getinfo(member)
    packed = min(info.compress_size, path.stat().st_size)
    with archive.open(member) as stream:
        size = min(info.file_size, packed * MOST_UNPACKED.get(info.compress_type, 2**20))
        header = read_header(stream, size, Location(path, name))

    def load() -> Array:
        with reading(path, KIND), ZipFile(path) as archive, archive.open(member) as stream:
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
            return array

    return Entry(name, header.shape, holds(header.dtype, header.shape), load)
