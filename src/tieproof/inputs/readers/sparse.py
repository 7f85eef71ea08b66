"""Sparse rows in files: archives of SciPy's save_npz, and .csr of big-ann-benchmarks.

A .csr file is three int64, the numbers of rows, of dimensions and of entries; then where the rows begin as int64, the
dimensions of the entries as int32, and their weights as float32, all little-endian.
"""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from tieproof.errors import InputError
from tieproof.inputs.readers.columns import Entry
from tieproof.inputs.readers.location import AGAIN, File, broken, reading
from tieproof.inputs.sparse_rows import of_parts
from tieproof.ties import Array

KIND = "sparse rows of big-ann-benchmarks (.csr)"

PARTS = ("indptr", "indices", "data", "shape", "format")
"""The arrays in which SciPy stores rows."""

HEADER = 24
"""Bytes of three numbers."""


def of_archive(path: File, entries: Mapping[str, Entry]) -> Entry:
    """The rows of an archive that has all of `PARTS`."""

    def load() -> Any:
        parts: dict[str, Array] = {name: np.asarray(entries[name].load()) for name in PARTS}
        form = bytes(parts["format"]).rstrip(b"\0").decode(errors="replace")
        if form != "csr":
            raise InputError(
                f"{path} contains a sparse matrix in the format {form!r}, not rows. Convert it by .tocsr(), and save "
                "it again."
            )
        return _checked(path, parts["indptr"], parts["indices"], parts["data"], tuple(parts["shape"].tolist()))

    return Entry("", (None, None), "sparse rows", load)


def csr(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the rows of a .csr file."""

    def load() -> Any:
        with reading(path, KIND), path.open("rb") as file:
            content = file.read()
        rows, width, entries = np.frombuffer(content[:HEADER].ljust(HEADER, b"\0"), "<i8").tolist()
        expected = HEADER + 8 * (rows + 1) + 8 * entries
        if min(rows, width, entries) < 0 or len(content) != expected:
            why = f"it has {len(content):,} bytes, but its header promises {expected:,}; {AGAIN}"
            raise InputError(broken(path, KIND, content, why))
        starts = np.frombuffer(content, "<i8", rows + 1, HEADER)
        terms = np.frombuffer(content, "<i4", entries, HEADER + starts.nbytes)
        weights = np.frombuffer(content, "<f4", entries, HEADER + starts.nbytes + terms.nbytes)
        return _checked(path, starts, terms, weights, (rows, width))

    return [Entry("", (None, None), "sparse rows", load)]


def _checked(path: File, starts: Array, terms: Array, weights: Array, shape: tuple[int, ...]) -> Any:
    """Return the rows; errors name the file."""
    whole = len(shape) == 2 and len(starts) == shape[0] + 1 and len(terms) == len(weights)
    if not whole or starts[0] != 0 or starts[-1] != len(terms) or (np.diff(starts) < 0).any():
        raise InputError(f"{path} is damaged: its parts contradict each other. Write or copy it again.")
    try:
        return of_parts(starts, terms, weights, shape, "embeddings")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
