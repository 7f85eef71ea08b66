"""Writes true neighbors in the formats of benchmarks of vector search."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tieproof.errors import InputError, MissingExtraError
from tieproof.neighbors.result import Neighbors
from tieproof.neighbors.sides import Sides, spans_of
from tieproof.ties import Array


class Found(NamedTuple):
    """The vectors of a search, and what was found."""

    sides: Sides
    neighbors: Neighbors


Write = Callable[[Found, Path], None]


def _int32(found: Neighbors) -> Array:
    """Return the ids as int32."""
    if found.n_items > 2**31:
        raise InputError(
            f"The ids of {found.n_items:,} items do not fit into int32, which .ibin and .ivecs contain. Choose hdf5 "
            "or parquet.",
            "formats",
        )
    return found.ids.astype("<i4")


def _float32(found: Neighbors) -> Array:
    """Return the distances rounded to float32; those that overflow are infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return found.distances.astype("<f4")


def _ibin(search: Found, path: Path) -> None:
    """Write the number of queries and of neighbors as uint32, all ids, and all distances."""
    with path.open("wb") as file:
        file.write(np.array(search.neighbors.ids.shape, dtype="<u4").tobytes())
        file.write(_int32(search.neighbors).tobytes())
        file.write(_float32(search.neighbors).tobytes())


def _vectors(rows: Array, path: Path) -> None:
    """Write the width as int32 before each row."""
    widths = np.full((len(rows), 1), rows.shape[1], dtype="<i4").view(rows.dtype)
    np.concatenate([widths, rows], axis=1).tofile(path)


def _ivecs(search: Found, path: Path) -> None:
    _vectors(_int32(search.neighbors), path)


def _fvecs(search: Found, path: Path) -> None:
    _vectors(_float32(search.neighbors), path)


ANGULAR = {"cosine": "angular"}
"""Names of distances in ann-benchmarks where they differ from ours."""


def _hdf5() -> Write:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("Writing a .hdf5 file", "h5") from None

    def write(search: Found, path: Path) -> None:
        found = search.neighbors
        with h5py.File(path, "w") as file:
            file.attrs["type"], file.attrs["dimension"] = "dense", search.sides.gallery.shape[1]
            file.attrs["distance"] = ANGULAR.get(found.distance, found.distance)
            for name, side in (("train", search.sides.gallery), ("test", search.sides.queries)):
                vectors = file.create_dataset(name, side.shape, side.dtype)
                for start, stop in spans_of(side):
                    vectors[start:stop] = side.read(start, stop)
            for name, array in (("neighbors", found.ids), ("distances", found.distances)):
                file.create_dataset(name, data=array)

    return write


def _parquet() -> Write:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Writing a .parquet file", "parquet") from None

    def write(search: Found, path: Path) -> None:
        found = search.neighbors
        lists = {"neighbors_id": found.ids, "distances": found.distances, "nearer": found.nearer}
        columns = {"id": np.arange(len(found.ids)), **{name: list(rows) for name, rows in lists.items()}}
        columns["tie_ids"] = np.split(found.tie_ids, found.tie_indptr[1:-1])
        pyarrow.parquet.write_table(pyarrow.table(columns), path)

    return write


FORMATS: dict[str, dict[str, Callable[[], Write]]] = {
    "bigann": {"truth.ibin": lambda: _ibin},
    "vecs": {"neighbors.ivecs": lambda: _ivecs, "distances.fvecs": lambda: _fvecs},
    "hdf5": {"truth.hdf5": _hdf5},
    "parquet": {"truth.parquet": _parquet},
}
"""For each format, its files, each with a function that returns its writer, or says which library is missing."""
