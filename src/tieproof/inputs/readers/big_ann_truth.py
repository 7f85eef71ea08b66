"""True neighbours in the files of big-ann-benchmarks (.ibin, .bin and others), memory-read.

A file is two uint32, the number of queries n and of neighbours m, then n · m ids as int32, and then n · m distances
as float32, all little-endian. A file that ends after the ids is accepted, too: such files contain the ids that were
found, or vectors of integers.
"""

from collections.abc import Collection
from functools import partial

import numpy as np

from tieproof.inputs.readers import big_ann
from tieproof.inputs.readers.big_ann import HEADER, check_size, read, read_counts
from tieproof.inputs.readers.contents import holds
from tieproof.inputs.readers.entries import Entry
from tieproof.inputs.readers.remote import File
from tieproof.ties import Array


def read_lists(path: File) -> tuple[Array, Array | None]:
    """Read the ids (n, m), and the distances, or None if the file has none."""
    counts = read_counts(path, "the number of queries and of their neighbours")
    shape = counts.first, counts.second
    size = 4 * counts.first * counts.second
    if counts.size == HEADER + size:
        return read(path, "<i4", HEADER, shape), None
    what = f"for {counts.second:,} ids as int32 and as many distances as float32 of each of {counts.first:,} queries"
    check_size(path, counts, HEADER + 2 * size, what)
    return read(path, "<i4", HEADER, shape), read(path, "<f4", HEADER + size, shape)


def entries(path: File, named: Collection[str] = ()) -> list[Entry]:
    """Return the entries of an .ibin file: either unnamed vectors of int32, or ids and distances."""
    counts = read_counts(path, "the number of queries and of their neighbours")
    shape, size = (counts.first, counts.second), 4 * counts.first * counts.second
    if counts.size != HEADER + 2 * size:
        return big_ann.entries("<i4", path, named)
    parts = (("neighbors", "<i4", HEADER), ("distances", "<f4", HEADER + size))
    return [
        Entry(name, shape, holds(np.dtype(kind), shape), partial(read, path, kind, start, shape))
        for name, kind, start in parts
    ]
