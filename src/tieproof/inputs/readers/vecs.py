"""Files of the benchmarks SIFT and GIST: .fvecs, .bvecs and .ivecs.

Before each vector stands the number of its dimensions d as int32, then its d numbers as float32, uint8 or int32. All
numbers are little-endian. Vectors of different numbers of dimensions are refused. A file does not say how many
vectors it has, so one that was cut after a whole vector is taken for a shorter one.

The format is described at http://corpus-texmex.irisa.fr.
"""

from collections.abc import Collection

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.arrays import first_true
from tieproof.inputs.readers.columns import Entry
from tieproof.inputs.readers.contents import holds
from tieproof.inputs.readers.location import AGAIN, File, Location, broken, reading, state_of
from tieproof.inputs.readers.npy import raw_rows, unchanged
from tieproof.ties import Array

HEADER = 4  # the bytes of the number before each vector


def entries(dtype: str, path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the vectors as the only, unnamed entry."""
    kind = np.dtype(dtype)
    what = f"vectors of {kind.name}, each after its length ({path.suffix})"
    with reading(path, what), path.open("rb") as file:
        header = file.read(HEADER)
        size = state_of(path)[0]
    width = int.from_bytes(header, "little", signed=True) if len(header) == HEADER else 0
    row = HEADER + kind.itemsize * width
    if width < 1 or size % row:
        begins = f"begins with a vector of {width:,} dimensions" if header else "is empty"
        why = f"it has {size:,} bytes and {begins}, which is no whole number of such vectors; {AGAIN}"
        raise InputError(broken(path, what, why=why))
    shape = size // row, width
    stored = raw_rows(Location(path), np.dtype([("width", "<i4"), ("vector", kind, (width,))]), 0, 1)

    def rows(start: int, stop: int) -> Array:
        """The vectors from one up to another, without the numbers before them."""
        read = stored(start, stop)[:, 0]
        if (other := first_true(read["width"] != width)) is not None:
            raise InputError(
                f"{path} has vectors of different lengths: row 0 has {width:,} dimensions, but row "
                f"{start + other:,} has {read['width'][other]:,}; {AGAIN}."
            )
        return np.ascontiguousarray(read["vector"])

    def load() -> Array:
        with unchanged(path, what):
            return rows(0, shape[0])

    return [Entry("", shape, holds(kind, shape), load, rows=rows)]
