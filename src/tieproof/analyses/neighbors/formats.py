"""True neighbors in the formats of benchmarks of vector search: how their files are written, and compared."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tieproof.analyses.neighbors.result import Neighbors
from tieproof.analyses.neighbors.sides import Sides, spans_of
from tieproof.errors import InputError, import_extra
from tieproof.inputs.readers import hdf5
from tieproof.inputs.readers.columns import Entry, holds
from tieproof.inputs.readers.location import reading
from tieproof.inputs.shards.source import ArraySource, RowSource
from tieproof.ties import Array


class TruthFormat(NamedTuple):
    """The file of a format: how it is written, and whether a file has exactly what would be written."""

    write: Callable[[Sides, Neighbors, Path], None]
    agrees: Callable[[Sides, Neighbors, Path], bool]


def _binary(parts: Callable[[Neighbors], Iterable[Array]]) -> TruthFormat:
    """The format whose file is the numbers of some arrays, one after another."""

    def write(sides: Sides, found: Neighbors, path: Path) -> None:
        with path.open("wb") as file:
            for part in parts(found):
                file.write(np.ascontiguousarray(part).data)

    def agrees(sides: Sides, found: Neighbors, path: Path) -> bool:
        with path.open("rb") as file:
            same = all(file.read(part.nbytes) == part.tobytes() for part in parts(found))
            return same and not file.read(1)

    return TruthFormat(write, agrees)


def _int32(found: Neighbors) -> Array:
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


def _bigann(found: Neighbors) -> Iterable[Array]:
    """Return the number of queries and of neighbors as uint32, all ids, and all distances."""
    return np.array(found.ids.shape, dtype="<u4"), _int32(found), _float32(found)


def _vectors(rows: Array) -> Iterable[Array]:
    """Return the rows, each behind its width as int32."""
    widths = np.full((len(rows), 1), rows.shape[1], dtype="<i4").view(rows.dtype)
    return (np.concatenate([widths, rows], axis=1),)


def _hdf5() -> TruthFormat:
    h5py = import_extra("h5py", "Writing a .hdf5 file", "h5")

    def content(sides: Sides, found: Neighbors) -> tuple[dict[str, Any], dict[str, RowSource]]:
        """Return the attributes of the file, and its data sets."""
        distance = "angular" if found.distance == "cosine" else found.distance
        lists = {"neighbors": ArraySource.of(found.ids), "distances": ArraySource.of(found.distances)}
        attributes = {"type": "dense", "dimension": sides.gallery.shape[1], "distance": distance}
        return attributes, {"train": sides.gallery, "test": sides.queries, **lists}

    def write(sides: Sides, found: Neighbors, path: Path) -> None:
        attributes, arrays = content(sides, found)
        with h5py.File(path, "w") as file:
            file.attrs.update(attributes)
            for name, rows in arrays.items():
                stored = file.create_dataset(name, rows.shape, rows.dtype)
                for start, stop in spans_of(rows):
                    stored[start:stop] = rows.read(start, stop)

    def agrees(sides: Sides, found: Neighbors, path: Path) -> bool:
        attributes, arrays = content(sides, found)
        stored = {entry.name: entry for entry in hdf5.entries(path)}
        return (
            hdf5.attributes(path) == {name: str(value) for name, value in attributes.items()}
            and stored.keys() == arrays.keys()
            and all(_same(rows, stored[name]) for name, rows in arrays.items())
        )

    return TruthFormat(write, agrees)


def _same(rows: RowSource, stored: Entry) -> bool:
    if stored.rows is None or (stored.shape, stored.holds) != (rows.shape, holds(rows.dtype, rows.shape)):
        return False
    return all(stored.rows(*span).tobytes() == rows.read(*span).tobytes() for span in spans_of(rows))


def _parquet() -> TruthFormat:
    what = "Writing a .parquet file"
    pyarrow, parquet = (import_extra(name, what, "parquet") for name in ("pyarrow", "pyarrow.parquet"))

    def table(found: Neighbors) -> Any:
        lists = {"neighbors_id": found.ids, "distances": found.distances, "nearer": found.nearer}
        columns: dict[str, Any] = {"id": np.arange(len(found.ids))}
        for name, rows in lists.items():
            columns[name] = [row[:ranked] for row, ranked in zip(rows, found.ranked, strict=True)]
        columns["tie_ids"] = np.split(found.tie_ids, found.tie_indptr[1:-1])
        return pyarrow.table(columns)

    def agrees(sides: Sides, found: Neighbors, path: Path) -> bool:
        with reading(path, "a Parquet file (.parquet)"), parquet.ParquetFile(path) as file:
            return bool(file.read().equals(table(found)))

    return TruthFormat(lambda sides, found, path: parquet.write_table(table(found), path), agrees)


FORMATS: dict[str, dict[str, Callable[[], TruthFormat]]] = {
    "bigann": {"truth.ibin": lambda: _binary(_bigann)},
    "vecs": {
        "neighbors.ivecs": lambda: _binary(lambda found: _vectors(_int32(found))),
        "distances.fvecs": lambda: _binary(lambda found: _vectors(_float32(found))),
    },
    "hdf5": {"truth.hdf5": _hdf5},
    "parquet": {"truth.parquet": _parquet},
}
"""For each format, its files, each with a function that returns its `TruthFormat` or says what is missing."""
